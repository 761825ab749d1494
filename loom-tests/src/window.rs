//! A window for models: times are small numbers, and each thread has its own.

use std::cell::Cell;
use std::time::Duration;

use windrow::{Clock, Events, SlidingWindow, Timestamp, events};

use crate::{engine, turn};

events! {
    /// The events of most models.
    pub enum Hits { Hit: Count }
}

/// A window for models: by default, one that counts hits.
pub type Window<E = Hits> = SlidingWindow<E, Local>;

/// A bucket's length, in nanoseconds.
pub const LENGTH: u64 = 10;

engine::thread_local! {
    #[allow(clippy::missing_const_for_thread_local)] // loom's cannot be one
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

/// Returns a time in a bucket, by its number; not its start.
#[must_use]
pub fn at(bucket: u64) -> Timestamp {
    Timestamp::from_nanos(bucket * LENGTH + 3)
}

/// Sets this thread's time to one in a bucket, by its number.
pub fn set_time(bucket: u64) {
    TIME.with(|time| time.set(at(bucket).as_nanos()));
}

/// Returns the interval of `buckets` buckets.
#[must_use]
pub fn interval(buckets: u64) -> Duration {
    Duration::from_nanos(buckets * LENGTH)
}

/// Returns a window of `buckets` buckets, built at this thread's time.
///
/// # Panics
///
/// If the window cannot be built.
#[must_use]
pub fn window<E: Events>(buckets: u64) -> Window<E> {
    SlidingWindow::<E>::builder()
        .interval(interval(buckets))
        .buckets(usize::try_from(buckets).expect("a few"))
        .clock(Local)
        .build()
        .expect("the geometry is sound")
}

/// Adds hits in a bucket, which this thread's time is set to.
pub fn add(window: &Window, bucket: u64, hits: u64) {
    set_time(bucket);
    turn();
    window.add(Hits::Hit, hits);
}

/// Returns the hits in the interval that ends with a bucket, which this thread's time is set to.
#[must_use]
pub fn sum(window: &Window, bucket: u64) -> u64 {
    set_time(bucket);
    turn();
    window.sum(Hits::Hit)
}

/// Returns the hits in each bucket of that interval, oldest first.
#[must_use]
pub fn each(window: &Window, bucket: u64) -> Vec<u64> {
    set_time(bucket);
    turn();
    window.snapshot().buckets().iter().map(|bucket| bucket.sum(Hits::Hit)).collect()
}

/// Returns all hits ever.
#[must_use]
pub fn lifetime(window: &Window) -> u64 {
    turn();
    window.lifetime(Hits::Hit).sum
}

/// Returns the hits that found their bucket gone.
#[must_use]
pub fn late(window: &Window) -> u64 {
    turn();
    window.late(Hits::Hit).sum
}

/// Changes the geometry to `buckets` buckets of the usual length.
///
/// # Panics
///
/// If the window refuses.
pub fn reconfigure(window: &Window, buckets: u64) {
    turn();
    let count = usize::try_from(buckets).expect("a few");
    window.reconfigure(interval(buckets), count).expect("the geometry is sound");
}
