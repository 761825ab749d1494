//! Kinds of events: what each keeps, in every way in which it can be read.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::{Finish, Rng, alone, at, at_ns, clock_at, is_empty, ms, ns, rounds, window};
use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{
    Clock, Event, Events, Kind, SlidingWindow, Stats, Timestamp, events, snapshot::Snapshot,
};

events! {
    /// Each value is recorded of all three: so the last two must be what the first one says.
    enum Seen { Passed: Count, All: Value, Greatest: Maximum, Least: Minimum }
}

type Window = SlidingWindow<Seen, Manual>;

const VALUED: [Event<Seen>; 3] = [
    Event::at(Seen::All.index()),
    Event::at(Seen::Greatest.index()),
    Event::at(Seen::Least.index()),
];

fn record(window: &Window, value: u64) {
    window.record(Seen::All, value);
    window.record(Seen::Greatest, value);
    window.record(Seen::Least, value);
}

/// Returns whether each of the three was counted.
fn record_at(window: &Window, at: Timestamp, value: u64) -> [bool; 3] {
    [
        window.record_at(at, Seen::All, value).is_ok(),
        window.record_at(at, Seen::Greatest, value).is_ok(),
        window.record_at(at, Seen::Least, value).is_ok(),
    ]
}

/// Returns whether what two events keep is what the third says of the same values, and nothing
/// else.
fn agree(stats: impl Fn(Event<Seen>) -> Stats) {
    let [all, greatest, least] = VALUED.map(stats);
    let Stats { min, max, .. } = all;
    assert_eq!(greatest, Stats { max, ..Stats::default() });
    assert_eq!(least, Stats { min, ..Stats::default() });
}

/// Checks that all reads of the window agree.
fn agree_everywhere(window: &Window) {
    agree(|event| window.stats(event));
    agree(|event| window.lifetime(event));
    agree(|event| window.late(event));
    agree(|event| window.previous().stats(event));
    let (totals, snapshot) = (window.totals(), window.snapshot());
    agree(|event| totals.stats(event));
    agree(|event| snapshot.totals().stats(event));
    for bucket in snapshot.buckets() {
        agree(|event| bucket.stats(event));
    }
    let length = window.bucket_length();
    for span in [length, length * 2, window.interval(), window.interval() * 2] {
        let Ok(over) = window.over(span) else { continue };
        let (newest, complete) = (over.totals(), over.complete());
        agree(|event| over.stats(event));
        agree(|event| newest.stats(event));
        agree(|event| complete.stats(event));
    }
    for tier in 0..3 {
        for bucket in window.series(tier).iter().flat_map(Snapshot::buckets) {
            agree(|event| bucket.stats(event));
        }
    }
}

#[test]
fn zero_is_a_value_and_so_is_the_greatest_of_all() {
    let clock = clock_at(60_000);
    let window: Window = window(ms(10), 3, &clock);
    agree_everywhere(&window);
    assert!(is_empty(&window.snapshot()));
    for value in [0, u64::MAX, 0, 7, u64::MAX - 1, 1] {
        window.record(Seen::Greatest, value);
        window.record(Seen::Least, value);
        assert_eq!(window.stats(Seen::Greatest).max, Some(value));
        assert_eq!(window.stats(Seen::Least).min, Some(value));
        assert!(!is_empty(&window.snapshot()));
        clock.advance(ms(30));
        assert_eq!(window.stats(Seen::Greatest), Stats::default());
        assert_eq!(window.stats(Seen::Least), Stats::default());
        assert!(is_empty(&window.snapshot()));
    }
    let extremes = (window.lifetime(Seen::Greatest).max, window.lifetime(Seen::Least).min);
    assert_eq!(extremes, (Some(u64::MAX), Some(0)));
}

#[test]
fn an_extreme_alone_has_neither_count_nor_sum() {
    let clock = clock_at(60_000);
    let window: Window = window(ms(10), 3, &clock);
    let moment = window.moment();
    for (value, at) in [(40, at(60_000)), (50, at(60_000)), (30, at(59_990)), (45, at(60_000))] {
        window.record_at(at, Seen::Greatest, value).expect("in the ring");
        window.record_at(at, Seen::Least, value).expect("in the ring");
    }
    let kept = Stats { max: Some(50), ..Stats::default() };
    let (all, now) = (window.lifetime(Seen::Greatest), window.stats(Seen::Greatest));
    assert_eq!((all, now), (kept, kept));
    let kept = Stats { min: Some(30), ..Stats::default() };
    let (all, now) = (window.lifetime(Seen::Least), window.stats(Seen::Least));
    assert_eq!((all, now), (kept, kept));
    let since = format!("{:?}", window.moment().since(&moment).expect("a moment of this window"));
    assert!(since.contains("Greatest: None, Least: None"), "{since}");
    assert_eq!(Seen::Greatest.kind(), Kind::Maximum);
    assert_eq!(Seen::EVENTS.iter().map(|(_, kind)| kind.cells()).sum::<usize>(), 1 + 4 + 2 + 2);
    let shown = format!("{window:?} {:?}", window.snapshot());
    assert_eq!(shown.matches("Greatest: Some(50), Least: Some(30)").count(), 2, "{shown}");
}

#[test]
fn an_extreme_alone_is_the_one_that_a_value_has() {
    alone::in_each_strategy("kinds::histories");
}

/// Random histories: time steps on and back, late and back-dated values, changes of geometry,
/// `clear` and drains.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn histories() {
    for seed in 0..rounds(200) {
        let mut random = Rng::with_seed(seed);
        let clock = Manual::default();
        clock.set(at_ns(random.u64(..2_000)));
        let window = SlidingWindow::<Seen>::builder()
            .interval(ns(24))
            .buckets(4)
            .tier(ns(12), 5)
            .tier(ns(36), 4)
            .clock(clock.clone())
            .build()
            .expect("the tiers nest");
        for _ in 0..150 {
            let now = window.clock().now().as_nanos();
            let value = [0, 1, u64::MAX, random.u64(..100)][random.usize(..4)];
            match random.u8(..20) {
                0..6 => record(&window, value),
                6..9 => {
                    let at = at_ns(now.saturating_sub(random.u64(..40)));
                    let is_counted = record_at(&window, at, value);
                    assert!(is_counted == [true; 3] || is_counted == [false; 3]);
                }
                9..15 => clock.advance(ns(random.u64(..9))),
                15 => clock.advance(ns(random.u64(..200))),
                16 => clock.set(at_ns(now.saturating_sub(random.u64(..90)))),
                17 => {
                    let buckets = random.usize(1..=12);
                    let length = [3, 6][random.usize(..2)];
                    // The first tier may be too coarse for it.
                    _ = window.reconfigure(ns(length * buckets as u64), buckets);
                }
                18 => window.clear().expect("there is memory"),
                _ => _ = window.drain_closed(|bucket| agree(|event| bucket.stats(event))),
            }
            agree_everywhere(&window);
        }
    }
}

events! {
    enum Pool { Opened: Count, Open: Signed }
}

#[test]
fn a_signed_number_goes_up_and_down() {
    let clock = clock_at(60_000);
    let window: SlidingWindow<Pool, Manual> = window(ms(500), 2, &clock);
    let moment = window.moment();
    for n in [3, -10, 1] {
        window.add(Pool::Open, n);
    }
    window.add(Pool::Open, 2);
    window.add_at(at(59_999), Pool::Open, -1).expect("in the ring");
    assert_eq!(window.sum(Pool::Open), -5);
    assert_eq!(window.stats(Pool::Open).sum, 5_u64.wrapping_neg());
    assert_eq!(window.previous().stats(Pool::Open).sum.cast_signed(), -1);
    assert_eq!(window.lifetime(Pool::Open).sum.cast_signed(), -5);
    assert_eq!(window.moment().since(&moment).map(|since| since.sum(Pool::Open)), Some(-5));
    assert_eq!(window.sum(Pool::Opened), 0);
    let (totals, snapshot) = (window.totals(), window.snapshot());
    for rate in
        [window.rate(Pool::Open), totals.rate(Pool::Open), snapshot.totals().rate(Pool::Open)]
    {
        assert!((rate + 5.0).abs() < 1e-9, "{rate}");
    }
    clock.set(at(60_600));
    window.add(Pool::Open, 100);
    let over = window.over(ms(500)).expect("within the interval");
    assert!((over.rate(Pool::Open) - 200.0).abs() < 1e-9);
    assert!((over.complete().rate(Pool::Open) + 8.0).abs() < 1e-9);
    // The bucket before counts for 400 ms of 500.
    assert!((over.weighted_rate(Pool::Open) - 2.0 * (100.0 - 0.8 * 4.0)).abs() < 1e-9);
    window.add(Pool::Open, -160);
    assert_eq!(window.sum(Pool::Open), -64);
}

/// Through closing, changes of geometry, and sums of several windows.
#[test]
fn a_signed_sum_is_right_wherever_it_has_been() {
    let clock = clock_at(60_000);
    let window: SlidingWindow<Pool, Manual> = window(ms(10), 4, &clock);
    for n in [-5, 7, -9, 1] {
        window.add(Pool::Open, n);
        clock.advance(ms(10));
    }
    window.add(Pool::Open, i64::MIN);
    let sums = |window: &SlidingWindow<Pool, Manual>| -> Vec<i64> {
        window
            .snapshot()
            .buckets()
            .iter()
            .map(|bucket| bucket.stats(Pool::Open).sum.cast_signed())
            .collect()
    };
    assert_eq!(sums(&window), [7, -9, 1, i64::MIN]);
    window.add(Pool::Open, i64::MAX);
    let mut drained = Vec::new();
    window.drain_closed(|bucket| drained.push(bucket.stats(Pool::Open).sum.cast_signed()));
    // Portably, the last of them may not be closed yet.
    assert!(drained.len() >= 2 && [7, -9, 1].starts_with(&drained), "{drained:?}");
    window.reconfigure(ms(80), 2).expect("a valid geometry");
    assert_eq!((window.sum(Pool::Open), sums(&window)), (-2, vec![-1, -1]));
    let mut both = window.snapshot();
    both.merge(&window.snapshot()).expect("the same time");
    assert_eq!(both.totals().stats(Pool::Open).sum.cast_signed(), -4);
    window.clear().expect("there is memory");
    assert_eq!((window.sum(Pool::Open), window.lifetime(Pool::Open).sum.cast_signed()), (0, -7));
}

#[test]
fn a_signed_number_is_shown_with_its_sign() {
    let window: SlidingWindow<Pool, Manual> = window(ms(10), 4, &clock_at(60_000));
    let moment = window.moment();
    window.add(Pool::Open, -3);
    let since = window.moment().since(&moment);
    let (snapshot, totals) = (window.snapshot(), window.totals());
    let newest = snapshot.buckets().last();
    for shown in [
        format!("{window:?}"),
        format!("{snapshot:?}"),
        format!("{newest:?}"),
        format!("{totals:?}"),
        format!("{since:?}"),
    ] {
        assert!(shown.contains("Open: -3"), "{shown}");
        assert!(shown.contains("Opened: Stats { count: 0"), "{shown}");
    }
}

#[test]
fn no_extreme_is_lost_or_strays_into_another_bucket() {
    alone::in_each_strategy("kinds::under_writers");
}

/// Buckets of nanoseconds, so that most adds meet a rotation; and a ring that holds them all. A
/// value says which bucket it is of.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_writers() {
    const LENGTH: u64 = 64;
    const STEPS: u64 = 30_000;
    let clock = Manual::default();
    clock.set(at_ns(LENGTH << 20));
    let window: Window = window(ns(LENGTH), 1 << 16, &clock);
    let is_over = AtomicBool::new(false);
    let ledgers: Vec<Vec<(u64, u64)>> = thread::scope(|scope| {
        let writers = (0..3).map(|seed| {
            let (window, clock) = (&window, clock.clone());
            scope.spawn(move || {
                let mut random = Rng::with_seed(seed);
                let note = |_| {
                    let at =
                        window.clock().now().as_nanos() / LENGTH * LENGTH + random.u64(..LENGTH);
                    clock.advance(ns(random.u64(..LENGTH / 4)));
                    let at = at.min(window.clock().now().as_nanos());
                    let value = at / LENGTH * 1_000 + random.u64(..1_000);
                    assert_eq!(
                        record_at(window, at_ns(at), value),
                        [true; 3],
                        "the ring holds all"
                    );
                    (at / LENGTH, value)
                };
                (0..STEPS).map(note).collect()
            })
        });
        let writers: Vec<_> = writers.collect();
        let finish = Finish(&is_over);
        scope.spawn(|| {
            while !is_over.load(Ordering::Acquire) {
                for bucket in window.snapshot().buckets() {
                    let of = bucket.start().as_nanos() / LENGTH;
                    let (greatest, least) =
                        (bucket.stats(Seen::Greatest), bucket.stats(Seen::Least));
                    let stray = |value: u64| value / 1_000 != of;
                    assert!(!greatest.max.is_some_and(stray) && !least.min.is_some_and(stray));
                }
            }
        });
        let ledgers =
            writers.into_iter().map(|writer| writer.join().expect("no failure")).collect();
        drop(finish);
        ledgers
    });
    let snapshot = window.snapshot();
    let oldest = snapshot.buckets()[0].start().as_nanos() / LENGTH;
    let mut expected = vec![(u64::MAX, 0); snapshot.buckets().len()];
    for (bucket, value) in ledgers.into_iter().flatten() {
        let kept = &mut expected[(bucket - oldest) as usize];
        *kept = (kept.0.min(value), kept.1.max(value));
    }
    let mut filled = 0;
    for (bucket, (least, greatest)) in snapshot.buckets().iter().zip(expected) {
        agree(|event| bucket.stats(event));
        let expected = (least <= greatest).then_some(greatest);
        assert_eq!(bucket.stats(Seen::Greatest).max, expected);
        assert_eq!(bucket.stats(Seen::Least).min, expected.map(|_| least));
        filled += u64::from(expected.is_some());
    }
    assert!(filled > 100, "{filled} buckets only");
    agree_everywhere(&window);
}
