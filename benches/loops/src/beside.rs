//! Adds beside rotations: what a single add takes while another thread opens buckets, and what
//! opening one takes.
//!
//! Two threads have a window of five events and sixty buckets. The *opener* goes on to the next
//! bucket every 100 us; the other adds all the time. The time is virtual and given to each add:
//! only when a bucket is open does the adder see its time, so the opener always opens it. Each add
//! is timed by the wall clock; most of what a short one takes is that clock.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use windrow::SlidingWindow;

use crate::took::keep_to_core;
use crate::windows::{GivenTime, Http, window};

const BUCKETS: u64 = 60;
const LENGTH: u64 = 100_000;
/// The length of a bucket in wall time.
const BUCKET: Duration = Duration::from_micros(100);
/// Rotations before the first that counts: every slot has been used, and used again.
const WARM_UP: u64 = 3 * BUCKETS;
/// The longest time that the histogram distinguishes, in nanoseconds.
const LONGEST: u64 = 10_000_000_000;

/// In this order: nanoseconds of an add, the median; what one add in 10 000 exceeds; the worst;
/// nanoseconds of opening a bucket, the median; the worst; and allocations for each rotation, of
/// all threads.
pub(crate) type Found = [f64; 6];

type Window = SlidingWindow<Http, GivenTime>;

/// The state shared by the threads.
struct Shared {
    window: Window,
    clock: AtomicU64,
    /// The adder's times count.
    counts: AtomicBool,
    stop: AtomicBool,
}

impl Shared {
    fn add(&self, at: u64) -> u64 {
        GivenTime::set(at);
        let begin = Instant::now();
        self.window.add(Http::Pass, 1);
        begin.elapsed().as_nanos() as u64
    }

    fn adder(&self) -> Histogram<u64> {
        let mut times = times();
        while !self.stop.load(Ordering::Relaxed) {
            let time = self.add(self.clock.load(Ordering::Acquire));
            if self.counts.load(Ordering::Relaxed) {
                times.saturating_record(time);
            }
        }
        times
    }

    /// Opens `rotations` buckets.
    fn open(&self, rotations: u64, times: &mut Histogram<u64>) {
        for _ in 0..rotations {
            let begin = Instant::now();
            let next = self.clock.load(Ordering::Relaxed) + LENGTH;
            times.saturating_record(self.add(next));
            self.clock.store(next, Ordering::Release);
            while begin.elapsed() < BUCKET {
                std::hint::spin_loop();
            }
        }
    }

    fn opener(&self, rotations: u64) -> (Histogram<u64>, u64) {
        let mut times = times();
        self.open(WARM_UP, &mut times);
        times.reset();
        self.counts.store(true, Ordering::Relaxed);
        let before = HEAP.0.load(Ordering::Relaxed);
        self.open(rotations, &mut times);
        let allocations = HEAP.0.load(Ordering::Relaxed) - before;
        self.stop.store(true, Ordering::Relaxed);
        (times, allocations)
    }
}

/// With room for every time, so that nothing is allocated later.
fn times() -> Histogram<u64> {
    Histogram::new_with_max(LONGEST, 3).expect("sound bounds")
}

/// Runs it.
pub(crate) fn run(rotations: u64) -> Found {
    let first = LENGTH * BUCKETS;
    GivenTime::set(first);
    let interval = Duration::from_nanos(LENGTH * BUCKETS);
    let shared = Shared {
        window: window(interval, BUCKETS as usize, GivenTime),
        clock: AtomicU64::new(first),
        counts: AtomicBool::new(false),
        stop: AtomicBool::new(false),
    };
    let (adds, (opened, allocations)) = thread::scope(|scope| {
        let adder = scope.spawn(|| {
            keep_to_core(1);
            shared.adder()
        });
        let opener = scope.spawn(|| {
            keep_to_core(0);
            shared.opener(rotations)
        });
        (adder.join().expect("an adder"), opener.join().expect("an opener"))
    });
    [
        adds.value_at_percentile(50.0) as f64,
        adds.value_at_percentile(99.99) as f64,
        adds.max() as f64,
        opened.value_at_percentile(50.0) as f64,
        opened.max() as f64,
        allocations as f64 / rotations.max(1) as f64,
    ]
}

/// The system's allocator, and the number of its allocations.
struct Counting(AtomicU64);

#[global_allocator]
static HEAP: Counting = Counting(AtomicU64::new(0));

// SAFETY: every call is passed to the system's allocator as it is; the number beside it is an
// atomic, which allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.0.fetch_add(1, Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_is_in_order() {
        let [median, rank, worst, opening, longest, _] = run(50);
        assert!(median <= rank && rank <= worst && opening <= longest);
        assert!(median > 0.0 && opening > 0.0, "nothing was measured");
    }
}
