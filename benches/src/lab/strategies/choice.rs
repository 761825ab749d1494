//! The choice of a strategy: few threads and many, with reads between adds and without, warm and
//! cold; counters and windows, beside an atomic that all threads share.

use std::path::Path;

use serde::Serialize;

use super::way::{Asked, PER_CORE, PORTABLE, WAYS};
use crate::harness::cores;
use crate::lab::Effort;
use crate::lab::progress::Progress;
use crate::lab::report::Table;
use crate::lab::stats::Spread;

/// The strategies that are compared, by the names of their ways; the first is the yardstick.
const COMPARED: [&str; 4] = [PER_CORE, "per core, by processor", PORTABLE, "portable, leases off"];

/// The things to which threads add.
const TARGETS: [&str; 2] = ["counter", "window"];
/// The atomic that all threads share.
const ATOMIC: &str = "atomic";

/// The conditions: adds between two reads, cold or warm, and the number of adds of a thread in a
/// round where there is one thread for each core.
const CONDITIONS: [(&str, u64, &str, u64); 4] = [
    ("no reads", 0, "warm", 400_000),
    ("a read in 1 000", 1_000, "warm", 400_000),
    ("a read in 10", 10, "warm", 40_000),
    ("cold", 0, "cold", 201),
];

/// The figures of one thing, one strategy and one number of threads, by condition and round.
#[derive(Serialize)]
struct Row {
    target: &'static str,
    way: usize,
    threads: usize,
    nanos: [Vec<f64>; CONDITIONS.len()],
}

/// The measurements.
#[derive(Serialize)]
pub struct Choice {
    /// The name of each process, and the strategies of its counters and windows.
    ways: Vec<(&'static str, String, String)>,
    rows: Vec<Row>,
}

impl Choice {
    /// Measures, in rounds in which each figure has its turn.
    ///
    /// # Errors
    /// If a process fails.
    pub fn measure(effort: Effort) -> Result<Choice, String> {
        let mut progress = Progress::begin("the choice of a strategy");
        let rounds = effort.pick(5, 21);
        let mut found = Choice { ways: Vec::new(), rows: plan() };
        for round in 0..rounds {
            let mut asked = start()?;
            found.ways = asked
                .iter()
                .map(|Asked { way, .. }| way)
                .map(|way| (way.name, way.counters.clone(), way.windows.clone()))
                .collect();
            let count = found.rows.len();
            for turn in 0..count {
                progress.step("rounds", round * count + turn, rounds * count);
                let row = &mut found.rows[(round + turn) % count];
                for (condition, nanos) in CONDITIONS.iter().zip(&mut row.nanos) {
                    nanos.push(ask(&mut asked[row.way], row.target, row.threads, condition)?);
                }
            }
        }
        progress.end();
        Ok(found)
    }

    /// Returns the table.
    #[must_use]
    pub fn table(&self) -> Table {
        let heads = ["what", "threads"].into_iter().chain(CONDITIONS.map(|(name, ..)| name));
        let title = "ns an add on a shared counter or window, by strategy and threads";
        let mut table = Table::new("choice", title, heads);
        for row in &self.rows {
            let is_yardstick = row.way == 0 && row.target != ATOMIC;
            let name = if row.target == ATOMIC { ATOMIC } else { self.ways[row.way].0 };
            // An atomic stands beside counters.
            let target = if row.target == ATOMIC { TARGETS[0] } else { row.target };
            let yardstick = self
                .rows
                .iter()
                .find(|other| (other.target, other.way, other.threads) == (target, 0, row.threads));
            let cells = (0..CONDITIONS.len()).map(|at| {
                let ours = &row.nanos[at];
                let nanos = Spread::of(ours.iter().copied());
                match yardstick {
                    Some(other) if !is_yardstick => {
                        let both = ours.iter().zip(&other.nanos[at]);
                        let ratio = Spread::of(both.map(|(one, other)| one / other.max(0.1)));
                        format!("{}: {} times", nanos.show_median(), ratio.show())
                    }
                    _ => nanos.show(),
                }
            });
            let what = format!("{target}, {name}");
            table.row([what, row.threads.to_string()].into_iter().chain(cells));
        }
        table.note(&self.note());
        table
    }

    fn note(&self) -> String {
        let actual = self.ways.iter().map(|(name, counters, windows)| {
            format!("{name}: counters {counters}, windows {windows}")
        });
        format!(
            "Medians (least to greatest) of rounds; \"times\" are ratios to the first strategy \
             within a round, on as many threads. All threads share one counter or window. Without \
             \"cold\": CPU time of a thread for an add, with its share of the reads. Cold: an add \
             that is timed alone, after 512 KiB of other memory, less the timing. {}.",
            actual.collect::<Vec<_>>().join("; ")
        )
    }
}

/// Returns every row, with compared ones side by side.
fn plan() -> Vec<Row> {
    let few = [1, cores(), 2 * cores(), 8 * cores()];
    let mut rows = Vec::new();
    for target in TARGETS {
        for threads in few.into_iter().enumerate().filter(|(at, n)| !few[..*at].contains(n)) {
            let row = |target, way| Row {
                target,
                way,
                threads: threads.1,
                nanos: [const { Vec::new() }; 4],
            };
            rows.extend((0..COMPARED.len()).map(|way| row(target, way)));
            if target == TARGETS[0] {
                rows.push(row(ATOMIC, 0));
            }
        }
    }
    rows
}

/// Starts a process for each strategy.
fn start() -> Result<Vec<Asked>, String> {
    let none: Option<&Path> = None;
    let wishes = COMPARED.iter().filter_map(|name| WAYS.iter().find(|wish| wish.is_called(name)));
    wishes.filter_map(|wish| wish.start(none).transpose()).collect()
}

/// Asks a process for one figure. With more threads than cores, each adds less.
fn ask(
    asked: &mut Asked,
    target: &str,
    threads: usize,
    (_, between, cold, times): &(&str, u64, &str, u64),
) -> Result<f64, String> {
    let times = times / threads.div_ceil(cores()) as u64;
    let question = format!("choice\t{target}\t{threads}\t{between}\t{cold}\t{times}");
    let line = asked.worker.ask(&question)?;
    let nanos = line.strip_prefix("nanos\t").and_then(|nanos| nanos.parse().ok());
    nanos.ok_or_else(|| format!("`{question}` was answered by `{line}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_is_known_and_each_row_is_there_once() {
        for name in COMPARED {
            assert!(WAYS.iter().any(|wish| wish.is_called(name)), "{name}");
        }
        let rows = plan();
        for (at, row) in rows.iter().enumerate() {
            let same = |other: &Row| {
                (other.target, other.way, other.threads) == (row.target, row.way, row.threads)
            };
            assert_eq!(rows.iter().position(same), Some(at));
        }
    }
}
