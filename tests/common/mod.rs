//! What several test programs share: times, windows on a manual clock, threads, random numbers.
#![allow(dead_code, reason = "each test program uses a part of this")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Event, SlidingWindow, Timestamp};

pub(crate) mod alone;
#[cfg(target_os = "linux")]
pub(crate) mod interrupts;
pub(crate) mod ledger;
pub(crate) mod pinned;
pub(crate) mod traced;

/// A moment, in milliseconds.
pub(crate) fn at(millis: u64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A moment, in nanoseconds.
pub(crate) fn at_ns(nanos: u64) -> Timestamp {
    Timestamp::from_nanos(nanos)
}

/// A span, in milliseconds.
pub(crate) fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A span, in nanoseconds.
pub(crate) fn ns(nanos: u64) -> Duration {
    Duration::from_nanos(nanos)
}

/// A manual clock that shows `millis`.
pub(crate) fn clock_at(millis: u64) -> Manual {
    let clock = Manual::default();
    clock.set(at(millis));
    clock
}

/// A window of `buckets` buckets of `length` each, on a clone of `clock`.
pub(crate) fn window<E: Event>(
    length: Duration,
    buckets: u32,
    clock: &Manual,
) -> SlidingWindow<E, Manual> {
    SlidingWindow::<E>::builder()
        .interval(length * buckets)
        .buckets(buckets as usize)
        .clock(clock.clone())
        .build()
        .expect("a valid window")
}

/// Runs `body(0)` to `body(threads - 1)` on threads of their own, all started at once.
pub(crate) fn race(threads: usize, body: impl Fn(usize) + Sync) {
    let barrier = Barrier::new(threads);
    thread::scope(|scope| {
        for index in 0..threads {
            let (barrier, body) = (&barrier, &body);
            scope.spawn(move || {
                barrier.wait();
                body(index);
            });
        }
    });
}

/// Says that the others may stop, when it goes: also when a panic takes it away, so that a failed
/// test ends.
pub(crate) struct Finish<'a>(pub(crate) &'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// A small generator of random numbers (`SplitMix64`): the same seed, the same numbers.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `limit`.
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// True once in `times`.
    pub(crate) fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
