//! Real files, from a system program to a broken one.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::*;

fn inspect_path(path: &Path) -> Inspection {
    inspect(path.as_os_str()).unwrap()
}

fn executable(directory: &Path, name: &str, content: &[u8]) -> PathBuf {
    let path = directory.join(name);
    fs::write(&path, content).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

fn all_reasons(inspection: &Inspection) -> String {
    inspection.reasons.join("; ")
}

#[test]
fn a_system_program_goes_through() {
    let found = inspect(OsStr::new("true")).unwrap();
    assert!(found.path.is_absolute());
    let elf = found.elf.as_ref().unwrap();
    assert!(elf.dynamic && !elf.go);
    assert_eq!(elf.machine, "64-bit x86-64");
    assert!(elf.libraries.iter().any(|library| library.name == "libc.so.6" && library.path.is_some()));
    assert_ne!(found.verdict, Verdict::No, "{}", all_reasons(&found));
}

fn compile(directory: &Path, name: &str, source: &str, flags: &[&str]) -> PathBuf {
    let file = directory.join(format!("{name}.c"));
    fs::write(&file, source).unwrap();
    let program = directory.join(name);
    let status = Command::new("cc").args(flags).arg("-o").arg(&program).arg(&file).status().unwrap();
    assert!(status.success(), "cc {flags:?}");
    program
}

#[test]
fn linking_decides() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let source = "#include <stdio.h>\nint main(void) { return puts(\"x\") < 0; }\n";
    let statically = inspect_path(&compile(directory, "static", source, &["-static"]));
    assert_eq!(statically.verdict, Verdict::No);
    assert_eq!(all_reasons(&statically), "statically linked; nothing can be preloaded");
    let pie = inspect_path(&compile(directory, "pie", source, &["-static-pie"]));
    assert_eq!(pie.verdict, Verdict::No);
    assert!(all_reasons(&pie).contains("static-pie"));
    let plain = inspect_path(&compile(directory, "plain", source, &[]));
    assert_eq!(plain.verdict, Verdict::Yes, "{}", all_reasons(&plain));
}

#[test]
fn imports_decide() {
    let directory = tempfile::tempdir().unwrap();
    let source = "#include <sys/mman.h>\n#include <unistd.h>\n#include <sys/syscall.h>\n\
                  int main(void) { char b; read(0, &b, 1); syscall(SYS_getpid);\n\
                  return mmap(0, 4096, PROT_READ, MAP_PRIVATE, 0, 0) == MAP_FAILED; }\n";
    let found = inspect_path(&compile(directory.path(), "maps", source, &[]));
    assert_eq!(found.verdict, Verdict::Partly);
    let elf = found.elf.as_ref().unwrap();
    assert!(elf.served.iter().any(|call| call == "read"));
    let calls: Vec<&str> = elf.sync_down.iter().map(|known| known.call.as_str()).collect();
    assert!(calls.contains(&"mmap") && calls.contains(&"syscall"), "{calls:?}");
}

#[test]
fn a_setuid_copy_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy");
    fs::copy("/bin/true", &copy).unwrap();
    fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
    let found = inspect_path(&copy);
    // It is ours, so nothing is gained by it.
    assert_eq!(found.verdict, Verdict::Partly);
    assert!(all_reasons(&found).contains("setuid to user"), "{}", all_reasons(&found));
    // Only root can give a file away; then it is another user's.
    if std::os::unix::fs::chown(&copy, Some(65_534), None).is_ok() {
        fs::set_permissions(&copy, fs::Permissions::from_mode(0o4755)).unwrap();
        assert_eq!(inspect_path(&copy).verdict, Verdict::No);
    }
}

#[test]
fn a_script_is_its_interpreter() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let script = inspect_path(&executable(directory, "script", b"#!/bin/sh\necho x\n"));
    let inner = script.interpreter.as_ref().unwrap();
    assert_eq!(inner.path, Path::new("/bin/sh"));
    assert_eq!(script.verdict, inner.verdict);
    assert!(all_reasons(&script).contains("a script run by /bin/sh"));
    let lost = inspect_path(&executable(directory, "lost", b"#!/nowhere/at/all\n"));
    assert_eq!(
        (lost.verdict, all_reasons(&lost).as_str()),
        (Verdict::No, "its interpreter /nowhere/at/all is missing")
    );
    let itself = directory.join("itself");
    let line = format!("#!{}\n", itself.display());
    assert_eq!(inspect_path(&executable(directory, "itself", line.as_bytes())).verdict, Verdict::No);
}

#[test]
fn other_files_are_refused_with_reason() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let text = inspect_path(&executable(directory, "text", b"hello\n"));
    assert_eq!(all_reasons(&text), "neither an ELF program nor a script with a #! line");
    let mode = directory.join("mode");
    fs::copy("/bin/true", &mode).unwrap();
    fs::set_permissions(&mode, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(all_reasons(&inspect_path(&mode)).contains("not executable"));
    let missing = inspect(directory.join("missing").as_os_str()).unwrap_err().to_string();
    assert!(missing.contains("No such file"), "{missing}");
}

#[test]
fn headers_of_other_machines_are_understood() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let header = |class: u8, machine: u16| {
        let mut header = vec![0u8; 64];
        header[..7].copy_from_slice(&[0x7f, b'E', b'L', b'F', class, 1, 1]);
        header[16] = 2;
        header[18..20].copy_from_slice(&machine.to_le_bytes());
        header[20] = 1;
        header
    };
    let old = inspect_path(&executable(directory, "old", &header(1, 3)));
    assert_eq!(
        (old.verdict, all_reasons(&old).as_str()),
        (Verdict::No, "32-bit x86; the shim is 64-bit x86-64")
    );
    let arm = inspect_path(&executable(directory, "arm", &header(2, 183)));
    assert!(all_reasons(&arm).starts_with("64-bit ARM 64"), "{}", all_reasons(&arm));
    let cut = inspect_path(&executable(directory, "cut", &header(2, 62)[..30]));
    assert_eq!(cut.verdict, Verdict::No);
    assert!(all_reasons(&cut).contains("damaged"), "{}", all_reasons(&cut));
    let tiny = inspect_path(&executable(directory, "tiny", b"\x7fELF\x02"));
    assert_eq!(tiny.verdict, Verdict::No);
}

#[test]
fn a_go_section_is_seen() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    // Any program with the section that the Go tool chain writes; no Go is needed to make one.
    let source =
        "__attribute__((section(\".go.buildinfo\"))) const char info[16] = \"\\xff Go buildinf:\";\n\
                  int main(void) { return info[0] == 0; }\n";
    let found = inspect_path(&compile(directory, "go", source, &[]));
    assert_eq!(found.verdict, Verdict::No);
    assert!(all_reasons(&found).contains("Go tool chain"));
}
