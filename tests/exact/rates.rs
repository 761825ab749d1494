//! Rates beside arrivals that are known: what each is off by.

#![allow(clippy::float_cmp, reason = "the numbers are exact")]

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use testkit::{Rng, at, clock_at, ms, window};
use windrow::clock::{Clock, Manual};
use windrow::{
    SlidingWindow,
    snapshot::{Over, Totals},
};

windrow::events! { enum Seen { Hit: Count, Micros: Value } }

type Window = SlidingWindow<Seen, Manual>;

const BEGIN: u64 = 60_000;

/// Calls `see` with each millisecond, after its arrivals were added: each is a hit, and a record.
fn arrivals(
    clock: &Manual,
    window: &Window,
    millis: std::ops::Range<u64>,
    arrive: impl Fn(u64) -> u64,
    mut see: impl FnMut(u64),
) {
    for milli in millis {
        clock.set(at(milli));
        for _ in 0..arrive(milli) {
            window.add(Seen::Hit, 1);
            window.record(Seen::Micros, 1_000);
        }
        see(milli);
    }
}

/// One arrival a millisecond, 1 000 a second: the mean of what a rate says, and its least and
/// greatest.
fn at_a_constant_rate(buckets: u32, rate: impl Fn(&Window) -> f64) -> (f64, f64, f64) {
    let clock = clock_at(BEGIN);
    let window = window(ms(1_000 / u64::from(buckets)), buckets, &clock);
    let mut said = Vec::new();
    arrivals(
        &clock,
        &window,
        BEGIN..BEGIN + 5_000,
        |_| 1,
        |milli| {
            if milli >= BEGIN + 2_000 {
                said.push(rate(&window));
            }
        },
    );
    let mean = said.iter().sum::<f64>() / said.len() as f64;
    let extreme = |of: fn(f64, f64) -> f64| said.iter().copied().fold(said[0], of);
    (mean, extreme(f64::min), extreme(f64::max))
}

#[test]
fn two_buckets_are_low_by_a_quarter() {
    let rates: [fn(&Window) -> f64; 4] = [
        |window| window.rate(Seen::Hit),
        |window| window.rate(Seen::Micros),
        |window| window.snapshot().totals().rate(Seen::Hit),
        |window| window.snapshot().totals().rate(Seen::Micros),
    ];
    for rate in rates {
        assert_eq!(at_a_constant_rate(2, rate), (750.5, 501.0, 1_000.0));
    }
    let (mean, least, greatest) = at_a_constant_rate(10, |window| window.rate(Seen::Hit));
    assert_eq!((mean, least, greatest), (950.5, 901.0, 1_000.0), "ten: by a twentieth");
}

/// An arrival at the instant that is read is in the newest bucket: that one is more.
#[test]
fn a_weighted_rate_is_right_at_a_constant_rate() {
    for (buckets, millis) in [(2, 500), (2, 1_000), (10, 300), (10, 900), (10, 1_000)] {
        let rates: [fn(Over<'_, Seen, Manual>) -> f64; 2] =
            [|over| over.weighted_rate(Seen::Hit), |over| over.weighted_rate(Seen::Micros)];
        for rate in rates {
            let rate =
                |window: &Window| rate(window.over(ms(millis)).expect("within the interval"));
            let (_, least, greatest) = at_a_constant_rate(buckets, rate);
            let covers = millis.min(1_000 - 1_000 / u64::from(buckets)) as f64 / 1_000.0;
            let expected = 1_000.0 + 1.0 / covers;
            assert!((least - expected).abs() < 1e-6, "{least} and not {expected}");
            assert!((greatest - expected).abs() < 1e-6, "{greatest} and not {expected}");
        }
    }
}

#[test]
fn complete_buckets_are_right_at_a_constant_rate() {
    for (buckets, millis) in [(2, 500), (2, 1_000), (10, 300), (10, 1_000)] {
        let rates: [fn(Totals<Seen>) -> f64; 2] =
            [|complete| complete.rate(Seen::Hit), |complete| complete.rate(Seen::Micros)];
        for rate in rates {
            let rate = |window: &Window| {
                rate(window.over(ms(millis)).expect("within the interval").complete())
            };
            assert_eq!(at_a_constant_rate(buckets, rate), (1_000.0, 1_000.0, 1_000.0));
        }
    }
}

/// Arrivals in bursts. The error stays within the greater part of what the bucket holds in which
/// the span begins, and comes near it.
#[test]
fn a_weighted_count_is_off_by_the_greater_part_of_one_bucket_at_most() {
    const LENGTH: u64 = 50;
    let mut random = Rng::with_seed(17);
    let mut worst: f64 = 0.0;
    for _ in 0..20 {
        let clock = clock_at(BEGIN);
        let window: Window = window(ms(LENGTH), 6, &clock);
        let bursts: Vec<u64> =
            (0..2_000).map(|_| if random.u8(..) < 4 { random.u64(1..50) } else { 0 }).collect();
        let arrive = |milli: u64| bursts[(milli - BEGIN) as usize];
        let count = |from: u64, to: u64| (from..to).map(arrive).sum::<u64>();
        let over = window.over(ms(4 * LENGTH)).expect("within the interval");
        arrivals(&clock, &window, BEGIN..BEGIN + 2_000, arrive, |now| {
            let Some(begin) = (now - BEGIN).checked_sub(4 * LENGTH) else { return };
            // All of the present millisecond's have come, and all of the one 200 ms ago have gone.
            let truth = count(BEGIN + begin + 1, now + 1) as f64;
            let oldest = BEGIN + begin - begin % LENGTH;
            let holds = count(oldest, oldest + LENGTH) as f64;
            let share = 1.0 - (begin % LENGTH) as f64 / LENGTH as f64;
            let weighted = |rate: f64| rate * ms(4 * LENGTH).as_secs_f64();
            let error = (weighted(over.weighted_rate(Seen::Hit)) - truth).abs();
            assert!(error <= share.max(1.0 - share) * holds + 1e-6, "{error} of {holds}");
            if holds > 0.0 {
                worst = worst.max(error / holds);
            }
            let records = over.weighted_rate(Seen::Micros);
            assert!((records - over.weighted_rate(Seen::Hit)).abs() < 1e-3);
        });
    }
    assert!(worst > 0.9, "the bound is not idle: {worst}");
}

/// Every arrival in the last span is counted. Without the additional bucket, some are not.
#[test]
fn a_window_of_one_bucket_more_forgets_nothing_of_a_span() {
    fn forgets(window: &Window, clock: &Manual) -> bool {
        let (mut forgot, arrive) = (false, |milli| u64::from(milli % 7 == 0));
        arrivals(clock, window, BEGIN..BEGIN + 3_000, arrive, |now| {
            let truth = (BEGIN.max(now - 600)..=now).map(arrive).sum::<u64>();
            // A sum may lack the instant exactly 600 ms ago.
            let later = (BEGIN.max(now - 599)..=now).map(arrive).sum::<u64>();
            let sum = window.sum(Seen::Hit);
            forgot |= sum < later;
            assert!(sum <= truth + 100 / 7 + 1, "no more than a bucket more");
        });
        forgot
    }
    let clock = clock_at(BEGIN);
    let builder = SlidingWindow::<Seen>::builder().clock(clock.clone());
    let window = builder.clone().interval(ms(700)).buckets(7).build().expect("a valid window");
    assert!(!forgets(&window, &clock));
    // And a rate over just that span.
    let over = window.over(ms(600)).expect("within the interval");
    assert_eq!((over.totals().interval(), over.complete().interval()), (ms(600), ms(600)));

    clock.set(at(BEGIN));
    let window = builder.interval(ms(600)).buckets(6).build().expect("a valid window");
    assert!(forgets(&window, &clock));
}

/// Values per second are records per second, however great the values are.
#[test]
fn a_rate_of_values_counts_records() {
    let clock = clock_at(BEGIN);
    let window: Window = window(ms(500), 4, &clock);
    for value in [5, 40, 1 << 40] {
        window.record(Seen::Micros, value);
        window.add(Seen::Hit, value);
    }
    let sum = 45 + (1_u64 << 40);
    let over = window.over(ms(1_000)).expect("within the interval");
    assert_eq!((window.rate(Seen::Micros), window.rate(Seen::Hit)), (1.5, sum as f64 / 2.0));
    assert_eq!(window.snapshot().totals().rate(Seen::Micros), 1.5);
    assert_eq!(window.totals().rate(Seen::Micros), 1.5);
    assert_eq!((over.rate(Seen::Micros), over.totals().rate(Seen::Micros)), (3.0, 3.0));
    assert_eq!(over.weighted_rate(Seen::Micros), 3.0);
}

/// A rate is the count of an interval by that interval, and not by the one before or after, while
/// the geometry changes.
#[test]
fn a_rate_divides_by_the_interval_that_it_counts() {
    let clock = clock_at(BEGIN);
    let window: Window = window(ms(1_000), 10, &clock);
    let (done, counted) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            // Each leap leaves what the earlier geometry has counted behind.
            let leap = |seconds: u64, buckets: usize| {
                window.reconfigure(ms(seconds * 1_000), buckets).expect("a sound geometry");
                clock.advance(ms(100_000));
                window.add(Seen::Hit, 1);
            };
            for _ in 0..2_000 {
                leap(20, 20);
                counted.fetch_add(1, Ordering::Release); // odd until the next leap
                // In an interval of 20 s, and not in one of 10 s.
                window.add_at(clock.now() - ms(15_000), Seen::Hit, 100).expect("in the ring");
                counted.fetch_add(1, Ordering::Release);
                leap(10, 10);
            }
            done.store(true, Ordering::Release);
        });
        let mut seen = 0_u32;
        while !done.load(Ordering::Acquire) {
            let over = window.over(ms(10_000)).expect("the shorter interval").rate(Seen::Hit);
            assert!([0.0, 0.1].contains(&over), "{over} a second in 10 s");
            let before = counted.load(Ordering::Acquire);
            let rate = window.rate(Seen::Hit);
            let is_between = before % 2 == 1 && before == counted.load(Ordering::Acquire);
            // A read that both adds meet may count the second of them, and not the first.
            let allowed: &[f64] =
                if is_between { &[0.05, 5.05] } else { &[0.0, 0.05, 0.1, 5.0, 5.05] };
            assert!(allowed.contains(&rate), "{rate} a second");
            seen += u32::from(rate >= 5.0);
        }
        println!("{seen} rates with what was back-dated");
    });
}
