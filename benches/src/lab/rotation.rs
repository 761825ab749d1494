//! The cost of a rotation for its writer: the one add that opens a bucket, timed alone, less the
//! median of an add that opens none. In a window of five events and sixty buckets, by a writer
//! alone, beside a writer on each other core, and beside a writer on each core.
//!
//! The time is virtual. The measured writer goes on to the next bucket, and only when that is open
//! do the others see the new time, so it is always this writer that pays. Their adds in between go
//! to the bucket that has just been retired.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use serde::{Deserialize, Serialize};

use super::Effort;
use super::portable::Whom;
use super::progress::Progress;
use super::report::Table;
use crate::harness::{cores, keep_to_core};
use crate::heap::Counting;
use crate::ours::{RINGS, TIERED, WINDROW};
use crate::rivals::{MUTEX_RING, Ring};

/// Buckets in every ring.
const BUCKETS: usize = 60;
/// A bucket's length in nanoseconds of the virtual clock.
const LENGTH: u64 = 100_000;
/// A ring's interval in nanoseconds of the virtual clock.
const INTERVAL: u64 = LENGTH * BUCKETS as u64;
/// The first bucket's start. Not zero, which some rings take for "nothing yet".
const FIRST: u64 = INTERVAL;
/// Rotations before the first that counts: every slot has been used, and used again.
const WARM_UP: usize = 3 * BUCKETS;
/// The length of a bucket in wall time.
const BUCKET: Duration = Duration::from_micros(100);
/// Adds that are made between two looks at the wall clock.
const BURST: usize = 16;

/// The result of a run: sorted, in nanoseconds of wall time.
struct Measured {
    /// Adds that opened a bucket.
    opening: Vec<f64>,
    /// Adds that did not.
    plain: Vec<f64>,
    /// The allocations of all threads meanwhile.
    allocations: usize,
}

impl Measured {
    /// Returns what the rotation of rank `rank` took, from 0 for the shortest to 1 for the longest,
    /// in microseconds.
    fn rotation(&self, rank: f64) -> f64 {
        (at(&self.opening, rank) - at(&self.plain, 0.5)) / 1000.0
    }
}

/// Returns the figure of rank `rank`, from 0 to 1, in a sorted list.
#[allow(clippy::cast_sign_loss)]
fn at(sorted: &[f64], rank: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * rank) as usize]
}

/// A ring, and the writers on it.
struct Run<'a> {
    ring: &'a dyn Ring,
    heap: &'a Counting,
    /// The number of rotations, and the time between them.
    rotations: usize,
    bucket: Duration,
    /// The time that the others go by.
    clock: CachePadded<AtomicU64>,
    stop: AtomicBool,
}

impl Run<'_> {
    /// Adds until the stop flag is set.
    fn write(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            self.ring.add_at(self.clock.load(Ordering::Acquire), 1);
        }
    }

    /// Nanoseconds that one add takes.
    fn time_add(&self, now: u64) -> f64 {
        let begin = Instant::now();
        self.ring.add_at(now, 1);
        begin.elapsed().as_nanos() as f64
    }

    /// Opens the bucket at `now`, adds to it for as long as it lives, and returns what the first
    /// and the last add took.
    fn live(&self, now: u64) -> (f64, f64) {
        let begin = Instant::now();
        let opening = self.time_add(now);
        self.clock.store(now, Ordering::Release);
        while begin.elapsed() < self.bucket {
            for _ in 0..BURST {
                self.ring.add_at(now, 1);
            }
        }
        (opening, self.time_add(now))
    }

    fn measure(&self) -> Measured {
        let mut times = (0..).map(|number| FIRST + number * LENGTH);
        times.by_ref().take(WARM_UP).for_each(|now| _ = self.live(now));
        let mut opening = Vec::with_capacity(self.rotations);
        let mut plain = Vec::with_capacity(self.rotations);
        let before = self.heap.allocations();
        for now in times.take(self.rotations) {
            let (first, last) = self.live(now);
            opening.push(first);
            plain.push(last);
        }
        let allocations = self.heap.allocations() - before;
        self.stop.store(true, Ordering::Relaxed);
        let newest = self.clock.load(Ordering::Relaxed);
        assert!(self.ring.bucket(newest, newest) > 0, "the last bucket was not opened");
        opening.sort_by(f64::total_cmp);
        plain.sort_by(f64::total_cmp);
        Measured { opening, plain, allocations }
    }

    /// Measures on the first core, with `others` writers from the second core on.
    fn run(&self, others: usize) -> Measured {
        thread::scope(|scope| {
            for core in 1..=others {
                scope.spawn(move || {
                    keep_to_core(core);
                    self.write();
                });
            }
            let measuring = scope.spawn(|| {
                keep_to_core(0);
                self.measure()
            });
            measuring.join().expect("the measuring thread panicked")
        })
    }
}

/// One ring beside a number of other writers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The contender.
    pub name: String,
    /// Writers beside the one that opens buckets.
    pub others: usize,
    /// Nanoseconds of an add that opens nothing, timed alone: mostly reading the clock twice.
    pub plain_ns: f64,
    /// Microseconds of a rotation: the median.
    pub median_us: f64,
    /// All but a hundredth take less.
    pub rank_99_us: f64,
    /// The worst.
    pub worst_us: f64,
    /// Allocations for each rotation.
    pub allocations: f64,
}

/// Measures; `heap` is the program's allocator.
pub fn rows(effort: Effort, whom: Whom, heap: &Counting) -> Vec<Row> {
    let rotations = effort.pick(1000, 8000);
    let mut others = vec![0, cores() - 1, cores()];
    others.dedup();
    let takes_part =
        |name| if whom == Whom::Windrow { name == WINDROW } else { name != MUTEX_RING };
    let mut rings: Vec<_> = RINGS.into_iter().filter(|&(name, _)| takes_part(name)).collect();
    rings.insert(1, TIERED);
    let all = others.len() * rings.len();
    let mut progress = Progress::begin("what a rotation costs");
    let mut rows = Vec::new();
    for others in others {
        for (name, make) in &rings {
            progress.step(name, rows.len(), all);
            let ring = make(INTERVAL, BUCKETS);
            let clock = CachePadded::new(AtomicU64::new(FIRST));
            let stop = AtomicBool::new(false);
            let run = Run { ring: &*ring, heap, rotations, bucket: BUCKET, clock, stop };
            let measured = run.run(others);
            rows.push(Row {
                name: (*name).to_owned(),
                others,
                plain_ns: at(&measured.plain, 0.5),
                median_us: measured.rotation(0.5),
                rank_99_us: measured.rotation(0.99),
                worst_us: measured.rotation(1.0),
                allocations: measured.allocations as f64 / rotations as f64,
            });
        }
    }
    progress.end();
    rows
}

/// Shows.
pub fn table(rows: &[Row]) -> Table {
    let heads = [
        "contender",
        "other writers",
        "plain add, timed: ns",
        "rotation, us: median",
        "99 %",
        "worst",
        "allocations each",
    ];
    let mut table = Table::new("rotation", "What a rotation costs its thread", heads);
    for row in rows {
        table.row([
            row.name.clone(),
            row.others.to_string(),
            format!("{:.0}", row.plain_ns),
            format!("{:.2}", row.median_us),
            format!("{:.2}", row.rank_99_us),
            format!("{:.2}", row.worst_us),
            format!("{:.2}", row.allocations),
        ]);
    }
    table
}
