//! The model of a random program: a [`Script`] of operations on symbolic descriptors and paths.
//!
//! A script is data: the strategy makes and shrinks it, the executor carries it out, a failing one is
//! printed as text that the executor reads back. Paths are relative to the directory that the run works
//! in, except that a leading `@/` stands for that directory's absolute path and `fd:N` for
//! `/proc/self/fd/` of slot N, so that one script can run in two places.

mod flags;
pub mod op;
pub mod strategy;

use serde::{Deserialize, Serialize};

pub use flags::OpenFlags;
pub use op::{Data, Op};

/// Number of descriptor slots that operations open into.
pub const SLOTS: usize = 8;
/// A slot number beyond the last stands for a descriptor that was never open.
pub const NEVER_OPEN: u8 = 9;
/// Number of stdio streams.
pub const STREAMS: usize = 3;
/// Number of mappings that can be held at once.
pub const MAPS: usize = 2;

/// A file that exists before the script starts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InitialFile {
    /// Name relative to the run's directory.
    pub path: String,
    /// Length in bytes.
    pub len: u32,
    /// Seed of its bytes.
    pub seed: u32,
}

/// How a process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum End {
    /// `exit`, which flushes streams.
    Exit,
    /// `_exit`, which does not.
    Quick,
    /// `_Exit`.
    Bare,
    /// `quick_exit`.
    QuickExit,
    /// `abort`.
    Abort,
    /// `SIGKILL`.
    Kill,
}

impl End {
    /// Whether the process ends in a way that leaves its bytes to others to flush.
    pub fn is_violent(self) -> bool {
        matches!(self, End::Abort | End::Kill)
    }
}

/// One operation of one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// Which worker does it; taken modulo the number of workers.
    #[serde(default)]
    pub worker: u8,
    /// What it does.
    pub op: Op,
}

/// A random program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Script {
    /// Number of processes that take turns; one process does without forking at all.
    pub workers: u8,
    /// Files that exist beforehand.
    pub initial: Vec<InitialFile>,
    /// How each worker ends.
    pub end: End,
    /// What is done, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
}

impl Script {
    /// The script as text: a header line, then one line for each step.
    pub fn to_text(&self) -> String {
        let header = Script { steps: Vec::new(), ..self.clone() };
        let mut text = serde_json::to_string(&header).expect("scripts are plain data");
        text.push('\n');
        for step in &self.steps {
            text.push_str(&serde_json::to_string(step).expect("scripts are plain data"));
            text.push('\n');
        }
        text
    }

    /// Reads what [`Script::to_text`] wrote.
    pub fn from_text(text: &str) -> Result<Script, serde_json::Error> {
        let mut lines = text.lines().filter(|line| !line.trim().is_empty());
        let mut script: Script = serde_json::from_str(lines.next().unwrap_or_default())?;
        for line in lines {
            script.steps.push(serde_json::from_str(line)?);
        }
        Ok(script)
    }

    /// Whether any process of the script is killed, so that its bytes may reach the file a little later.
    pub fn kills(&self) -> bool {
        self.end.is_violent() || self.steps.iter().any(|step| step.op.kills())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_round_trip() {
        let step = Step {
            worker: 1,
            op: Op::Fork {
                ops: vec![Op::Fsync { slot: 2, data_only: true }],
                end: End::Kill,
                call: op::ForkCall::Fork,
            },
        };
        let initial = vec![InitialFile { path: "a".into(), len: 3, seed: 4 }];
        let script = Script { workers: 2, initial, end: End::Exit, steps: vec![step] };
        assert!(script.kills());
        assert_eq!(Script::from_text(&script.to_text()).unwrap(), script);
    }
}
