//! The loss test: the adds to each bucket, against its sum once it is closed.
//!
//! Writers share a virtual clock that they push on themselves, one bucket at a time, after a given
//! number of adds (the pace). Each keeps a ledger of its adds by bucket. A writer that is about to
//! open a bucket first reads the one that is half a ring old, compares it with the ledgers, and
//! only then pushes the clock: so every bucket is read exactly once, long after it closed and long
//! before its slot is used again. (Reading it just before its slot is used again would bring its
//! lines to the very core that resets it next, and shorten the reset.)
//!
//! Fair to all: a writer announces the time of its next add before it adds, and the clock does not
//! move on while any writer is still busy in the bucket that is to be read. So no add ever comes
//! too late for its bucket, no bucket is reset under an add of its own, and a read misses nothing
//! in flight. What remains is the one question: does an add to a bucket that is just being opened
//! survive the opening?

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use serde::{Deserialize, Serialize};

use crate::harness::keep_to_core;
use crate::rivals::Ring;

/// A bucket's length in nanoseconds of the virtual clock.
pub const LENGTH: u64 = 100_000;
/// Buckets in every ring.
pub const BUCKETS: usize = 8;
/// A ring's interval in nanoseconds of the virtual clock.
pub const INTERVAL: u64 = LENGTH * BUCKETS as u64;
/// The age of a bucket when it is read, from start to start.
const READ_AGE: u64 = INTERVAL / 2;
/// The first bucket's start. Not zero, which some rings take for "nothing yet".
const FIRST: u64 = INTERVAL;

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Buckets opened after the first.
    pub rotations: u64,
    /// Everything that the writers added.
    pub added: u64,
    /// The sum that was missing, over all buckets with missing adds.
    pub lost: u64,
    /// The sum of the excess, over all buckets with too large a sum.
    pub doubled: u64,
    /// The time for which the writers ran.
    pub elapsed: Duration,
}

impl Tally {
    fn compare(&mut self, added: u64, found: u64) {
        self.added += added;
        self.lost += added.saturating_sub(found);
        self.doubled += found.saturating_sub(added);
    }
}

/// The state of a writer that the thread which pushes the clock sees.
#[derive(Default)]
struct Writer {
    /// The time of the add that it is busy with, or is about to make.
    at: AtomicU64,
    /// Its adds by bucket; written by itself, and cleared by the harvest of a bucket that it has
    /// long left.
    ledger: [AtomicU64; BUCKETS],
}

/// Returns the ledgers' slot for a bucket.
fn slot(time: u64) -> usize {
    (time / LENGTH) as usize % BUCKETS
}

struct Run<'a> {
    ring: &'a dyn Ring,
    clock: CachePadded<AtomicU64>,
    stop: AtomicBool,
    writers: Vec<CachePadded<Writer>>,
    /// Held by the writer that pushes the clock.
    tally: Mutex<Tally>,
}

impl Run<'_> {
    /// Reads the bucket at `start` and compares it with the ledgers. For the lock's holder, once
    /// all writers have left that bucket.
    fn harvest(&self, tally: &mut Tally, now: u64, start: u64) {
        let take =
            |writer: &CachePadded<Writer>| writer.ledger[slot(start)].swap(0, Ordering::Relaxed);
        let added = self.writers.iter().map(take).sum();
        tally.compare(added, self.ring.bucket(now, start));
    }

    /// Opens the next bucket, unless another writer is doing it or a writer is too far behind.
    fn push(&self) {
        let Ok(mut tally) = self.tally.try_lock() else {
            return;
        };
        let now = self.clock.load(Ordering::Relaxed);
        let next = now + LENGTH;
        let old = next - READ_AGE;
        // Acquire: pairs with the Release of `at`. A writer seen beyond the bucket has finished
        // its adds there, and they and its ledger are visible.
        let inside =
            |writer: &CachePadded<Writer>| writer.at.load(Ordering::Acquire) < old + LENGTH;
        if self.writers.iter().any(inside) {
            drop(tally);
            thread::yield_now();
            return;
        }
        if old >= FIRST {
            self.harvest(&mut tally, now, old);
        }
        tally.rotations += 1;
        // Release: pairs with the Acquire in `write`; the ledgers' slot is empty again.
        self.clock.store(next, Ordering::Release);
    }

    /// Adds until the stop flag is set, and tries to open a bucket after each `pace` adds to one.
    #[inline]
    fn write(&self, writer: &Writer, pace: u64) {
        let (mut last, mut in_bucket) = (0, 0);
        while !self.stop.load(Ordering::Relaxed) {
            let now = self.clock.load(Ordering::Acquire);
            if now != last {
                (last, in_bucket) = (now, 0);
                writer.at.store(now, Ordering::Release);
            }
            if self.ring.add_at(now, 1) {
                let entry = &writer.ledger[slot(now)];
                entry.store(entry.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
            }
            in_bucket += 1;
            if in_bucket >= pace {
                self.push();
            }
        }
        writer.at.store(u64::MAX, Ordering::Release);
    }
}

/// Runs `threads` writers on `ring` for `length`; each tries to open a bucket once it has made
/// `pace` adds to the one before.
///
/// # Panics
/// If the ring panics.
pub fn run(ring: &dyn Ring, threads: usize, pace: u64, length: Duration) -> Tally {
    let run = Run {
        ring,
        clock: CachePadded::new(AtomicU64::new(FIRST)),
        stop: AtomicBool::new(false),
        writers: (0..threads).map(|_| CachePadded::default()).collect(),
        tally: Mutex::default(),
    };
    let begin = Instant::now();
    thread::scope(|scope| {
        let run = &run;
        for (index, writer) in run.writers.iter().enumerate() {
            scope.spawn(move || {
                keep_to_core(index);
                run.write(writer, pace);
            });
        }
        thread::sleep(length);
        run.stop.store(true, Ordering::Relaxed);
    });
    let mut tally = *run.tally.lock().expect("no writer panicked");
    tally.elapsed = begin.elapsed();
    let now = run.clock.load(Ordering::Relaxed);
    let unread = (now + LENGTH - READ_AGE).max(FIRST);
    for start in (unread..=now).step_by(LENGTH as usize) {
        run.harvest(&mut tally, now, start);
    }
    tally
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rivals::mutex_ring::MutexRing;

    const SHORT: Duration = Duration::from_millis(100);

    #[test]
    fn a_right_ring_loses_nothing() {
        let tally = run(&MutexRing::new(INTERVAL, BUCKETS), 3, 50, SHORT);
        assert!(tally.rotations > BUCKETS as u64 && tally.added > 0, "{tally:?}");
        assert_eq!((tally.lost, tally.doubled), (0, 0), "{tally:?}");
    }

    /// Counts every third add twice and every fourth not at all.
    struct Wrong(MutexRing, AtomicU64);

    impl Ring for Wrong {
        fn add_at(&self, now: u64, n: u64) -> bool {
            match self.1.fetch_add(1, Ordering::Relaxed) {
                step if step % 4 == 0 => true,
                step if step % 3 == 0 => self.0.add_at(now, 2 * n),
                _ => self.0.add_at(now, n),
            }
        }

        fn bucket(&self, now: u64, start: u64) -> u64 {
            self.0.bucket(now, start)
        }

        fn sum_at(&self, now: u64) -> u64 {
            self.0.sum_at(now)
        }
    }

    /// One bucket in which adds are both lost and doubled shows the difference; with a pace of one
    /// and one writer a bucket holds one add, so both show in full.
    #[test]
    fn a_wrong_ring_is_found_out() {
        let ring = Wrong(MutexRing::new(INTERVAL, BUCKETS), AtomicU64::new(0));
        let tally = run(&ring, 1, 1, SHORT);
        assert!(tally.rotations > BUCKETS as u64, "{tally:?}");
        assert!(tally.lost.abs_diff(tally.added / 4) <= 1, "{tally:?}");
        assert!(tally.doubled.abs_diff(tally.added / 4) <= 1, "{tally:?}");
    }
}
