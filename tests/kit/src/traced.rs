//! A clock that records for each thread the times that it returned.

use std::cell::Cell;
use std::time::Duration;

use windrow::{Clock, Timestamp};

thread_local! {
    static READS: Cell<u64> = const { Cell::new(0) };
    static LAST: Cell<u64> = const { Cell::new(0) };
}

/// Wraps a clock and records, for each thread, the time that it last returned.
///
/// An add that reads the clock while others move it counts in a bucket that its caller cannot name;
/// with this the caller can.
#[derive(Clone, Debug, Default)]
pub struct Traced<C>(pub C);

impl<C: Clock> Clock for Traced<C> {
    fn now(&self) -> Timestamp {
        let now = self.0.now();
        READS.set(READS.get() + 1);
        LAST.set(now.as_nanos());
        now
    }

    fn resolution(&self) -> Duration {
        self.0.resolution()
    }
}

/// Runs `add` and returns the one time that it read from a [`Traced`] clock.
pub fn time_of(add: impl FnOnce()) -> u64 {
    let before = READS.get();
    add();
    assert_eq!(READS.get() - before, 1, "an add has one timestamp, so it reads the clock once");
    LAST.get()
}
