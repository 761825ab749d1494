//! What a rotation costs the writer who makes it: the one add that opens a bucket, timed alone, less
//! the median of an add that opens none. In a window of five events and sixty buckets, by a writer
//! alone, beside a writer on each other core, and beside a writer on each core.
//!
//! The time is virtual. The measured writer goes on to the next bucket, and only when that is open
//! are the others shown the new time, so it is always he who pays. What they add in between goes
//! to the bucket that has just been displaced.
//!
//! Options: `--rotations` per contender (20 000); `--bucket`, how long a bucket is in microseconds of
//! wall time (100).
//!
//! Where windrow counts per core, a second process with `WINDROW_STRATEGY=portable` follows, for
//! windrow alone: its rivals know no strategies.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use windrow_benches::harness::{cores, keep_to_core};
use windrow_benches::heap::Counting;
use windrow_benches::ours::{MakeRing, RINGS, WINDROW};
use windrow_benches::rivals::{MUTEX_RING, Ring};
use windrow_benches::terminal;

#[global_allocator]
static HEAP: Counting = Counting::new();

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
/// Adds that are made between two looks at the wall clock.
const BURST: usize = 16;
/// What the median may come to, in microseconds (T8).
const MOST: f64 = 15.0;

/// What a run found: sorted, in nanoseconds of wall time.
struct Measured {
    /// Adds that opened a bucket.
    opening: Vec<f64>,
    /// Adds that did not.
    plain: Vec<f64>,
    /// What all threads allocated meanwhile.
    allocations: usize,
}

impl Measured {
    /// What the rotation of rank `rank` took, from 0 for the shortest to 1 for the longest, in
    /// microseconds.
    fn rotation(&self, rank: f64) -> f64 {
        (at(&self.opening, rank) - at(&self.plain, 0.5)) / 1000.0
    }
}

/// The figure of rank `rank`, from 0 to 1, in a sorted list.
#[allow(clippy::cast_sign_loss)]
fn at(sorted: &[f64], rank: f64) -> f64 {
    sorted[((sorted.len() - 1) as f64 * rank) as usize]
}

/// A ring, and the writers on it.
struct Run<'a> {
    ring: &'a dyn Ring,
    /// How many rotations, and how long apart.
    rotations: usize,
    bucket: Duration,
    /// The time that the others go by.
    clock: CachePadded<AtomicU64>,
    stop: AtomicBool,
}

impl Run<'_> {
    /// Adds until told to stop.
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

    /// Opens the bucket at `now`, adds to it for as long as it lives, and returns what the first and
    /// the last add took.
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
        let before = HEAP.allocations();
        for now in times.take(self.rotations) {
            let (first, last) = self.live(now);
            opening.push(first);
            plain.push(last);
        }
        let allocations = HEAP.allocations() - before;
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

/// One row of the table.
fn measure(
    (name, make): (&str, MakeRing),
    others: usize,
    rotations: usize,
    bucket: Duration,
) -> Vec<String> {
    eprintln!("{name}, {others} other writers, {rotations} rotations {bucket:?} apart ...");
    let ring = make(INTERVAL, BUCKETS);
    let clock = CachePadded::new(AtomicU64::new(FIRST));
    let run = Run { ring: &*ring, rotations, bucket, clock, stop: AtomicBool::new(false) };
    let measured = run.run(others);
    let median = measured.rotation(0.5);
    let verdict = match name {
        WINDROW if median <= MOST => "met",
        WINDROW => "missed",
        _ => "-",
    };
    vec![
        name.into(),
        others.to_string(),
        format!("{:.0}", at(&measured.plain, 0.5)),
        format!("{median:.2}"),
        format!("{:.2}", measured.rotation(0.99)),
        format!("{:.2}", measured.rotation(1.0)),
        format!("{:.2}", measured.allocations as f64 / rotations as f64),
        verdict.into(),
    ]
}

fn main() -> ExitCode {
    let rotations = terminal::option("--rotations", 20_000).max(1) as usize;
    let bucket = Duration::from_micros(terminal::option("--bucket", 100));
    terminal::print_caption("rotation");
    let portable = std::env::var("WINDROW_STRATEGY").is_ok_and(|name| name == "portable");
    let takes_part = |name| name == WINDROW || (!portable && name != MUTEX_RING);
    let mut others = vec![0, cores() - 1, cores()];
    others.dedup();
    let mut rows = Vec::new();
    for others in others {
        let taking_part = RINGS.into_iter().filter(|&(name, _)| takes_part(name));
        rows.extend(taking_part.map(|ring| measure(ring, others, rotations, bucket)));
    }
    let heads = [
        "contender",
        "other writers",
        "plain add, timed: ns",
        "rotation, us: median",
        "99 %",
        "worst",
        "allocations each",
        "T8: median at most 15 us",
    ];
    terminal::print_table(&heads, &rows);
    terminal::repeat_portable()
}
