//! Losses in windows that read the time themselves and do not expose single buckets, so that the
//! test on virtual time does not apply: sentinel-core, and a few others beside it for comparison.
//!
//! On real time, in buckets of a millisecond: all buckets are opened once, with zeros; no thread
//! adds for a few of them; then threads add to buckets that are reused, for less than an interval;
//! no thread adds for a few more; and the sum over the interval must be what they added. Missing
//! adds were lost when buckets changed.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use windrow::clock::Precise;

use super::Effort;
use super::progress::Progress;
use super::report::Table;
use crate::harness::{Contender, cores, keep_to_core};
use crate::ours::{self, WINDROW};
use crate::rivals::{CAS_RING, LEAP_ARRAY, MUTEX_RING};

/// Longer than any clock here is late.
const PAUSE: Duration = Duration::from_millis(8);

/// The result for one window.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    /// The contender.
    pub name: &'static str,
    /// Writers.
    pub threads: usize,
    /// Buckets that were live while they wrote.
    pub rotations: u64,
    /// The sum of the adds.
    pub added: u64,
    /// The sum of the window.
    pub found: u64,
    /// Trials that ended in a panic of the window's, which are not in the other figures.
    pub panics: u64,
}

impl Row {
    /// Returns whether both sums are equal.
    pub fn sound(&self) -> bool {
        self.added == self.found
    }

    /// Returns whether this window says of itself that it loses nothing.
    pub fn must_be_sound(&self) -> bool {
        [WINDROW, MUTEX_RING].contains(&self.name)
    }
}

/// The reason why a trial is void.
#[derive(Debug)]
enum Void {
    /// The machine stood still long enough that adds may have left the interval.
    Late,
    /// The window panicked, as sentinel-core does for a thread that stood still for an interval.
    Panicked,
}

/// Tries one window of `buckets` buckets of a millisecond.
fn run(contender: &Contender, buckets: u64, threads: usize) -> Result<Row, Void> {
    let rival = &*contender.rival;
    let opening = Instant::now();
    while opening.elapsed() < Duration::from_millis(buckets) + PAUSE {
        rival.add(0);
        thread::sleep(Duration::from_micros(100));
    }
    thread::sleep(PAUSE);
    let (stop, added) = (AtomicBool::new(false), AtomicU64::new(0));
    let panicked = AtomicBool::new(false);
    let begin = Instant::now();
    thread::scope(|scope| {
        for index in 0..threads {
            let (stop, added, panicked) = (&stop, &added, &panicked);
            scope.spawn(move || {
                keep_to_core(index);
                let mut mine = 0;
                while !stop.load(Ordering::Relaxed) {
                    // Its state after a panic does not matter: it is not used afterwards.
                    let adding = AssertUnwindSafe(|| rival.add_many(16));
                    if panic::catch_unwind(adding).is_err() {
                        panicked.store(true, Ordering::Relaxed);
                        break;
                    }
                    mine += 16;
                }
                added.fetch_add(mine, Ordering::Relaxed);
            });
        }
        // Shorter than the interval, so that all adds are still in it when it is read.
        thread::sleep(Duration::from_millis(buckets * 6 / 10));
        stop.store(true, Ordering::Relaxed);
    });
    let rotations = begin.elapsed().as_millis() as u64;
    thread::sleep(PAUSE);
    let (added, found) = (added.into_inner(), rival.sum());
    if panicked.into_inner() {
        return Err(Void::Panicked);
    }
    if begin.elapsed() + PAUSE > Duration::from_millis(buckets) {
        return Err(Void::Late);
    }
    Ok(Row { name: contender.name, threads, rotations, added, found, panics: 0 })
}

/// Returns fresh windows of `buckets` buckets of a millisecond.
fn contenders(buckets: u64) -> Vec<Contender> {
    let interval = Duration::from_millis(buckets);
    let mut windows = ours::windows(interval, buckets as usize, &Precise::default());
    windows.retain(|window| [WINDROW, LEAP_ARRAY, CAS_RING, MUTEX_RING].contains(&window.name));
    #[cfg(feature = "sentinel")]
    windows.insert(1, crate::rivals::sentinel::window_of(1, buckets as u32));
    windows
}

/// Measures.
pub fn rows(effort: Effort) -> Vec<Row> {
    let (buckets, times) = effort.pick((200, 1), (1000, 3));
    let threads = 2 * cores();
    let mut progress = Progress::begin("counts lost on real time");
    let mut rows: Vec<Row> = Vec::new();
    for time in 0..times {
        for (index, contender) in contenders(buckets).iter().enumerate() {
            progress.step(contender.name, time, times);
            if rows.len() == index {
                let name = contender.name;
                rows.push(Row { name, threads, rotations: 0, added: 0, found: 0, panics: 0 });
            }
            match run(contender, buckets, threads) {
                Ok(row) => {
                    rows[index].rotations += row.rotations;
                    rows[index].added += row.added;
                    rows[index].found += row.found;
                }
                Err(Void::Panicked) => rows[index].panics += 1,
                Err(Void::Late) => {}
            }
        }
    }
    progress.end();
    rows
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let heads = [
        "contender",
        "threads",
        "rotations",
        "adds",
        "missing",
        "missing per rotation",
        "trials that panicked",
    ];
    let mut table =
        Table::new("sealed", "Counts lost on real time, buckets of a millisecond", heads);
    for row in rows {
        let missing = i128::from(row.added) - i128::from(row.found);
        let each = missing as f64 / row.rotations.max(1) as f64;
        table.row([
            row.name.to_owned(),
            row.threads.to_string(),
            row.rotations.to_string(),
            row.added.to_string(),
            missing.to_string(),
            match missing {
                _ if row.added == 0 => "-".to_owned(), // no trial was in time
                0 => "**0**".to_owned(),
                _ => format!("{each:.5}"),
            },
            row.panics.to_string(),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rivals::counters::nothing;

    #[test]
    fn a_right_window_misses_nothing() {
        let mut all = contenders(200);
        for name in [WINDROW, MUTEX_RING] {
            // A machine that stands still proves nothing.
            let Ok(row) = run(&Contender::take(&mut all, name), 200, 2) else { continue };
            assert!(row.added > 0, "{row:?}");
            assert!(row.sound(), "{row:?}");
        }
    }

    #[test]
    fn one_that_counts_nothing_misses_everything() {
        let Ok(row) = run(&nothing(), 200, 1) else { return };
        assert!(row.added > 0 && !row.sound(), "{row:?}");
    }
}
