//! Each real program is a test of its own; what is run stands in `src/programs/`.

use millpond_tests::for_each_program;
use millpond_tests::programs::{list, runner};

macro_rules! tests {
    ($($name:ident($script:literal, $shell:literal),)*) => {
        $(
            #[test]
            fn $name() {
                runner::check(list::row(stringify!($name)).expect("the row is in the list"));
            }
        )*
    };
}

for_each_program!(tests);

/// The harness itself: what it must catch, shown with stand-ins for `millpond`.
mod harness {
    use std::path::Path;
    use std::process::Command;

    use millpond_tests::programs::row::Row;
    use millpond_tests::programs::runner::{run, Outcome, Second};

    const ROW: Row = Row { name: "stand_in", shell: "sh", script: "# A row.\necho data > file; cat file\n" };

    /// Runs the row behind a script that runs the command, then `afterwards`, and reports `bytes`.
    fn behind(bytes: u32, afterwards: &str) -> Outcome {
        let dir = tempfile::tempdir().expect("directory");
        let stand_in = dir.path().join("millpond");
        let text = format!(
            "#!/bin/sh\nwhile [ \"$1\" != -- ]; do [ \"$1\" != --report ] || report=$2; shift; done; shift\n\"$@\"\n\
             echo '{{\"bytes_read\": 0, \"bytes_written\": {bytes}}}' > \"$report\"\n{afterwards}\n"
        );
        write_executable(&stand_in, &text);
        run(&ROW, &Second::Shim(stand_in)).expect("run")
    }

    /// By another program: a descriptor open for writing here could be inherited by another test's child, and the
    /// kernel refuses to run a file that somebody has open for writing.
    fn write_executable(path: &Path, text: &str) {
        let script = "printf %s \"$1\" > \"$2\" && chmod 755 \"$2\"";
        let status = Command::new("sh").args(["-c", script, "sh", text]).arg(path).status().expect("sh");
        assert!(status.success(), "{status}");
    }

    #[test]
    fn equal_runs_pass() {
        let outcome = behind(5, "");
        assert_eq!(outcome.failures, Vec::<String>::new());
        assert_eq!(outcome.verdict(), "ok");
    }

    #[test]
    fn a_silent_bypass_fails() {
        let failures = behind(0, "").failures;
        assert!(failures.len() == 1 && failures[0].contains("0 bytes went through the pool"), "{failures:?}");
    }

    #[test]
    fn every_difference_fails() {
        for (afterwards, told) in [
            ("echo more", "standard output differs"),
            ("echo more >&2", "standard error differs"),
            ("exit 3", "exit code 3"),
            ("printf DATA | dd of=file conv=notrunc status=none", "first difference at 0"),
            ("rm file", "file: missing"),
            ("echo > left", "left: too much"),
            ("chmod 600 file", "file 600"),
        ] {
            let failures = behind(5, afterwards).failures;
            assert!(failures.iter().any(|failure| failure.contains(told)), "{afterwards}: {failures:?}");
        }
    }
}
