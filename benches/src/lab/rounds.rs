//! Interleaved rounds: in each of them every contender does everything once, in an order that is
//! turned by one from round to round. So two figures of a round were measured a moment apart, and a
//! machine that is slow for a while is slow for both.

use std::env;
use std::path::Path;
use std::process::Command;

use super::progress::Progress;
use super::stats::{Sample, Spread};
use super::subject::{Forced, Process, Subject};
use super::work::Work;
use super::worker::{self, Worker};
use crate::harness::Contender;

/// One thing that was measured in every round.
pub struct Figure {
    /// The contender.
    pub subject: Subject,
    /// The work.
    pub work: Work,
    /// The samples by round.
    pub samples: Vec<Sample>,
    times: u64,
    here: Option<Contender>,
}

impl Figure {
    /// Nanoseconds of CPU time.
    pub fn cost(&self) -> Spread {
        Spread::of(&self.samples)
    }
}

/// The processes that take part, started when they are first needed.
pub struct Workers<'a> {
    /// The folder of Java's classes, if they exist.
    pub java: Option<&'a Path>,
    running: Vec<(Process, Worker)>,
    /// The contenders that could not be measured to the end, and why.
    pub failed: Vec<String>,
}

impl<'a> Workers<'a> {
    /// Returns the workers, before any is started.
    pub fn new(java: Option<&'a Path>) -> Workers<'a> {
        Workers { java, running: Vec::new(), failed: Vec::new() }
    }

    /// Notes that there is no `figure`.
    fn fail(&mut self, figure: &Figure, why: &str) {
        let label = figure.subject.label();
        let line = format!("{label} ({}), since it failed: {why}", figure.subject.group.name());
        eprintln!("{line}");
        self.failed.push(line);
        // Others that it served get a new one.
        self.running.retain(|(process, _)| *process != figure.subject.process);
    }

    fn get(&mut self, process: Process) -> Result<&mut Worker, String> {
        if !self.running.iter().any(|(running, _)| *running == process) {
            let program = env::current_exe().map_err(|error| error.to_string())?;
            let mut command = Command::new(program);
            command.arg("--serve");
            match process {
                Process::Forced(Forced { strategy, leases, .. }) => {
                    command.env("WINDROW_STRATEGY", strategy).env("WINDROW_LEASES", leases);
                }
                Process::SentinelTicker => _ = command.arg("--sentinel-ticker"),
                Process::Here | Process::Sentinel => {}
                Process::Java => {
                    command = Command::new("java");
                    // A quiet machine: nothing of its own beside the threads that count.
                    command.args(["-XX:+UseSerialGC", "-Xmx64m", "-cp"]);
                    command.arg(self.java.ok_or("no classes of Java's")?).arg("Adders");
                }
            }
            self.running.push((process, Worker::start(command)?));
        }
        let worker = self.running.iter_mut().find(|(running, _)| *running == process);
        worker.map(|(_, worker)| worker).ok_or_else(|| "no worker".to_owned())
    }
}

impl Figure {
    fn perform(&self, workers: &mut Workers, times: u64) -> Result<Sample, String> {
        match &self.here {
            Some(contender) => Ok(worker::perform(contender, self.work, times)),
            None => workers.get(self.subject.process)?.perform(self.subject, self.work, times),
        }
    }

    /// Finds the number of repetitions that fill the time. By CPU time: on a busy machine, wall
    /// time includes the wait for a core, and would be filled by so few repetitions that reading
    /// the clock would dominate.
    fn calibrate(&mut self, workers: &mut Workers) -> Result<(), String> {
        let length = self.work.length().as_nanos() as f64;
        self.times = 1;
        loop {
            let each = self.perform(workers, self.times)?.each(self.times).ns;
            if each * self.times as f64 * 8.0 >= length {
                #[allow(clippy::cast_sign_loss)] // it took some time
                let fill = (length / each) as u64;
                self.times = fill.max(1);
                return Ok(());
            }
            self.times *= 4;
        }
    }
}

/// Measures each figure of `plan` in `rounds` rounds. A contender whose process fails is left out,
/// and `workers` has the reason: a figure covers all rounds, or is missing.
///
/// # Panics
/// If a contender in the plan does not exist.
pub fn measure(
    title: &str,
    plan: &[(Subject, Work)],
    rounds: usize,
    workers: &mut Workers,
) -> Vec<Figure> {
    let mut progress = Progress::begin(title);
    let mut figures = Vec::new();
    for (index, &(subject, work)) in plan.iter().enumerate() {
        progress.step("setting up", index, plan.len());
        let here = (subject.process == Process::Here).then(|| {
            worker::prepare(subject.group, subject.name, work)
                .unwrap_or_else(|| panic!("no contender is called {subject:?}"))
        });
        let mut figure = Figure { subject, work, samples: Vec::new(), times: 0, here };
        match figure.calibrate(workers) {
            Ok(()) => figures.push(figure),
            Err(why) => workers.fail(&figure, &why),
        }
    }
    for round in 0..rounds {
        progress.step("round", round, rounds);
        let count = figures.len();
        for turn in 0..count {
            let at = (round + turn) % count;
            let figure = &mut figures[at];
            match figure.perform(workers, figure.times) {
                Ok(sample) => figure.samples.push(sample.each(figure.times)),
                Err(why) => workers.fail(figure, &why),
            }
        }
        figures.retain(|figure| figure.samples.len() == round + 1);
    }
    progress.end();
    for figure in &mut figures {
        figure.here = None; // its memory, and its ticker, are not needed any more
    }
    figures
}

#[cfg(test)]
mod tests {
    use super::super::subject::{Group, JAVA};
    use super::*;
    use crate::ours::WINDROW;

    #[test]
    fn whose_process_fails_is_left_out_and_nobody_else() {
        let group = Group::Counter;
        let ours = Subject { group, name: WINDROW, process: Process::Here };
        let java = Subject { group, name: JAVA[0], process: Process::Java };
        let mut workers = Workers::new(None);
        let plan = [(ours, Work::Add(1)), (java, Work::Add(1)), (ours, Work::Read)];
        let figures = measure("a test", &plan, 3, &mut workers);
        let rounds: Vec<usize> = figures.iter().map(|figure| figure.samples.len()).collect();
        assert_eq!(rounds, [3, 3]);
        assert_eq!(workers.failed.len(), 1, "{:?}", workers.failed);
    }
}
