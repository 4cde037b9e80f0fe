//! What follows from the facts. Pure, except that it asks who we are.

use serde::Serialize;

use super::calls::Uses;
use super::elf::Elf;
use super::resolve::Privilege;

/// Whether a program can go through the pool; the later, the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// It does.
    Yes,
    /// It does, except for some of its calls or for some users.
    Partly,
    /// It sees the real files, which are right after close or sync-down.
    No,
}

impl Verdict {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

/// The reasons, each with what it leads to; what rules the pool out comes alone.
pub fn judge(elf: &Elf, privilege: &Privilege, uses: &Uses) -> Vec<(Verdict, String)> {
    let caller = (nix::unistd::getuid().as_raw(), nix::unistd::getgid().as_raw());
    let mut reasons = loading(elf);
    reasons.extend(rights(privilege, caller));
    if reasons.iter().any(|(verdict, _)| *verdict == Verdict::No) {
        return reasons;
    }
    reasons.extend(calls(uses));
    if reasons.is_empty() {
        let served = uses.served.len();
        reasons.push((Verdict::Yes, format!("dynamic, {}; {served} of its calls are served", elf.machine())));
    }
    reasons
}

/// Whether the dynamic linker can load the shim into it.
fn loading(elf: &Elf) -> Vec<(Verdict, String)> {
    let no = |reason: &str| vec![(Verdict::No, reason.to_owned())];
    if !elf.is_x86_64() {
        return no(&format!("{}; the shim is 64-bit x86-64", elf.machine()));
    }
    if elf.go {
        return no("made by the Go tool chain, whose file calls do not go through libc");
    }
    match &elf.interpreter {
        None if elf.has_dynamic_table => no("statically linked (static-pie); nothing can be preloaded"),
        None => no("statically linked; nothing can be preloaded"),
        Some(linker) if !linker.contains("ld-linux") => {
            no(&format!("loaded by {linker}; the shim is made for glibc"))
        }
        Some(_) => Vec::new(),
    }
}

/// Where rights are gained by executing, the dynamic linker ignores preloading. Nothing is gained by becoming who one is.
fn rights(privilege: &Privilege, (uid, gid): (u32, u32)) -> Vec<(Verdict, String)> {
    let mut reasons = Vec::new();
    let mut add = |gained: bool, what: String| {
        let (verdict, tail) = if gained {
            (Verdict::No, "so the dynamic linker ignores preloading")
        } else {
            (Verdict::Partly, "so it goes through the pool for you but not for others")
        };
        reasons.push((verdict, format!("{what}, {tail}")));
    };
    if let Some(owner) = privilege.setuid {
        add(owner != uid, format!("setuid to user {owner}"));
    }
    if let Some(group) = privilege.setgid {
        add(group != gid, format!("setgid to group {group}"));
    }
    if privilege.capabilities {
        add(uid != 0, "has file capabilities".into());
    }
    reasons
}

/// What follows when code cannot be changed here, as on a hardened kernel.
pub fn unpatched<E: std::fmt::Display>(tried: Result<(), E>) -> Option<String> {
    let why = tried.err()?;
    Some(format!(
        "libc's text cannot be patched here ({why}): what libc itself calls would not be seen, so the kernel serves everything"
    ))
}

fn calls(uses: &Uses) -> Vec<(Verdict, String)> {
    let calls = uses.sync_down.iter().map(|known| {
        let by = known.imported_by.join(", ");
        let reason = format!(
            "{} on a file of the store is a sync-down ({}; imported by {by})",
            known.call, known.what
        );
        (Verdict::Partly, reason)
    });
    let unread = uses.unread.iter().map(|name| {
        (
            Verdict::Partly,
            format!("library {name} was not found or could not be read, so its calls are not known"),
        )
    });
    calls.chain(unread).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dynamic() -> Elf {
        Elf {
            is_64_bit: true,
            machine: 62,
            interpreter: Some("/lib64/ld-linux-x86-64.so.2".into()),
            has_dynamic_table: true,
            ..Elf::default()
        }
    }

    fn verdict_of(elf: &Elf) -> Verdict {
        judge(elf, &Privilege::default(), &Uses::default()).iter().map(|(v, _)| *v).max().unwrap()
    }

    #[test]
    fn loading_decides_first() {
        assert_eq!(verdict_of(&dynamic()), Verdict::Yes);
        let statically = Elf { interpreter: None, has_dynamic_table: false, ..dynamic() };
        assert_eq!(verdict_of(&statically), Verdict::No);
        assert!(loading(&Elf { interpreter: None, ..dynamic() })[0].1.contains("static-pie"));
        assert_eq!(verdict_of(&Elf { go: true, ..dynamic() }), Verdict::No);
        assert_eq!(verdict_of(&Elf { is_64_bit: false, machine: 3, ..dynamic() }), Verdict::No);
        let musl = Elf { interpreter: Some("/lib/ld-musl-x86_64.so.1".into()), ..dynamic() };
        assert_eq!(verdict_of(&musl), Verdict::No);
    }

    #[test]
    fn text_that_cannot_be_changed_is_told_of() {
        assert_eq!(unpatched(Ok::<(), &str>(())), None);
        assert!(unpatched(Err("Permission denied")).unwrap().contains("patched here (Permission denied)"));
    }

    #[test]
    fn rights_count_only_when_gained() {
        let setuid = Privilege { setuid: Some(0), ..Privilege::default() };
        assert_eq!(rights(&setuid, (1000, 1000))[0].0, Verdict::No);
        assert_eq!(rights(&setuid, (0, 0))[0].0, Verdict::Partly);
        let setgid = Privilege { setgid: Some(5), ..Privilege::default() };
        assert_eq!(rights(&setgid, (0, 0))[0].0, Verdict::No);
        let capable = Privilege { capabilities: true, ..Privilege::default() };
        assert_eq!(rights(&capable, (1000, 1000))[0].0, Verdict::No);
    }
}
