//! The strategies side by side. A process has one strategy, so each has a process
//! (`benches/loops`), and all of them take part in the same rounds: each is asked for a short run
//! of a loop, in turns. They are started anew for each round: where the system puts a program's
//! memory makes a difference of some tens of percent, which is then none between strategies.
//!
//! | file | |
//! |---|---|
//! | `way` | the processes: the requested strategy of each, and its actual one |
//! | `report` | tables |
//! | `choice` | a part of its own: which strategy is best, by threads, reads and cold memory |
//!
//! Every loop is measured in two ways: on *one* counter or window, where an add waits for the store
//! of the last one; and on sixteen *in turn*, where none does.

mod choice;
mod report;
mod way;

use std::path::Path;
use std::time::Duration;

use serde::Serialize;

pub use self::choice::Choice;
pub use self::report::tables;
use self::way::{Asked, WAYS, Way};
use super::Effort;
use super::progress::Progress;
use super::stats::{Sample, Spread};
use crate::harness::Spent;

/// The time for which a loop runs in a round.
const LENGTH: Duration = Duration::from_millis(4);
/// Rotations in a round.
const ROTATIONS: u64 = 1000;
/// Figures of adds beside rotations, as `benches/loops/src/beside.rs` has them.
const BESIDE: usize = 6;

/// The number of counters or windows of a loop: one, or sixteen in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum On {
    /// One.
    One,
    /// Sixteen in turn.
    Turns,
}

impl On {
    const ALL: [On; 2] = [On::One, On::Turns];

    fn name(self) -> &'static str {
        match self {
            On::One => "one",
            On::Turns => "in turn",
        }
    }
}

const COUNTER: &str = "counter";
const ADD: &str = "window add";
const ADD_GIVEN: &str = "window add, time given";
const RECORD: &str = "window record";
const RECORD_GIVEN: &str = "window record, time given";
/// The loops of windrow.
const LOOPS: [&str; 5] = [COUNTER, ADD, ADD_GIVEN, RECORD, RECORD_GIVEN];

const LOCKED: &str = "locked add";
const FAST_COUNTER: &str = "fast-counter";
const FLOOR_MODIFY: &str = "floor, read-modify-write";
const FLOOR_STORE: &str = "floor, load and store";
/// The yardsticks. They do not depend on the strategy, so one process measures them.
const YARDSTICKS: [&str; 6] = [
    "plain add, read-modify-write",
    "plain add, load and store",
    FLOOR_MODIFY,
    FLOOR_STORE,
    LOCKED,
    FAST_COUNTER,
];

/// One loop in one process.
#[derive(Serialize)]
struct Figure {
    /// The index in `Strategies::ways`.
    way: usize,
    name: &'static str,
    on: On,
    samples: Vec<Sample>,
    #[serde(skip)]
    times: u64,
}

impl Figure {
    fn question(&self) -> String {
        format!("{}, {}", self.name, self.on.name())
    }
}

/// The measurements.
#[derive(Serialize)]
pub struct Strategies {
    ways: Vec<Way>,
    figures: Vec<Figure>,
    /// By way, by round.
    beside: Vec<Vec<[f64; BESIDE]>>,
}

/// Runs a loop of one process.
fn run(asked: &mut Asked, question: &str, times: u64) -> Result<Option<Spent>, String> {
    let line = asked.worker.ask(&format!("loop\t{question}\t{times}"))?;
    let words: Vec<&str> = line.split('\t').collect();
    let nanos = |word: &str| word.parse().map(Duration::from_nanos);
    match words[..] {
        ["none"] => Ok(None),
        ["done", cpu, wall] => match (nanos(cpu), nanos(wall)) {
            (Ok(cpu), Ok(wall)) => {
                let running = (cpu.as_secs_f64() / wall.as_secs_f64()).min(1.0);
                Ok(Some(Spent { cpu, wall, running }))
            }
            _ => Err(format!("`{line}` is no answer")),
        },
        _ => Err(format!("`{question}` was answered by `{line}`")),
    }
}

/// Returns the number of repetitions that fill the time; `None` if the process has no such loop.
fn calibrate(asked: &mut Asked, question: &str) -> Result<Option<u64>, String> {
    let mut times = 1000;
    loop {
        let Some(spent) = run(asked, question, times)? else { return Ok(None) };
        if spent.cpu * 8 >= LENGTH {
            let fill = u128::from(times) * LENGTH.as_nanos() / spent.cpu.as_nanos();
            return Ok(Some((fill as u64).max(1)));
        }
        times *= 4;
    }
}

/// Returns all figures, with compared ones side by side.
fn plan(processes: usize) -> Vec<Figure> {
    let figure = |way, name, on| Figure { way, name, on, samples: Vec::new(), times: 0 };
    let on = |name| On::ALL.map(move |on| (name, on));
    let yardsticks = YARDSTICKS.into_iter().flat_map(on);
    let ours = LOOPS.into_iter().flat_map(on);
    let ours = ours.flat_map(|(name, on)| (0..processes).map(move |way| figure(way, name, on)));
    yardsticks.map(|(name, on)| figure(0, name, on)).chain(ours).collect()
}

impl Strategies {
    /// Measures. `before` is the program that was built with an earlier windrow, if there is one.
    ///
    /// # Errors
    /// If a process fails.
    pub fn measure(effort: Effort, before: Option<&Path>) -> Result<Strategies, String> {
        let mut progress = Progress::begin("the strategies");
        let start = || -> Result<Vec<Asked>, String> {
            WAYS.iter().filter_map(|way| way.start(before).transpose()).collect()
        };
        let mut asked = start()?;
        let ways: Vec<Way> = asked.iter().map(|asked| asked.way.clone()).collect();
        let mut figures = Vec::new();
        let planned = plan(asked.len());
        for (index, mut figure) in planned.into_iter().enumerate() {
            progress.step("setting up", index, index + 1);
            if let Some(times) = calibrate(&mut asked[figure.way], &figure.question())? {
                figure.times = times;
                figures.push(figure);
            }
        }
        let rounds = effort.pick(9, 61);
        for round in 0..rounds {
            progress.step("rounds", round, rounds);
            asked = start()?;
            let count = figures.len();
            for turn in 0..count {
                let figure = &mut figures[(round + turn) % count];
                let question = figure.question();
                if let Some(spent) = run(&mut asked[figure.way], &question, figure.times)? {
                    figure.samples.push(Sample::new(spent, 0.0, figure.times));
                }
            }
        }
        let mut beside = vec![Vec::new(); ways.len()];
        let rounds = effort.pick(5, 15);
        for round in 0..rounds {
            progress.step("beside rotations", round, rounds);
            asked = start()?;
            for turn in 0..ways.len() {
                let at = (round + turn) % ways.len();
                beside[at].push(rotate(&mut asked[at])?);
            }
        }
        progress.end();
        Ok(Strategies { ways, figures, beside })
    }

    /// Returns the figure of a loop in the way of this name.
    fn find(&self, way: &str, name: &str, on: On) -> Option<(&Way, &Figure)> {
        let (at, way) = self.ways.iter().enumerate().find(|(_, known)| known.name == way)?;
        let same = |figure: &&Figure| figure.way == at && figure.name == name && figure.on == on;
        Some((way, self.figures.iter().find(same)?))
    }
}

fn rotate(asked: &mut Asked) -> Result<[f64; BESIDE], String> {
    let line = asked.worker.ask(&format!("beside\t{ROTATIONS}"))?;
    let figures = line.strip_prefix("done\t").map(|rest| rest.split('\t').map(str::parse));
    let figures: Option<Vec<f64>> = figures.and_then(|all| all.collect::<Result<_, _>>().ok());
    let figures = figures.and_then(|figures| <[f64; BESIDE]>::try_from(figures).ok());
    figures.ok_or_else(|| format!("`{line}` is no answer"))
}

/// Nanoseconds of CPU time.
fn cost(figure: &Figure) -> Spread {
    Spread::of_samples(&figure.samples, |sample| sample.cpu_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_is_asked_for_once() {
        let plan = plan(3);
        assert_eq!(plan.len(), 2 * (YARDSTICKS.len() + 3 * LOOPS.len()));
        for (index, figure) in plan.iter().enumerate() {
            let same =
                |other: &Figure| (other.way, other.question()) == (figure.way, figure.question());
            assert_eq!(plan.iter().position(same), Some(index), "{}", figure.question());
        }
    }
}
