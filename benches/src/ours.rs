//! windrow as a contender: here alone, and in `ours/`, this crate's library names windrow's types.

pub mod labelled;

use std::cell::Cell;
use std::hint::black_box;
use std::time::Duration;

use windrow::clock::{Coarse, Manual};
use windrow::{Clock, Counter, SlidingWindow, Timestamp};

use crate::harness::{Contender, Rival, cores, rival, time_adds};
use crate::rivals::cas_ring::CasRing;
use crate::rivals::counters::COARSE_READ;
use crate::rivals::epoch_ring::EpochRing;
use crate::rivals::leap_array::LeapArray;
use crate::rivals::mutex_ring::MutexRing;
use crate::rivals::{self, CAS_RING, EPOCH_RING, EVENTS, LEAP_ARRAY, MUTEX_RING, Ring};

windrow::events! {
    /// The events of one endpoint. Only `Pass` is counted here.
    pub enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}

const _: () = assert!(<Http as windrow::Events>::EVENTS.len() == EVENTS);

rival! { Counter:
    add(self, n) => Counter::add(self, n);
    sum(self) => Counter::sum(self);
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

/// Returns a windrow window on `clock`, fresh.
///
/// # Panics
/// If windrow does not take `interval` and `buckets`.
pub fn window<C>(interval: Duration, buckets: usize, clock: C) -> Contender
where
    C: Clock + Send + Sync + 'static,
{
    Contender::new(WINDROW, build(interval, buckets, &[], clock))
}

/// The tiers of a window: the length of a bucket in the window's, and the number of buckets.
const TIERS: [(u32, usize); 4] = [(10, 60), (100, 60), (1000, 24), (24_000, 30)];

fn build<C: Clock>(
    interval: Duration,
    buckets: usize,
    tiers: &[(u32, usize)],
    clock: C,
) -> SlidingWindow<Http, C> {
    let length = interval / buckets as u32;
    let mut window = SlidingWindow::builder().interval(interval).buckets(buckets).clock(clock);
    for &(times, buckets) in tiers {
        window = window.tier(length * times, buckets);
    }
    window.build().expect("the benches' settings are valid")
}

/// Returns windrow's windows of a second without tiers and with four, fresh, on `clock`.
///
/// # Panics
/// Never: the settings are sound.
pub fn tiered<C: Clock + Clone + Send + Sync + 'static>(clock: &C) -> Vec<Contender> {
    let of = |tiers| build(Duration::from_secs(1), 10, tiers, clock.clone());
    vec![Contender::new("windrow, no tiers", of(&[])), Contender::new(TIERED.0, of(&TIERS))]
}

/// Returns a windrow counter and every rival, fresh.
pub fn counters() -> Vec<Contender> {
    let mut contenders = vec![Contender::new(WINDROW, Counter::new())];
    contenders.extend(rivals::counters::all());
    contenders
}

/// Returns a windrow window and every rival window, fresh, on the same `clock`.
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

/// The length of a bucket of [`full_windows`]. The clock stands still there, so any length will do.
const FULL_LENGTH: Duration = Duration::from_millis(500);

/// Returns windrow's window, and a ring that keeps stripes in each bucket. One thread for each core
/// has added to each bucket of them. The clock stands still in the newest bucket.
///
/// # Panics
/// If windrow does not take that many buckets.
pub fn full_windows(buckets: u32) -> Vec<Contender> {
    let clock = Manual::default();
    let mut contenders = windows(FULL_LENGTH * buckets, buckets as usize, &clock);
    contenders.truncate(2);
    for bucket in 0..buckets {
        clock.set(Timestamp::from_millis(0) + FULL_LENGTH * (1000 + bucket));
        for contender in &contenders {
            time_adds(&*contender.rival, cores(), 1);
        }
    }
    contenders
}

/// Reads the coarse clock and counts nothing.
struct CoarseRead;

rival! { CoarseRead:
    add(self, _n) => black_box(Coarse::default().now());
    sum(self) => 0;
}

/// One read of the coarse clock instead of an add: what every window on that clock needs.
pub fn coarse_read() -> Contender {
    Contender::new(COARSE_READ, CoarseRead)
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
        GivenTimeWindow::with(interval, buckets, &[])
    }

    fn with(interval: u64, buckets: usize, tiers: &[(u32, usize)]) -> GivenTimeWindow {
        GIVEN.set(0); // the new window asks for the time, and must not see another test's
        GivenTimeWindow(build(Duration::from_nanos(interval), buckets, tiers, GivenTime))
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

    fn exact(&self, added: u64) -> Option<bool> {
        Some(self.lifetime_and_late() == (added, 0))
    }
}

/// Makes a ring of an interval in nanoseconds, with a number of equal buckets.
pub type MakeRing = fn(u64, usize) -> Box<dyn Ring>;

/// A windrow window with four tiers. A bucket of each is as long as ten or more of the one before.
pub const TIERED: (&str, MakeRing) = ("windrow, 4 tiers", |interval, buckets| {
    Box::new(GivenTimeWindow::with(interval, buckets, &TIERS))
});

/// The constructors of a windrow window and of each rival ring, with their names in tables; windrow
/// first, the control last.
pub const RINGS: [(&str, MakeRing); 5] = [
    (WINDROW, |interval, buckets| Box::new(GivenTimeWindow::new(interval, buckets))),
    (LEAP_ARRAY, |interval, buckets| Box::new(LeapArray::new(interval, buckets))),
    (CAS_RING, |interval, buckets| Box::new(CasRing::new(interval, buckets))),
    (EPOCH_RING, |interval, buckets| Box::new(EpochRing::new(interval, buckets))),
    (MUTEX_RING, |interval, buckets| Box::new(MutexRing::new(interval, buckets))),
];

#[cfg(test)]
mod tests {
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
            clock.advance(Duration::from_nanos(100));
            rival.add(1);
            assert_eq!(rival.sum(), 41, "{name}");
        }
    }

    #[test]
    fn every_bucket_of_a_full_window_is_full() {
        let rival = &full_windows(4)[0].rival; // the one that loses nothing when buckets change
        let full = rival.sum();
        time_adds(&**rival, cores(), 1);
        assert_eq!(full, 4 * (rival.sum() - full));
    }

    #[test]
    fn windows_with_tiers_count() {
        for Contender { name, rival } in tiered(&Manual::default()) {
            rival.add_many(42);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }

    #[test]
    fn every_ring_counts() {
        for (name, make) in RINGS.into_iter().chain([TIERED]) {
            let ring = make(2000, 20);
            assert!(ring.add_at(1000, 3) && ring.add_at(1100, 4), "{name}");
            assert_eq!((ring.bucket(1100, 1000), ring.sum_at(1100)), (3, 7), "{name}");
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
