//! Many runs, one after the other; one that fails is shrunk by leaving steps out.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::time::{Duration, Instant};

use nix::sys::signal::{killpg, Signal};
use nix::unistd::Pid;

use super::options::Options;
use super::run::wrong_at_the_end;
use super::state::State;

/// Longest that a run may take.
const RUN_BOUND: Duration = Duration::from_secs(180);
/// Longest that shrinking may take.
const SHRINK_TIME: Duration = Duration::from_secs(90);

/// A number of runs.
pub struct Campaign<'a> {
    /// Name in reports.
    pub name: &'a str,
    /// The exerciser.
    pub program: &'a Path,
    /// Variables set for it.
    pub environment: &'a [(String, String)],
    /// Directories to run in, by turns.
    pub places: Vec<PathBuf>,
    /// Where states lie, outside any store.
    pub scratch: &'a Path,
    /// Where the steps of a failing run are kept.
    pub reports: &'a Path,
    /// What all runs are told; number of processes, run and files are filled in.
    pub options: Options,
    /// Numbers of processes, by turns.
    pub processes: &'a [usize],
    /// Numbers of the runs.
    pub runs: std::ops::Range<u64>,
    /// Whether to shrink a failing run.
    pub shrink: bool,
}

/// A run that failed.
#[derive(Debug)]
pub struct Failure {
    /// What it said.
    pub text: String,
    /// Its steps up to the failure.
    steps: usize,
}

impl Campaign<'_> {
    /// Does all runs; gives the number of steps.
    ///
    /// # Errors
    /// The first run that fails, shrunk.
    pub fn run(&self) -> Result<u64, String> {
        let begun = Instant::now();
        eprintln!(
            "{}: seed {} runs {:?} of {} steps, processes {:?}",
            self.name, self.options.seed, self.runs, self.options.steps, self.processes
        );
        for run in self.runs.clone() {
            if let Err(failure) = self.attempt(run, None) {
                return Err(self.report(run, failure));
            }
        }
        let steps = (self.runs.end - self.runs.start) * self.options.steps;
        eprintln!("{}: {steps} steps in {:.1} s", self.name, begun.elapsed().as_secs_f64());
        Ok(steps)
    }

    /// Does one run, of the steps in `keep` if there are any.
    ///
    /// # Errors
    /// What the run found.
    pub fn attempt(&self, run: u64, keep: Option<&[u64]>) -> Result<(), Failure> {
        let place = &self.places[run as usize % self.places.len()];
        let directory = place.join(format!("run-{run}"));
        let _ = fs::remove_dir_all(&directory);
        fs::create_dir(&directory).expect("directory of the run");
        let file = |what: &str| self.scratch.join(format!("{}-{run}.{what}", self.name));
        let mut options = Options {
            run,
            processes: self.processes[run as usize % self.processes.len()],
            state: file("state"),
            ..self.options.clone()
        };
        if let Some(steps) = keep {
            options.keep = file("steps");
            fs::write(&options.keep, list(steps)).expect("list of steps");
        }
        let text = self.carry_out(&options, &directory, &file("stderr"));
        let state = State::map(&options.state, false).expect("state of the run");
        let text = text.or_else(|| {
            let wrong = if options.lazy { None } else { wrong_at_the_end(state, &directory) };
            wrong.map(|wrong| format!("after the end: {wrong}\nThe last operations:\n{}", state.story.text()))
        });
        let steps = state.turn.load(SeqCst) as usize + 1;
        for what in ["state", "steps", "stderr"] {
            let _ = fs::remove_file(file(what));
        }
        let _ = fs::remove_dir_all(&directory);
        text.map_or(Ok(()), |text| Err(Failure { text, steps }))
    }

    /// Runs the program; gives what went wrong.
    fn carry_out(&self, options: &Options, directory: &Path, stderr: &Path) -> Option<String> {
        let mut child = Command::new(self.program)
            .args(options.words())
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(directory)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(File::create(stderr).expect("file"))
            .process_group(0)
            .spawn()
            .expect("the exerciser");
        let begun = Instant::now();
        let status = loop {
            if let Some(status) = child.try_wait().expect("wait") {
                break Some(status);
            }
            if begun.elapsed() > RUN_BOUND {
                break None;
            }
            std::thread::sleep(Duration::from_millis(3));
        };
        let said = || String::from_utf8_lossy(&fs::read(stderr).unwrap_or_default()).into_owned();
        match status {
            Some(status) if status.success() => None,
            Some(status) => Some(format!("{status}\n{}", said())),
            None => {
                let _ = killpg(Pid::from_raw(child.id() as i32), Signal::SIGKILL);
                let _ = child.wait();
                let story = State::map(&options.state, false).map(|state| state.story.text());
                Some(format!("hangs\n{}\nThe last operations:\n{}", said(), story.unwrap_or_default()))
            }
        }
    }

    fn report(&self, run: u64, first: Failure) -> String {
        let again = format!(
            "{}: run {run} of seed {} fails.\nAgain: MILLPOND_SEED={} MILLPOND_FIRST={run} MILLPOND_STEPS={}\n",
            self.name, self.options.seed, self.options.seed, self.options.steps
        );
        if !self.shrink {
            return again + &first.text;
        }
        let (steps, small) = self.shrunk(run, &first);
        let kept = self.reports.join(format!("{}-{}-{run}.steps", self.name, self.options.seed));
        fs::write(&kept, list(&steps)).expect("list of steps");
        format!(
            "{again}{}\nWith these {} steps only (kept in {}, for MILLPOND_KEEP): {steps:?}\n{}",
            first.text,
            steps.len(),
            kept.display(),
            small.unwrap_or_else(|| "the run did not fail again".into()),
        )
    }

    /// Leaves out as many steps as may be while the run still fails.
    fn shrunk(&self, run: u64, first: &Failure) -> (Vec<u64>, Option<String>) {
        let begun = Instant::now();
        let mut best: Vec<u64> = (0..first.steps as u64).collect();
        let mut text = None;
        let mut chunk = best.len().div_ceil(2);
        while chunk > 0 && begun.elapsed() < SHRINK_TIME {
            let mut end = best.len();
            while end > 0 && begun.elapsed() < SHRINK_TIME {
                let start = end.saturating_sub(chunk);
                let fewer: Vec<u64> = [&best[..start], &best[end..]].concat();
                if let Err(failure) = self.attempt(run, Some(&fewer)) {
                    best = fewer;
                    best.truncate(failure.steps);
                    text = Some(failure.text);
                }
                end = start.min(best.len());
            }
            chunk /= 2;
        }
        (best, text)
    }
}

fn list(steps: &[u64]) -> String {
    steps.iter().map(|step| format!("{step}\n")).collect()
}
