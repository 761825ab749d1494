//! A window for models: times are small numbers, and each thread has its own.

use std::cell::Cell;
use std::time::Duration;

use crate::turn;
use windrow::{Clock, SlidingWindow, Timestamp, events};

events! {
    /// What a model counts.
    pub enum Event { Hit: Count }
}

/// A window in which a bucket is [`LENGTH`] nanoseconds long.
pub type Window = SlidingWindow<Event, Local>;

/// A bucket's length.
const LENGTH: u64 = 10;

loom::thread_local! {
    static TIME: Cell<u64> = Cell::new(0);
}

/// A clock that shows each thread what that thread has [set](set_time): as far as others can tell,
/// it leaps and steps back.
#[derive(Clone, Copy, Debug)]
pub struct Local;

impl Clock for Local {
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(TIME.with(Cell::get))
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// A time in the bucket with a number, one that is not its start.
#[must_use]
pub fn at(bucket: u64) -> Timestamp {
    Timestamp::from_nanos(bucket * LENGTH + 3)
}

/// Sets this thread's time to one in the bucket with a number, and takes a [turn].
pub fn set_time(bucket: u64) {
    turn();
    TIME.with(|time| time.set(at(bucket).as_nanos()));
}

/// The interval of so many buckets.
#[must_use]
pub fn interval(buckets: u64) -> Duration {
    Duration::from_nanos(buckets * LENGTH)
}

/// A window of so many buckets, built at this thread's time.
///
/// # Panics
///
/// If the window cannot be built.
#[must_use]
pub fn window(buckets: u64) -> Window {
    SlidingWindow::builder()
        .interval(interval(buckets))
        .buckets(usize::try_from(buckets).expect("a few"))
        .clock(Local)
        .build()
        .expect("the geometry is sound")
}
