//! The programs of the demonstration: short shell scripts that work in the current directory on `../input`.
//!
//! Each must give the same bytes whenever it runs, so that two runs can be compared.

use std::ffi::OsStr;

/// One step.
pub struct Step {
    /// How the table names it.
    pub name: &'static str,
    /// Programs that must be there.
    needs: &'static [&'static str],
    /// What the shell runs.
    pub script: &'static str,
}

/// The steps, in their order: later ones read what earlier ones wrote.
pub const STEPS: &[Step] = &[
    Step {
        name: "dd, blocks of 3901 bytes",
        needs: &["dd"],
        script: "dd if=../input/text of=copy bs=3901 status=none",
    },
    Step { name: "sort, spilling to the store", needs: &["sort"], script: "sort -S 2M -T . -o sorted copy" },
    Step { name: "tar", needs: &["tar"], script: "tar -cf archive.tar -C ../input tree" },
    Step {
        name: "tar, unpacking",
        needs: &["tar"],
        script: "mkdir unpacked; tar -xf archive.tar -C unpacked",
    },
    Step { name: "gzip", needs: &["gzip"], script: "gzip -n -c copy > copy.gz; gzip -d -c copy.gz > again" },
    Step {
        name: "split and cat",
        needs: &["split", "cat"],
        script: "split -b 100000 sorted part-; cat part-* > joined",
    },
    Step {
        name: "sed, in place",
        needs: &["sed", "cp"],
        script: "cp copy edited; sed -i 's/pond/mill/' edited",
    },
    Step {
        name: "shell, appending",
        needs: &[],
        script: "i=0; while [ $i -lt 500 ]; do echo \"line $i\" >> appended; i=$((i+1)); done",
    },
    Step {
        name: "sha256sum",
        needs: &["sha256sum"],
        script: "sha256sum copy sorted archive.tar joined edited > sums; sha256sum -c --quiet sums",
    },
];

impl Step {
    /// The first program that it needs and the system does not have.
    pub fn missing(&self) -> Option<&'static str> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        self.needs.iter().copied().find(|program| crate::check::find(OsStr::new(program), &path).is_err())
    }
}
