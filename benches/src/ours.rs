//! windrow as a contender: the only file of this crate's library that names its types.

use std::cell::Cell;
use std::time::Duration;

use windrow::{Clock, Counter, SlidingWindow, Timestamp};

use crate::harness::{Contender, Rival};
use crate::rivals::counters::{atomic, locked_add, pinned_add, plain_add};
use crate::rivals::{self, EVENTS, Ring};

windrow::events! {
    /// What one endpoint counts. Only `Pass` is counted here.
    pub enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}

const _: () = assert!(<Http as windrow::Event>::EVENTS.len() == EVENTS);

impl Rival for Counter {
    #[inline]
    fn add(&self, n: u64) {
        Counter::add(self, n);
    }

    #[inline]
    fn sum(&self) -> u64 {
        Counter::sum(self)
    }
}

impl<C: Clock + Send + Sync> Rival for SlidingWindow<Http, C> {
    #[inline]
    fn add(&self, n: u64) {
        SlidingWindow::add(self, Http::Pass, n);
    }

    #[inline]
    fn sum(&self) -> u64 {
        SlidingWindow::sum(self, Http::Pass)
    }
}

/// The name of windrow's contenders, counters and windows.
pub const WINDROW: &str = "windrow";

/// A windrow counter, fresh.
pub fn counter() -> Contender {
    Contender::new(WINDROW, Counter::new())
}

/// A windrow window on `clock`, fresh.
///
/// # Panics
/// If windrow does not take `interval` and `buckets`.
pub fn window<C>(interval: Duration, buckets: usize, clock: C) -> Contender
where
    C: Clock + Send + Sync + 'static,
{
    Contender::new(WINDROW, build(interval, buckets, clock))
}

fn build<C: Clock>(interval: Duration, buckets: usize, clock: C) -> SlidingWindow<Http, C> {
    let window = SlidingWindow::<Http>::builder().interval(interval).buckets(buckets).clock(clock);
    window.build().expect("the benches' settings are valid")
}

/// A windrow counter and every rival, fresh.
pub fn counters() -> Vec<Contender> {
    let mut contenders = vec![counter()];
    contenders.extend(rivals::counters::all());
    contenders
}

/// A windrow window and every rival window, fresh, on the same `clock`.
///
/// # Panics
/// If windrow does not take `interval` and `buckets`.
pub fn windows<C>(interval: Duration, buckets: usize, clock: &C) -> Vec<Contender>
where
    C: Clock + Clone + Send + Sync + 'static,
{
    let nanos = u64::try_from(interval.as_nanos()).expect("a short interval");
    let mut contenders = vec![window(interval, buckets, clock.clone())];
    let clock = clock.clone();
    contenders.extend(rivals::windows(nanos, buckets, move || clock.now().as_nanos()));
    contenders
}

/// Without clock or window: the floor, what contention costs, and the yardstick of portable
/// windows.
pub fn yardsticks() -> Vec<Contender> {
    vec![plain_add(), locked_add(), atomic(), pinned_add()]
}

/// A clock that shows each thread the time which that thread was given. So a test knows the time
/// of each of its adds, and the adds still take the ordinary way.
struct GivenTime;

thread_local!(static GIVEN: Cell<u64> = const { Cell::new(0) });

impl Clock for GivenTime {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(GIVEN.get())
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// A windrow window as a ring whose time the caller gives.
pub struct GivenTimeWindow(SlidingWindow<Http, GivenTime>);

impl GivenTimeWindow {
    /// `buckets` equal buckets over `interval` nanoseconds.
    pub fn new(interval: u64, buckets: usize) -> GivenTimeWindow {
        GIVEN.set(0); // the new window asks for the time, and must not see another test's
        GivenTimeWindow(build(Duration::from_nanos(interval), buckets, GivenTime))
    }

    /// Everything ever added, and that part of it which found its bucket gone.
    pub fn lifetime_and_late(&self) -> (u64, u64) {
        (self.0.lifetime(Http::Pass).sum, self.0.late(Http::Pass).sum)
    }
}

impl Ring for GivenTimeWindow {
    #[inline]
    fn add_at(&self, now: u64, n: u64) -> bool {
        GIVEN.set(now);
        self.0.add(Http::Pass, n);
        true
    }

    fn bucket(&self, now: u64, start: u64) -> u64 {
        GIVEN.set(now);
        let snapshot = self.0.snapshot();
        let mut buckets = snapshot.buckets().iter();
        let bucket = buckets.find(|bucket| bucket.start().as_nanos() == start);
        bucket.map_or(0, |bucket| bucket.sum(Http::Pass))
    }

    fn sum_at(&self, now: u64) -> u64 {
        GIVEN.set(now);
        self.0.sum(Http::Pass)
    }
}

#[cfg(test)]
mod tests {
    use windrow::clock::Manual;

    use super::*;

    #[test]
    fn every_window_counts() {
        let clock = Manual::default();
        clock.set(Timestamp::from_nanos(1000));
        for Contender { name, rival } in windows(Duration::from_nanos(200), 2, &clock) {
            clock.set(Timestamp::from_nanos(1000));
            rival.add(2);
            clock.advance(Duration::from_nanos(100));
            rival.add_many(40);
            assert_eq!(rival.sum(), 42, "{name}");
            rival.add_many_after(1, &|| clock.advance(Duration::from_nanos(100)));
            assert_eq!(rival.sum(), 41, "{name}");
        }
    }

    #[test]
    fn the_given_time_is_used() {
        let window = GivenTimeWindow::new(200, 2);
        window.add_at(1000, 3);
        window.add_at(1150, 4);
        assert_eq!(window.bucket(1150, 1000), 3);
        assert_eq!(window.bucket(1150, 1100), 4);
        window.add_at(900, 5);
        assert_eq!(window.lifetime_and_late(), (12, 5));
        assert_eq!(window.sum_at(1150), 7);
    }
}
