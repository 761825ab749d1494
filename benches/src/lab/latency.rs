//! The time of a single add while another thread opens buckets: not the mean, which hides rare slow
//! adds, but the ranks, to the worst in a hundred thousand.
//!
//! One thread adds and times each add by the wall clock; another, on the next core, opens a bucket
//! every 100 us. The time is virtual. The first row counts nothing: it is what the clock and the
//! machine themselves do to a figure of that rank, preemption included.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use super::Effort;
use super::progress::Progress;
use super::report::Table;
use super::stats::digits;
use crate::harness::keep_to_core;
use crate::ours::MakeRing;

/// Buckets in every ring.
const BUCKETS: usize = 60;
/// A bucket's length in nanoseconds of the virtual clock.
const LENGTH: u64 = 100_000;
/// The length of a bucket in wall time.
const BUCKET: Duration = Duration::from_micros(100);
/// The longest time that the histogram distinguishes.
const LONGEST: Duration = Duration::from_secs(10);
/// The ranks that are shown, in percent.
pub const RANKS: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 99.999];

/// The name of the row that counts nothing.
pub const CLOCK: &str = "the clock alone";

/// One ring.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The contender.
    pub name: String,
    /// Buckets opened meanwhile.
    pub rotations: u64,
    /// Nanoseconds by rank, as in `RANKS`.
    pub ranks: [u64; 6],
    /// The longest, in nanoseconds.
    pub worst: u64,
}

fn run(name: &str, adds: u64, add_at: &(dyn Fn(u64) + Sync)) -> Row {
    let clock = CachePadded::new(AtomicU64::new(LENGTH * BUCKETS as u64));
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        let opener = scope.spawn(|| {
            keep_to_core(1);
            let mut opened = 0;
            while !stop.load(Ordering::Relaxed) {
                let begin = Instant::now();
                let next = clock.load(Ordering::Relaxed) + LENGTH;
                add_at(next);
                clock.store(next, Ordering::Release);
                opened += 1;
                while begin.elapsed() < BUCKET && !stop.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            }
            opened
        });
        let adder = scope.spawn(|| {
            keep_to_core(0);
            let longest = LONGEST.as_nanos() as u64;
            let mut times = Histogram::<u64>::new_with_max(longest, 3).expect("sound bounds");
            for _ in 0..adds {
                let now = clock.load(Ordering::Acquire);
                let begin = Instant::now();
                add_at(now);
                times.saturating_record(begin.elapsed().as_nanos() as u64);
            }
            stop.store(true, Ordering::Relaxed);
            times
        });
        let times = adder.join().expect("a ring panicked");
        Row {
            name: name.to_owned(),
            rotations: opener.join().expect("a ring panicked"),
            ranks: RANKS.map(|rank| times.value_at_percentile(rank)),
            worst: times.max(),
        }
    })
}

/// Returns the number of adds that are timed.
fn adds(effort: Effort) -> u64 {
    effort.pick(1_000_000, 5_000_000)
}

/// Measures the clock alone.
pub fn of_clock(effort: Effort) -> Row {
    run(CLOCK, adds(effort), &|_| ())
}

/// Measures.
pub fn rows(effort: Effort, rings: &[(&str, MakeRing)]) -> Vec<Row> {
    let mut progress = Progress::begin("how long an add takes while buckets change");
    let mut rows = Vec::new();
    for &(name, make) in rings {
        progress.step(name, rows.len(), rings.len());
        let ring = make(LENGTH * BUCKETS as u64, BUCKETS);
        rows.push(run(name, adds(effort), &|now| _ = ring.add_at(now, 1)));
    }
    progress.end();
    rows
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let ranks = RANKS.map(|rank| format!("{rank} %"));
    let ranks = ranks.iter().map(String::as_str);
    let heads = ["contender", "rotations"].into_iter().chain(ranks).chain(["worst"]);
    let title = "Nanoseconds an add takes while another thread opens buckets, by rank";
    let mut table = Table::new("latency", title, heads);
    for row in rows {
        let times = row.ranks.iter().chain([&row.worst]).map(|&time| digits(time as f64));
        table.row([row.name.clone(), row.rotations.to_string()].into_iter().chain(times));
    }
    table
}
