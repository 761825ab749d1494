//! The parts that races on windows share: a clock that each thread sets for itself, and a window on
//! it.
//!
//! So an actor decides which bucket its add names, whatever the others do; a trial's times are far
//! beyond those of the trial before, so that its buckets are new.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windrow::kind::EventKind;
use windrow::{Clock, Event, SlidingWindow, Stats, Timestamp};

windrow::events! {
    /// One of each kind.
    pub(crate) enum Seen { Pass: Count, Rt: Value }
}

/// The length of a bucket, in nanoseconds.
pub(crate) const LENGTH: u64 = 10;
/// From one turn to the next: longer than any ring here, and a multiple of every length.
const STRIDE: u64 = 100 * LENGTH;

thread_local! {
    static TOLD: Cell<u64> = const { Cell::new(0) };
}

/// A clock that shows each thread the time that the thread has set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Told;

impl Clock for Told {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(TOLD.get())
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns when a turn begins.
pub(crate) fn begin(turn: u64) -> u64 {
    (turn + 1) * STRIDE
}

/// A window, and the sum of the adds of threads that keep no results.
pub(crate) struct Window {
    pub(crate) window: SlidingWindow<Seen, Told>,
    expected: AtomicU64,
}

impl Window {
    pub(crate) fn new(buckets: u32) -> Window {
        TOLD.set(0);
        let window = SlidingWindow::<Seen>::builder()
            .interval(Duration::from_nanos(LENGTH) * buckets)
            .buckets(buckets as usize)
            .clock(Told)
            .build()
            .expect("a valid window");
        Window { window, expected: AtomicU64::new(0) }
    }

    /// Returns the window as it is at a time.
    pub(crate) fn at(&self, time: u64) -> &SlidingWindow<Seen, Told> {
        TOLD.set(time);
        &self.window
    }

    /// Returns what the bucket at `start` holds.
    pub(crate) fn bucket<K: EventKind>(&self, start: u64, event: Event<Seen, K>) -> Stats {
        self.at(start + LENGTH).previous().stats(event)
    }

    /// Says which of the buckets does not hold the number of passes that it should, the first
    /// number being that of the bucket at `start`; and whether it is too little.
    pub(crate) fn compare(&self, start: u64, passes: &[u64]) -> Result<(), (bool, String)> {
        for (index, expected) in (0..).zip(passes) {
            let found = self.bucket(start + index * LENGTH, Seen::Pass).sum;
            if found != *expected {
                let text = format!("bucket {index} has {found} instead of {expected}");
                return Err((found < *expected, text));
            }
        }
        Ok(())
    }

    /// Records the passes added since the last call, and returns an error if the window's lifetime
    /// disagrees.
    pub(crate) fn compare_lifetime(&self, passes: u64) -> Result<(), String> {
        let expected = self.expected.fetch_add(passes, Ordering::Relaxed) + passes;
        let found = self.window.lifetime(Seen::Pass).sum;
        if found == expected {
            return Ok(());
        }
        Err(format!("the lifetime is {found} instead of {expected}"))
    }
}
