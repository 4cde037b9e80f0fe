//! Which interpreter ships which modules of the suite.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Debian's interpreter, which has the suite as a package.
const SYSTEM: &str = "/usr/bin/python3";

/// An interpreter and the modules that it is to run.
#[derive(Debug)]
pub struct Share {
    /// The interpreter.
    pub python: PathBuf,
    /// Its modules.
    pub modules: Vec<String>,
}

/// Gives each module to the first interpreter that ships it, the system's before the path's. Returns what nobody ships as well.
pub fn share_out(modules: &[&str]) -> (Vec<Share>, Vec<String>) {
    let mut left: Vec<String> = modules.iter().map(|&m| m.to_owned()).collect();
    let mut shares = Vec::new();
    for python in [Path::new(SYSTEM), millpond_tests::programs::row::python()] {
        let (modules, others): (Vec<_>, Vec<_>) = left.into_iter().partition(|module| ships(python, module));
        left = others;
        if !modules.is_empty() {
            shares.push(Share { python: python.into(), modules });
        }
    }
    (shares, left)
}

fn ships(python: &Path, module: &str) -> bool {
    let ask = format!(
        "import importlib.util, sys, test.libregrtest\nsys.exit(importlib.util.find_spec('test.{module}') is None)"
    );
    let status = Command::new(python).args(["-c", &ask]).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}
