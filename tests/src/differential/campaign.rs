//! Many scripts, spread over the processors; the first that differs is shrunk and reported.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::{run_script, Difference, Side};
use crate::script::strategy::scripts;
use crate::script::Script;
use crate::tree;

/// Stack of a thread that makes scripts: strategies are nested deeply, and not optimised where tests are built for debugging.
const GENERATOR_STACK: usize = 64 << 20;
/// Longest that each part of shrinking may take.
const SHRINK_TIME: Duration = Duration::from_secs(60);

/// A pair of directories in which the two sides run, on one file system.
#[derive(Clone, Debug)]
pub struct Place {
    /// Where the first side runs.
    pub left: PathBuf,
    /// Where the second side runs; in a store when that is the shimmed one.
    pub right: PathBuf,
}

/// What a campaign ran.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tally {
    /// Scripts.
    pub scripts: usize,
    /// Their operations, not counting those of children.
    pub operations: usize,
    /// Time taken.
    pub elapsed: Duration,
}

/// A number of scripts to run on two sides.
pub struct Campaign<'a> {
    /// Name in reports.
    pub name: &'a str,
    /// The executor.
    pub executor: &'a Path,
    /// Seed of all scripts.
    pub seed: u64,
    /// Numbers of the scripts to run.
    pub numbers: std::ops::Range<usize>,
    /// The two sides.
    pub sides: [Side; 2],
    /// Where to run; scripts take turns, the first place gets the most.
    pub places: Vec<Place>,
    /// Where scripts are handed over, outside any store.
    pub scratch: &'a Path,
    /// Where failures are kept.
    pub reports: &'a Path,
    /// Run on after a difference and, at the end, list them all without shrinking any.
    pub survey: bool,
    /// How long the bytes of a killed process may take to reach the file.
    pub patience: Duration,
    /// Most runs that the general part of shrinking takes.
    pub shrink_runs: usize,
}

impl Campaign<'_> {
    /// Runs every script.
    ///
    /// # Errors
    /// The report of a script whose runs differ, or of all in a survey.
    pub fn run(&self) -> Result<Tally, String> {
        let started = Instant::now();
        let next = AtomicUsize::new(self.numbers.start);
        let stopped = AtomicBool::new(false);
        let operations = AtomicUsize::new(0);
        let failures = Mutex::new(Vec::new());
        let threads = std::thread::available_parallelism().map_or(2, usize::from).min(8);
        std::thread::scope(|scope| {
            for _ in 0..threads {
                let thread = std::thread::Builder::new().stack_size(GENERATOR_STACK);
                let run = || {
                    let strategy = scripts();
                    while !stopped.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= self.numbers.end {
                            return;
                        }
                        let mut tree = strategy.new_tree(&mut self.runner(number)).expect("scripts generate");
                        let script = tree.current();
                        operations.fetch_add(script.steps.len(), Ordering::Relaxed);
                        if let Some(difference) = self.differ(number, &script) {
                            if self.survey {
                                let stem = format!("{}-{:x}-{number}", self.name, self.seed);
                                let kept = difference.keep(self.reports, &stem);
                                let kept =
                                    kept.map_or_else(|error| error.to_string(), |names| names.join(" "));
                                let lines = difference.first_lines();
                                let line = format!("script {number}:\n{lines}kept {kept}");
                                eprintln!("{line}");
                                failures.lock().expect("no panics").push(line);
                                continue;
                            }
                            stopped.store(true, Ordering::Relaxed);
                            let report = self.report(number, difference, &mut *tree);
                            failures.lock().expect("no panics").push(report);
                        }
                    }
                };
                thread.spawn_scoped(scope, run).expect("thread");
            }
        });
        let failures = failures.into_inner().expect("no panics");
        if failures.is_empty() {
            let (scripts, operations) = (self.numbers.len(), operations.into_inner());
            Ok(Tally { scripts, operations, elapsed: started.elapsed() })
        } else {
            Err(format!("{}\n{} differ", failures.join("\n"), failures.len()))
        }
    }

    /// The script of a number.
    pub fn script(&self, number: usize) -> Script {
        let make = || scripts().new_tree(&mut self.runner(number)).expect("scripts generate").current();
        std::thread::scope(|scope| {
            let thread = std::thread::Builder::new().stack_size(GENERATOR_STACK);
            thread.spawn_scoped(scope, make).expect("thread").join().expect("no panics")
        })
    }

    /// Source of the randomness of one script.
    fn runner(&self, number: usize) -> TestRunner {
        let mut seed = [0x6d; 32];
        seed[..8].copy_from_slice(&self.seed.to_le_bytes());
        seed[8..16].copy_from_slice(&(number as u64).to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &seed);
        TestRunner::new_with_rng(Config::default(), rng)
    }

    /// Runs one script on both sides; `None` if they agree.
    ///
    /// # Panics
    /// When directories or the executor cannot be used.
    pub fn differ(&self, number: usize, script: &Script) -> Option<Difference> {
        let attempt = || self.attempt(number, script);
        attempt().unwrap_or_else(|error| panic!("{}: script {number}: {error}", self.name))
    }

    fn attempt(&self, number: usize, script: &Script) -> io::Result<Option<Difference>> {
        let place = match number % 4 {
            0 => &self.places[(number / 4) % self.places.len()],
            _ => &self.places[0],
        };
        let text = self.scratch.join(format!("{number}.script"));
        std::fs::write(&text, script.to_text())?;
        let stderr = self.scratch.join(format!("{number}.stderr"));
        let outer = [&place.left, &place.right].map(|directory| directory.join(number.to_string()));
        // One level down: a link to `../b` may be moved to the top, and must not lead to where other scripts are.
        let roots = outer.each_ref().map(|directory| directory.join("w"));
        let mut transcripts = [Vec::new(), Vec::new()];
        for ((side, root), transcript) in self.sides.iter().zip(&roots).zip(&mut transcripts) {
            tree::prepare(root, &script.initial)?;
            *transcript = run_script(self.executor, side, &text, root, &stderr)?;
        }
        let mut trees = [tree::snapshot(&roots[0])?, tree::snapshot(&roots[1])?];
        if script.kills() && transcripts[0] == transcripts[1] {
            let deadline = Instant::now() + self.patience;
            while trees[0] != trees[1] && Instant::now() < deadline {
                std::thread::sleep(Duration::from_millis(10));
                trees = [tree::snapshot(&roots[0])?, tree::snapshot(&roots[1])?];
            }
        }
        for (transcript, tree) in transcripts.iter_mut().zip(trees) {
            transcript.extend(tree);
        }
        for directory in &outer {
            std::fs::remove_dir_all(directory)?;
        }
        std::fs::remove_file(text)?;
        std::fs::remove_file(stderr)?;
        let names = [self.sides[0].name.clone(), self.sides[1].name.clone()];
        // An executor that panics shows nothing, even if it does so on both sides.
        let panicked = transcripts[0].iter().any(|line| line.contains("panicked at"));
        let differ = panicked || transcripts[0] != transcripts[1];
        Ok(differ.then(|| Difference { script: script.clone(), names, transcripts }))
    }

    /// Shrinks a failing script and says all about it.
    fn report(
        &self,
        number: usize,
        original: Difference,
        tree: &mut dyn ValueTree<Value = Script>,
    ) -> String {
        let small = self.drop_steps(number, self.shrink(number, original.clone(), tree));
        let stem = format!("{}-{:x}-{number}", self.name, self.seed);
        let keep = |difference: &Difference, stem: &str| {
            difference.keep(self.reports, stem).unwrap_or_else(|error| vec![error.to_string()]).join("\n  ")
        };
        format!(
            "{}: script {number} of seed {} differs.\n\
             Again: MILLPOND_SEED={} MILLPOND_FIRST={number} MILLPOND_SCRIPTS=1, or MILLPOND_SCRIPT=FILE\n\
             First differences of the script as generated ({} steps):\n{}\
             Shrunken script ({} steps):\n{}\nIts first differences:\n{}\
             Kept:\n  {}\n  {}",
            self.name,
            self.seed,
            self.seed,
            original.script.steps.len(),
            original.first_lines(),
            small.script.steps.len(),
            small.script.to_text(),
            small.first_lines(),
            keep(&small, &format!("{stem}-small")),
            keep(&original, &stem),
        )
    }

    fn shrink(
        &self,
        number: usize,
        first: Difference,
        tree: &mut dyn ValueTree<Value = Script>,
    ) -> Difference {
        let started = Instant::now();
        let mut best = first;
        let mut going = tree.simplify();
        let mut runs = 0;
        while going && runs < self.shrink_runs && started.elapsed() < SHRINK_TIME {
            runs += 1;
            going = match self.differ(number, &tree.current()) {
                Some(difference) => {
                    best = difference;
                    tree.simplify()
                }
                None => tree.complicate(),
            };
        }
        best
    }

    /// Leaves out single steps, which finds what the budget of the general shrinking did not reach.
    fn drop_steps(&self, number: usize, mut best: Difference) -> Difference {
        let started = Instant::now();
        let mut index = best.script.steps.len();
        while index > 0 && started.elapsed() < SHRINK_TIME {
            index -= 1;
            let mut script = best.script.clone();
            script.steps.remove(index);
            if let Some(difference) = self.differ(number, &script) {
                best = difference;
            }
        }
        best
    }
}
