//! The clocks of the library beside the system's: their speed, and the steps that they take.

use std::collections::BTreeSet;
use std::mem;
use std::thread;
use std::time::{Duration, Instant};

use testkit::{Rng, ms, ns};
use windrow::clock::Precise;
use windrow::{BuildError, Clock, SlidingWindow, Timestamp};

windrow::events! { enum Seen { Pass: Count } }

/// A reading of a clock, between two of the system's.
fn reading(clock: &impl Clock) -> (Instant, Timestamp, Instant) {
    (Instant::now(), clock.now(), Instant::now())
}

/// `Instant` is the system's monotonic clock, too. So a span by the clock is at least the one that
/// lies within it, and at most the one around it, to the nanosecond, however long it takes. A clock
/// of a speed of its own leaves that range as soon as it is wrong by more than a reading takes.
#[test]
fn precise_has_the_speed_of_the_systems_clock() {
    let clock = Precise::default();
    let (before, first, after) = reading(&clock);
    for pause in [0, 1, 10, 100, 1_000] {
        thread::sleep(ms(pause));
        let (later, second, last) = reading(&clock);
        let (within, around) = (later - after, last - before);
        let span = second - first;
        assert!((within..=around).contains(&span), "{span:?}, not {within:?} to {around:?}");
    }
}

#[test]
fn all_precise_clocks_show_one_time() {
    let mut before = Precise::default().now();
    for _ in 0..1_000 {
        let now = thread::spawn(|| Precise::default().now()).join().expect("reads a clock");
        assert!(now >= before, "{now:?} after {before:?}");
        before = now;
    }
}

/// Returns the shortest time that readings of the clock tell apart: its shortest step, or the least
/// difference between two steps, because a step also takes as long as a reading. (Steps that differ
/// by 1 ns may be the same, rounded.)
fn shortest_difference(clock: &impl Clock) -> Duration {
    let mut before = clock.now();
    let mut step = || {
        let now = clock.now();
        now - mem::replace(&mut before, now)
    };
    let steps: BTreeSet<_> = (0..200_000).map(|_| step()).collect();
    let differences =
        steps.iter().zip(steps.iter().skip(1)).map(|(short, long)| long.saturating_sub(*short));
    let first = steps.iter().find(|step| !step.is_zero()).expect("it runs");
    differences.filter(|difference| *difference > ns(1)).chain([*first]).min().expect("a step")
}

#[test]
fn the_resolution_of_precise_is_at_least_its_step() {
    let clock = Precise::default();
    let (resolution, shortest) = (clock.resolution(), shortest_difference(&clock));
    assert!(resolution >= shortest, "it says {resolution:?}, and steps by {shortest:?}");
    let others = thread::spawn(|| Precise::default().resolution()).join().expect("asks a clock");
    assert_eq!(others, resolution, "as long as the process lives");
}

#[test]
fn buckets_shorter_than_ten_steps_are_refused() {
    let clock = Precise::default();
    let (resolution, shortest) = (clock.resolution(), shortest_difference(&clock));
    let build = |bucket: Duration| {
        let builder = SlidingWindow::<Seen>::builder().interval(bucket * 10).buckets(10);
        builder.clock(clock).build().map(|_| ())
    };
    let mut random = Rng::with_seed(1);
    let shorter = (0..10).map(|_| ns(random.u64(1..10 * shortest.as_nanos() as u64)));
    for bucket in [ns(1), (shortest * 10).saturating_sub(ns(1))].into_iter().chain(shorter) {
        assert_eq!(build(bucket), Err(BuildError::ClockTooCoarse { resolution, bucket }));
    }
    assert_eq!(build(resolution * 10), Ok(()));
}
