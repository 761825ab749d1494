//! The clocks of the library beside the system's: their speed, and the steps that they take.

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

/// Returns the shortest step that the clock takes between two readings of a thread.
fn shortest_step(clock: &impl Clock) -> Option<Duration> {
    let mut before = clock.now();
    let steps = (0..200_000).map(|_| {
        let now = clock.now();
        now - std::mem::replace(&mut before, now)
    });
    steps.filter(|step| !step.is_zero()).min()
}

#[test]
fn the_resolution_of_precise_is_a_step_that_it_takes() {
    let clock = Precise::default();
    let (resolution, step) = (clock.resolution(), shortest_step(&clock).expect("it runs"));
    assert!(resolution >= step, "it says {resolution:?}, and the shortest step is {step:?}");
    let others = thread::spawn(|| Precise::default().resolution()).join().expect("asks a clock");
    assert_eq!(others, resolution, "as long as the process lives");
}

/// Ten buckets that are shorter than ten steps, down to one that no reading need be in.
#[test]
fn buckets_shorter_than_ten_steps_are_refused() {
    let clock = Precise::default();
    let (resolution, step) = (clock.resolution(), shortest_step(&clock).expect("it runs"));
    let build = |bucket: Duration| {
        let builder = SlidingWindow::<Seen>::builder().interval(bucket * 10).buckets(10);
        builder.clock(clock.clone()).build().map(|_| ())
    };
    let mut random = Rng::with_seed(1);
    let shorter = (0..10).map(|_| ns(random.u64(1..10 * step.as_nanos() as u64)));
    for bucket in [ns(1), step * 10 - ns(1)].into_iter().chain(shorter) {
        assert_eq!(build(bucket), Err(BuildError::ClockTooCoarse { resolution, bucket }));
    }
    assert_eq!(build(resolution * 10), Ok(()));
}
