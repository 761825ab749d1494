//! One counter or window that several threads share: what a strategy is chosen for.
//!
//! Each thread adds, and reads now and then. *Warm*, the figure is the CPU time of a thread for an
//! add, with its share of the reads. *Cold*, the thread reads 512 KiB of other memory before each
//! add, and each add is timed alone; the figure is the mean of the middle half of the times, which
//! a clock of coarse steps needs, less that of timing nothing.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use cpu_time::ThreadTime;
use windrow::{Counter, SlidingWindow};

use crate::took::{WARM_UP, keep_to_core};
use crate::windows::{GivenTime, Http, give_time, given};

/// The bytes that are read before a cold add.
const BETWEEN: usize = 512 * 1024;
/// The bytes of a cache line.
const LINE: usize = 64;

/// A thing that threads share.
trait Target: Sync {
    fn add(&self, n: u64);
    fn sum(&self) -> u64;
}

impl Target for Counter {
    #[inline]
    fn add(&self, n: u64) {
        Counter::add(self, n);
    }

    fn sum(&self) -> u64 {
        Counter::sum(self)
    }
}

impl Target for SlidingWindow<Http, GivenTime> {
    #[inline]
    fn add(&self, n: u64) {
        SlidingWindow::add(self, Http::Pass, n);
    }

    fn sum(&self) -> u64 {
        SlidingWindow::sum(self, Http::Pass)
    }
}

impl Target for AtomicU64 {
    #[inline]
    fn add(&self, n: u64) {
        self.fetch_add(n, Ordering::Relaxed);
    }

    fn sum(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }
}

/// The work of each thread.
#[derive(Clone, Copy)]
struct Work {
    threads: usize,
    /// The number of adds between two reads; zero for no reads.
    between_reads: u64,
    is_cold: bool,
    times: u64,
}

/// Answers `TARGET THREADS BETWEEN_READS COLD TIMES`: nanoseconds of an add, of a thread.
pub(crate) fn answer(words: &[&str]) -> Option<f64> {
    let &[target, threads, between_reads, cold, times] = words else { return None };
    let work = Work {
        threads: threads.parse().ok().filter(|threads| *threads > 0)?,
        between_reads: between_reads.parse().ok()?,
        is_cold: cold == "cold",
        times: times.parse().ok().filter(|times| *times > 0)?,
    };
    match target {
        "counter" => Some(measure(&Counter::new(), work)),
        "window" => Some(measure(&given(), work)),
        "atomic" => Some(measure(&AtomicU64::new(0), work)),
        _ => None,
    }
}

/// Returns the mean of the threads' figures.
fn measure(target: &impl Target, work: Work) -> f64 {
    let begin = Barrier::new(work.threads);
    let target = black_box(target);
    let figures: Vec<f64> = thread::scope(|scope| {
        let (begin, work) = (&begin, &work);
        let run = move |index| {
            keep_to_core(index);
            give_time();
            (0..WARM_UP).for_each(|_| target.add(1));
            begin.wait();
            if work.is_cold { cold(target, *work) } else { warm(target, *work) }
        };
        let threads: Vec<_> =
            (0..work.threads).map(|index| scope.spawn(move || run(index))).collect();
        threads.into_iter().map(|thread| thread.join().expect("a thread that adds")).collect()
    });
    figures.iter().sum::<f64>() / figures.len() as f64
}

fn warm(target: &impl Target, work: Work) -> f64 {
    let (cpu, n) = (ThreadTime::now(), black_box(1));
    match work.times.checked_div(work.between_reads) {
        None => (0..work.times).for_each(|_| target.add(n)),
        Some(reads) => {
            for _ in 0..reads {
                (0..work.between_reads).for_each(|_| target.add(n));
                black_box(target.sum());
            }
        }
    }
    cpu.elapsed().as_nanos() as f64 / work.times as f64
}

fn cold(target: &impl Target, work: Work) -> f64 {
    let other = vec![1_u8; BETWEEN];
    let timed = |add: &dyn Fn()| {
        let times = (0..work.times).map(|_| {
            let read = other.iter().step_by(LINE).fold(0_u8, |all, byte| all.wrapping_add(*byte));
            black_box(read);
            let begin = Instant::now();
            add();
            begin.elapsed().as_nanos() as u64
        });
        let mut times: Vec<u64> = times.collect();
        times.sort_unstable();
        let middle = &times[times.len() / 4..times.len() - times.len() / 4];
        middle.iter().sum::<u64>() as f64 / middle.len() as f64
    };
    timed(&|| target.add(black_box(1))) - timed(&|| _ = black_box(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_is_added_to_by_each_thread() {
        for is_cold in [false, true] {
            let work = Work { threads: 3, between_reads: 10, is_cold, times: 100 };
            let counter = Counter::new();
            measure(&counter, work);
            assert_eq!(counter.sum(), 3 * (WARM_UP + 100));
        }
        for target in ["counter", "window", "atomic"] {
            assert!(answer(&[target, "2", "0", "warm", "1000"]).is_some_and(|nanos| nanos > 0.0));
        }
        assert_eq!(answer(&["counter", "0", "0", "warm", "1000"]), None);
        assert_eq!(answer(&["gauge", "1", "0", "warm", "1000"]), None);
    }
}
