//! What a run is told, as words of its command line: `key=value`, in any order.

use std::path::PathBuf;

/// A run.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Seed of the campaign.
    pub seed: u64,
    /// Number of the run in it.
    pub run: u64,
    /// Steps.
    pub steps: u64,
    /// Processes that take turns.
    pub processes: usize,
    /// Where the state lies.
    pub state: PathBuf,
    /// A file with the numbers of the steps that are done; all of them when empty.
    pub keep: PathBuf,
    /// Program and instance of the coordinator, for `drain`; empty without one.
    pub millpond: String,
    /// See `millpond`.
    pub instance: String,
    /// Whether closes return before anything is written.
    pub lazy: bool,
    /// The step from which on the first write is remembered wrongly.
    pub fault: Option<u64>,
    /// What this image does: empty for a whole run, `resume` or `once`.
    pub image: String,
    /// The role that this image has.
    pub role: usize,
}

impl Options {
    /// Reads the command line.
    ///
    /// # Errors
    /// The word that is not understood.
    pub fn parse(words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut own = Self { processes: 1, ..Self::default() };
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| word.clone())?;
            let number = || value.parse::<u64>().map_err(|_| word.clone());
            match key {
                "seed" => own.seed = number()?,
                "run" => own.run = number()?,
                "steps" => own.steps = number()?,
                "processes" => own.processes = number()? as usize,
                "role" => own.role = number()? as usize,
                "fault" => own.fault = Some(number()?),
                "lazy" => own.lazy = number()? == 1,
                "state" => own.state = value.into(),
                "keep" => own.keep = value.into(),
                "millpond" => own.millpond = value.into(),
                "instance" => own.instance = value.into(),
                "image" => own.image = value.into(),
                _ => return Err(word),
            }
        }
        Ok(own)
    }

    /// The command line that means this.
    pub fn words(&self) -> Vec<String> {
        let mut words = vec![
            format!("seed={}", self.seed),
            format!("run={}", self.run),
            format!("steps={}", self.steps),
            format!("processes={}", self.processes),
            format!("role={}", self.role),
            format!("lazy={}", u8::from(self.lazy)),
            format!("state={}", self.state.display()),
            format!("keep={}", self.keep.display()),
            format!("millpond={}", self.millpond),
            format!("instance={}", self.instance),
            format!("image={}", self.image),
        ];
        words.extend(self.fault.map(|step| format!("fault={step}")));
        words
    }

    /// The numbers of the steps that are done, in order.
    pub fn order(&self) -> Vec<u64> {
        if self.keep.as_os_str().is_empty() {
            return (0..self.steps).collect();
        }
        let text = std::fs::read_to_string(&self.keep).expect("list of steps");
        text.lines().map(|line| line.parse().expect("number of a step")).collect()
    }
}
