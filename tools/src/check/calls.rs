//! Which calls of libc the pool serves, and which end in a sync-down.
//!
//! A sync-down is exact but slow: the file's dirty bytes are written, and the kernel does the call. It happens only when
//! such a call meets a file of the store; many programs map memory or copy between other files.

use std::collections::BTreeSet;

use serde::Serialize;

use super::elf::Elf;
use super::libraries::Library;

/// Served from the pool, without the endings that glibc adds to them.
const SERVED: &[&str] = &[
    "open",
    "openat",
    "creat",
    "__open_2",
    "__openat_2",
    "mkstemp",
    "mkostemp",
    "mkstemps",
    "mkostemps",
    "tmpfile",
    "fopen",
    "freopen",
    "fdopen",
    "read",
    "write",
    "pread",
    "pwrite",
    "readv",
    "writev",
    "preadv",
    "pwritev",
    "preadv2",
    "pwritev2",
    "__read_chk",
    "__pread_chk",
    "fread",
    "fwrite",
    "fgets",
    "fputs",
    "fprintf",
    "getline",
    "lseek",
    "fseek",
    "fseeko",
    "close",
    "fclose",
    "dup",
    "dup2",
    "dup3",
    "fcntl",
    "stat",
    "lstat",
    "fstat",
    "fstatat",
    "statx",
    "__xstat",
    "__lxstat",
    "__fxstat",
    "__fxstatat",
    "truncate",
    "ftruncate",
    "fallocate",
    "posix_fallocate",
    "fsync",
    "fdatasync",
    "sync_file_range",
    "syncfs",
    "rename",
    "renameat",
    "renameat2",
    "unlink",
    "unlinkat",
    "link",
    "linkat",
    "remove",
    "fork",
    "vfork",
    "posix_spawn",
    "posix_spawnp",
    "execve",
    "execv",
    "execvp",
    "execl",
    "execlp",
];

/// Ends in a sync-down, and what it is.
const SYNC_DOWN: &[(&str, &str)] = &[
    ("mmap", "mapping"),
    ("sendfile", "copying inside the kernel"),
    ("splice", "copying inside the kernel"),
    ("tee", "copying inside the kernel"),
    ("vmsplice", "copying inside the kernel"),
    ("copy_file_range", "copying inside the kernel"),
    ("aio_read", "asynchronous I/O"),
    ("aio_write", "asynchronous I/O"),
    ("aio_fsync", "asynchronous I/O"),
    ("lio_listio", "asynchronous I/O"),
    ("io_setup", "asynchronous I/O"),
    ("io_submit", "asynchronous I/O"),
    ("io_uring_setup", "asynchronous I/O"),
    ("io_uring_enter", "asynchronous I/O"),
    ("io_uring_queue_init", "asynchronous I/O"),
    ("io_uring_queue_init_params", "asynchronous I/O"),
    ("io_uring_submit", "asynchronous I/O"),
    ("syscall", "raw system call"),
];

/// A call that ends in a sync-down when it meets a file of the store, and who imports it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CallUse {
    /// The call.
    pub call: String,
    /// What it is.
    pub what: String,
    /// `the program`, or a library.
    pub imported_by: Vec<String>,
}

/// The calls of a program and its libraries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Served calls.
    pub served: Vec<String>,
    /// Calls that end in a sync-down.
    pub sync_down: Vec<CallUse>,
    /// Libraries that could not be read.
    pub unread: Vec<String>,
}

/// Looks through the imports of a program and of its libraries that are not libc.
pub fn uses(elf: &Elf, libraries: &[Library]) -> Uses {
    let mut uses = Uses::default();
    let mut served = BTreeSet::new();
    add(&mut uses.sync_down, &mut served, "the program", &elf.imports);
    for library in libraries.iter().filter(|library| !library.is_libc()) {
        let read = library.path.as_ref().and_then(|path| std::fs::read(path).ok());
        match read.and_then(|data| Elf::parse(&data).ok()) {
            Some(inner) => add(&mut uses.sync_down, &mut served, &library.name, &inner.imports),
            None => uses.unread.push(library.name.clone()),
        }
    }
    uses.sync_down.sort_by(|one, two| one.call.cmp(&two.call));
    uses.served = served.into_iter().map(str::to_owned).collect();
    uses
}

fn add(
    sync_down: &mut Vec<CallUse>,
    served: &mut BTreeSet<&'static str>,
    importer: &str,
    imports: &[String],
) {
    for import in imports {
        let stem = stem(import);
        if let Some(name) = SERVED.iter().find(|name| **name == stem || **name == import) {
            served.insert(name);
        }
        let Some((_, what)) = SYNC_DOWN.iter().find(|(name, _)| *name == stem) else { continue };
        match sync_down.iter_mut().find(|known| known.call == stem) {
            Some(known) if known.imported_by.iter().any(|by| by == importer) => {}
            Some(known) => known.imported_by.push(importer.into()),
            None => sync_down.push(CallUse {
                call: stem.into(),
                what: (*what).into(),
                imported_by: vec![importer.into()],
            }),
        }
    }
}

/// `open64` and `open` are one call.
fn stem(name: &str) -> &str {
    name.strip_suffix("64").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(imports: &[&str]) -> Uses {
        uses(&Elf { imports: imports.iter().map(|s| (*s).into()).collect(), ..Elf::default() }, &[])
    }

    #[test]
    fn calls_are_told_apart() {
        let found = of(&["open64", "open", "read", "mmap64", "mmap", "puts", "io_submit"]);
        assert_eq!(found.served, ["open", "read"]);
        let calls: Vec<&str> = found.sync_down.iter().map(|known| known.call.as_str()).collect();
        assert_eq!(calls, ["io_submit", "mmap"]);
        assert_eq!(found.sync_down[1].imported_by, ["the program"]);
    }

    #[test]
    fn no_call_is_in_both_tables() {
        for (name, _) in SYNC_DOWN {
            assert!(!SERVED.contains(name), "{name}");
        }
    }
}
