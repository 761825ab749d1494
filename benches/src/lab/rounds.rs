//! Interleaved rounds: in each of them everybody does everything once, in an order that is turned by one
//! from round to round. So two figures of a round were measured a moment apart, and a machine that is
//! slow for a while is slow for both.

use std::collections::HashMap;
use std::env;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::progress::Progress;
use super::stats::{Sample, Spread};
use super::subject::{Place, Subject};
use super::worker::{self, Worker};
use crate::harness::{Contender, Spent, cores};

/// What is done over and over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Adds, on so many threads at once.
    Add(usize),
    /// Reads, on one thread, with nobody adding.
    Read,
    /// Adds, on so many threads, while one more thread reads without a pause.
    AddWhileRead(usize),
}

impl Work {
    /// On how many threads, without the reader.
    pub fn threads(self) -> usize {
        match self {
            Work::Add(threads) | Work::AddWhileRead(threads) => threads,
            Work::Read => 1,
        }
    }

    /// The name in data files and in questions to workers.
    pub fn name(self) -> &'static str {
        match self {
            Work::Add(_) => "add",
            Work::Read => "read",
            Work::AddWhileRead(_) => "reading",
        }
    }

    /// The work called `name`.
    pub fn named(name: &str, threads: usize) -> Option<Work> {
        let works = [Work::Add(threads), Work::Read, Work::AddWhileRead(threads)];
        works.into_iter().find(|work| work.name() == name && threads > 0)
    }

    /// How long it is done in a round. With more threads than cores each must have several turns.
    fn length(self) -> Duration {
        let busy = self.threads() + usize::from(matches!(self, Work::AddWhileRead(_)));
        Duration::from_millis(if busy > cores() { 15 } else { 4 })
    }
}

/// One thing that was measured in every round.
pub struct Figure {
    /// Who.
    pub subject: Subject,
    /// What.
    pub work: Work,
    /// By round.
    pub samples: Vec<Sample>,
    times: u64,
    here: Option<Contender>,
}

impl Figure {
    /// Nanoseconds of CPU time.
    pub fn cost(&self) -> Spread {
        Spread::of_samples(&self.samples, |sample| sample.cpu_ns)
    }
}

/// The processes that take part, started when they are first needed.
pub struct Workers<'a> {
    /// Where Java's classes are, if anywhere.
    pub java: Option<&'a Path>,
    running: HashMap<&'static str, Worker>,
}

impl<'a> Workers<'a> {
    /// None is running yet.
    pub fn new(java: Option<&'a Path>) -> Workers<'a> {
        Workers { java, running: HashMap::new() }
    }

    fn get(&mut self, place: Place) -> Result<&mut Worker, String> {
        let name = match place {
            Place::Here => return Err("not a worker's".to_owned()),
            Place::Portable => "portable",
            Place::SentinelTicker => "sentinel",
            Place::Java => "java",
        };
        if !self.running.contains_key(name) {
            let mut command = if place == Place::Java {
                let mut command = Command::new("java");
                // A quiet machine: nothing of its own beside the threads that count.
                command.args(["-XX:+UseSerialGC", "-Xmx64m", "-cp"]);
                command.arg(self.java.ok_or("no classes of Java's")?).arg("Adders");
                command
            } else {
                let program = env::current_exe().map_err(|error| error.to_string())?;
                let mut command = Command::new(program);
                command.arg("--serve");
                command
            };
            match place {
                Place::Portable => _ = command.env("WINDROW_STRATEGY", "portable"),
                Place::SentinelTicker => _ = command.arg("--sentinel-ticker"),
                Place::Here | Place::Java => {}
            }
            self.running.insert(name, Worker::start(command)?);
        }
        self.running.get_mut(name).ok_or_else(|| "no worker".to_owned())
    }
}

impl Figure {
    fn perform(&self, workers: &mut Workers, times: u64) -> Result<(Spent, f64), String> {
        match &self.here {
            Some(contender) => Ok(worker::perform(contender, self.work, times)),
            None => workers.get(self.subject.place)?.perform(self.subject, self.work, times),
        }
    }

    /// Finds out how many times fill the time.
    fn calibrate(&mut self, workers: &mut Workers) -> Result<(), String> {
        let (length, mut times) = (self.work.length(), 16);
        loop {
            let (spent, _) = self.perform(workers, times)?;
            if spent.wall * 8 >= length {
                let fill = u128::from(times) * length.as_nanos() / spent.wall.as_nanos();
                self.times = (fill as u64).max(16);
                return Ok(());
            }
            times *= 4;
        }
    }
}

/// Measures every one of `plan` in `rounds` rounds.
///
/// # Errors
/// If a worker fails.
///
/// # Panics
/// If somebody in the plan does not exist.
pub fn measure(
    title: &str,
    plan: &[(Subject, Work)],
    rounds: usize,
    workers: &mut Workers,
) -> Result<Vec<Figure>, String> {
    let mut progress = Progress::begin(title);
    let mut figures = Vec::new();
    for (index, &(subject, work)) in plan.iter().enumerate() {
        progress.step("setting up", index, plan.len());
        let here = (subject.place == Place::Here).then(|| {
            worker::prepare(subject.group, subject.name, work)
                .unwrap_or_else(|| panic!("nobody is called {subject:?}"))
        });
        let mut figure = Figure { subject, work, samples: Vec::new(), times: 0, here };
        figure.calibrate(workers)?;
        figures.push(figure);
    }
    for round in 0..rounds {
        for turn in 0..figures.len() {
            let at = (round + turn) % plan.len();
            let figure = &mut figures[at];
            let (spent, read_ns) = figure.perform(workers, figure.times)?;
            figure.samples.push(Sample::new(spent, read_ns, figure.times));
        }
        progress.round(round + 1, rounds, &figures);
    }
    progress.end();
    for figure in &mut figures {
        figure.here = None; // its memory, and its ticker, are not needed any more
    }
    Ok(figures)
}
