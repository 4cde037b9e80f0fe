//! Start of the executor as a program: from a script, or from what another image of it handed over.

use std::ffi::CString;
use std::io::Read;

use serde::{Deserialize, Serialize};

use super::rare_ops::mail_sockets;
use super::{end, turns, Process};
use crate::script::{End, Op, Script, SLOTS};

/// First argument that says that the second is an [`Image`].
const IMAGE_ARGUMENT: &str = "--image";

/// What a program image hands over to the next one.
#[derive(Serialize, Deserialize)]
pub struct Image {
    /// The script's directory.
    pub root: String,
    /// The script.
    pub script: String,
    /// Descriptors by number, as the new image has them.
    pub slots: [i32; SLOTS],
    /// Whether a process has been killed so far.
    pub killed: bool,
    /// Whether its parent is a process of the script.
    pub is_child: bool,
    /// Number of the operation that this image belongs to.
    pub at: String,
    /// What the new image does.
    pub ops: Vec<Op>,
    /// How it ends.
    pub end: End,
    /// Instead: the step with which it goes on.
    pub resume: Option<usize>,
}

impl Image {
    /// The command line that starts this image.
    pub fn arguments(&self) -> Vec<CString> {
        let program = std::env::current_exe().expect("path of the executor");
        let image = serde_json::to_string(self).expect("images are plain data");
        [program.to_string_lossy().into_owned(), IMAGE_ARGUMENT.into(), image]
            .map(|argument| CString::new(argument).expect("no null bytes"))
            .into()
    }

    fn run(self) -> ! {
        let mut process = Process::new(self.root, self.script);
        process.slots = self.slots;
        process.killed = self.killed;
        process.is_child = self.is_child;
        if let Some(step) = self.resume {
            let script = load(&process.script);
            run_alone(&mut process, &script, step);
        }
        process.solo = false;
        process.perform_all(&self.at, &self.ops);
        end(self.end);
    }
}

fn load(path: &str) -> Script {
    let text = if path == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).expect("read script");
        text
    } else {
        std::fs::read_to_string(path).expect("read script")
    };
    Script::from_text(&text).expect("parse script")
}

fn run_alone(process: &mut Process, script: &Script, from: usize) -> ! {
    for (index, step) in script.steps.iter().enumerate().skip(from) {
        process.perform(&index.to_string(), &step.op);
    }
    end(script.end);
}

/// The executor's `main`.
pub fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, first, second] = arguments.as_slice() else {
        eprintln!("usage: millpond-executor SCRIPT DIRECTORY");
        std::process::exit(2);
    };
    if first == IMAGE_ARGUMENT {
        let image: Image = serde_json::from_str(second).expect("image");
        image.run();
    }
    let script = load(first);
    let path = std::fs::canonicalize(first).map_or(first.clone(), |path| path.to_string_lossy().into_owned());
    std::env::set_current_dir(second).expect("enter directory");
    // SAFETY: takes no memory.
    unsafe { libc::umask(0o022) };
    let none = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // Scripts may abort, and a core would lie among their files.
    // SAFETY: the limit outlives the call.
    unsafe { libc::setrlimit(libc::RLIMIT_CORE, &none) };
    let mut process = Process::new(second.clone(), path);
    process.mail = Some(mail_sockets());
    if script.workers > 1 {
        process.solo = false;
        turns::run(process, &script);
    } else {
        run_alone(&mut process, &script, 0);
    }
}
