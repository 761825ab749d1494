//! `Histogram` events of windows: every read of one beside a `Value` of the same values, another
//! one of a coarser scale, a [`Histogram`], and the list of all records.

use testkit::{Rng, alone, at_ns, clock_at, ms, ns, window};
use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::kind::{self, HasSum};
use windrow::{
    Clock, Event, Events, Family, Histogram, Kind, SlidingWindow,
    histogram::{Distribution, Scale},
    snapshot::Over,
};
use windrow::{Stats, Timestamp, events, labels, snapshot::Snapshot};

use crate::quantile_error::agrees_with;
use crate::{counts, distribution};

const FINE: Scale = Scale::fixed::<2, 4, 4_000>();
const COARSE: Scale = Scale::fixed::<1, 16, 1_000>();

events! {
    /// Each value is recorded in all three. The events between them have cells between theirs.
    pub(crate) enum Seen {
        Passed: Count, Rt: Histogram(FINE), Depth: Maximum, All: Value, Open: Signed, Size: Histogram(COARSE)
    }
}

type Window = SlidingWindow<Seen, Manual>;

fn record(window: &Window, value: u64) {
    window.record(Seen::Rt, value);
    window.record(Seen::All, value);
    window.record(Seen::Size, value);
}

/// Returns whether each of the three was counted.
fn record_at(window: &Window, at: Timestamp, value: u64) -> [bool; 3] {
    [
        window.record_at(at, Seen::Rt, value).is_ok(),
        window.record_at(at, Seen::All, value).is_ok(),
        window.record_at(at, Seen::Size, value).is_ok(),
    ]
}

fn stats(of: &Distribution) -> Stats {
    Stats { count: of.count(), sum: of.sum(), min: of.min(), max: of.max() }
}

/// The ranges of the coarser scale are some of the finer one's, or are outside of what that one
/// tells apart.
fn are_of_the_same_values(fine: &Distribution, coarse: &Distribution) {
    assert_eq!((fine.scale(), coarse.scale()), (FINE, COARSE));
    assert_eq!(fine.count(), fine.cells().map(|(_, count)| count).sum::<u64>());
    let mut counted = 0;
    for (holds, count) in coarse.cells() {
        let is_within = |of: &u64| holds.contains(of);
        let parts =
            fine.cells().filter(|(part, _)| is_within(part.end()) && is_within(part.start()));
        assert_eq!(
            parts.map(|(_, count)| count).sum::<u64>(),
            count,
            "{holds:?}: {fine:?}, {coarse:?}"
        );
        counted += count;
    }
    assert_eq!(counted, fine.count());
}

/// Returns whether what the two histograms say is what the value says, and they say the same.
fn agree(
    stats_of: impl Fn(Event<Seen>) -> Stats,
    distribution: impl Fn(Event<Seen, kind::Histogram>) -> Distribution,
) {
    let expected = stats_of(Event::<Seen>::from(Seen::All));
    for event in [Seen::Rt, Seen::Size] {
        assert_eq!(
            (stats_of(event.into()), stats(&distribution(event))),
            (expected, expected),
            "{event:?}"
        );
    }
    are_of_the_same_values(&distribution(Seen::Rt), &distribution(Seen::Size));
    for event in [Event::<Seen>::from(Seen::Passed), Seen::Depth.into(), Seen::Open.into()] {
        assert_eq!(stats_of(event), Stats::default());
    }
}

fn agree_in(snapshot: &Snapshot<Seen>) {
    let totals = snapshot.totals();
    agree(|event| totals.stats(event), |event| totals.distribution(event));
    for bucket in snapshot.buckets() {
        agree(|event| bucket.stats(event), |event| bucket.distribution(event));
    }
}

/// However the window is read.
fn agree_everywhere(window: &Window) {
    agree(|event| window.stats(event), |event| window.distribution(event));
    agree(|event| window.lifetime(event), |event| window.lifetime_distribution(event));
    assert_eq!(window.late(Seen::Rt), window.late(Seen::All));
    assert_eq!(window.late(Seen::Size), window.late(Seen::All));
    let (totals, previous) = (window.totals(), window.previous());
    agree(|event| totals.stats(event), |event| totals.distribution(event));
    agree(|event| previous.stats(event), |event| previous.distribution(event));
    agree_in(&window.snapshot());
    let length = window.bucket_length();
    for span in [length, length * 2, window.interval(), window.interval() * 2] {
        let Ok(over) = window.over(span) else { continue };
        agree(|event| over.stats(event), |event| over.totals().distribution(event));
        let mut totals = vec![over.totals(), over.complete()];
        let times = (0..4).map(|back| window.clock().now() - length * back);
        totals.extend(times.filter_map(|at| over.totals_at(at).ok()));
        for totals in totals {
            agree(|event| totals.stats(event), |event| totals.distribution(event));
        }
        are_the_same([of_span(&over, Seen::Rt), of_span(&over, Seen::All)]);
        are_the_same([of_span(&over, Seen::Size), of_span(&over, Seen::All)]);
    }
    are_the_same([of_interval(window, Seen::Rt), of_interval(window, Seen::All)]);
    are_the_same([of_interval(window, Seen::Size), of_interval(window, Seen::All)]);
    for tier in 0..3 {
        window.series(tier).iter().for_each(agree_in);
    }
}

fn of_span<K: HasSum<Number = u64>>(
    over: &Over<'_, Seen, Manual>,
    event: Event<Seen, K>,
) -> [f64; 3] {
    [over.sum(event) as f64, over.rate(event), over.weighted_rate(event)]
}

fn of_interval<K: HasSum<Number = u64>>(window: &Window, event: Event<Seen, K>) -> [f64; 4] {
    let (sum, totals) = (window.sum(event), window.totals());
    [sum as f64, window.rate(event), totals.sum(event) as f64, totals.rate(event)]
}

fn are_the_same<const N: usize>([one, other]: [[f64; N]; 2]) {
    assert_eq!(one.map(f64::to_bits), other.map(f64::to_bits));
}

/// In each way to count; where all threads share a row; and where there is a row for each
/// processor.
fn in_each_way(name: &str) {
    alone::in_each_strategy(name);
    alone::run(name, &[("WINDROW_ROWS", "1")]);
    alone::run(name, &alone::BY_PROCESSOR);
}

/// Values of all cells, those outside of the ranges among them, and their borders.
fn value(random: &mut Rng) -> u64 {
    match random.u8(..10) {
        0 => [0, 4, 5, 1_024, 4_096, 4_097, u64::MAX][random.usize(..7)],
        _ => random.u64(..) >> random.u32(50..64),
    }
}

#[test]
fn a_histogram_says_what_a_value_and_a_histogram_beside_the_window_say() {
    in_each_way("windows::histories");
}

/// Random histories: time steps on and back, late and back-dated values, changes of geometry,
/// `clear` and drains.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn histories() {
    for seed in 0..20 {
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
        let (beside, since_last) = (Histogram::with_scale(FINE), Histogram::with_scale(FINE));
        let mut moment = window.moment();
        for _ in 0..100 {
            let now = window.clock().now().as_nanos();
            let value = value(&mut random);
            match random.u8(..20) {
                0..6 => {
                    record(&window, value);
                    beside.record(value);
                    since_last.record(value);
                }
                6..9 => {
                    let at = at_ns(now.saturating_sub(random.u64(..40)));
                    let is_counted = record_at(&window, at, value);
                    assert!(is_counted == [true; 3] || is_counted == [false; 3]);
                    if is_counted[0] {
                        beside.record(value);
                        since_last.record(value);
                    }
                }
                9..14 => clock.advance(ns(random.u64(..9))),
                14 => clock.advance(ns(random.u64(..200))),
                15 => clock.set(at_ns(now.saturating_sub(random.u64(..90)))),
                16 => {
                    let buckets = random.usize(1..=12);
                    let length = [3, 6][random.usize(..2)];
                    // The first tier may be too coarse for it.
                    _ = window.reconfigure(ns(length * buckets as u64), buckets);
                }
                17 => window.clear().expect("there is memory"),
                18 => {
                    let since = window.moment().since(&moment).expect("a moment of this window");
                    let (now, expected) = (since.distribution(Seen::Rt), since_last.take());
                    assert_eq!((counts(&now), now.sum()), (counts(&expected), expected.sum()));
                    assert_eq!(since.stats(Seen::Rt).count, since.stats(Seen::All).count);
                    assert_eq!(since.sum(Seen::Size), since.sum(Seen::All));
                    are_of_the_same_values(&now, &since.distribution(Seen::Size));
                    moment = window.moment();
                }
                _ => {
                    let seen = |bucket: windrow::snapshot::BucketSnapshot<Seen>| {
                        agree(|event| bucket.stats(event), |event| bucket.distribution(event));
                    };
                    window.drain_closed(seen);
                }
            }
            agree_everywhere(&window);
            assert_eq!(window.lifetime_distribution(Seen::Rt), beside.lifetime());
        }
    }
}

#[test]
fn each_bucket_and_each_span_has_the_values_that_were_recorded_then() {
    in_each_way("windows::beside_lists");
}

/// A ring and a tier that hold everything, beside the records of each bucket.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn beside_lists() {
    const BUCKETS: usize = 40;
    let clock = clock_at(60_000);
    let window = SlidingWindow::<Seen>::builder()
        .interval(ms(10) * BUCKETS as u32)
        .buckets(BUCKETS)
        .tier(ms(40), 20)
        .clock(clock.clone())
        .build()
        .expect("the tier nests");
    let mut random = Rng::with_seed(3);
    let mut lists = vec![Vec::new(); BUCKETS];
    let begin = window.clock().now();
    let mut drained = 0;
    for bucket in 0..BUCKETS {
        for _ in 0..random.usize(..60) {
            let value = value(&mut random);
            let back = random.usize(..8).min(bucket);
            if back == 0 {
                record(&window, value);
            } else {
                let at = window.clock().now() - ms(10) * back as u32;
                assert_eq!(record_at(&window, at, value), [true; 3], "in the ring");
            }
            lists[bucket - back].push(value);
        }
        let since = |from: usize| lists[from..=bucket].concat();
        for back in [0, 1, 7, bucket].map(|back| back.min(bucket)) {
            let over = window.over(ms(10) * (back as u32 + 1)).expect("within the interval");
            agrees_with(&over.totals().distribution(Seen::Rt), &since(bucket - back));
            agrees_with(&over.totals().distribution(Seen::Size), &since(bucket - back));
        }
        agrees_with(&window.distribution(Seen::Rt), &since(0));
        agrees_with(&window.totals().distribution(Seen::Size), &since(0));
        agrees_with(&window.lifetime_distribution(Seen::Rt), &since(0));
        agrees_with(&window.series(0).expect("a tier").totals().distribution(Seen::Rt), &since(0));
        if bucket > 0 {
            agrees_with(&window.previous().distribution(Seen::Rt), &lists[bucket - 1]);
        }
        let snapshot = window.snapshot();
        for (of, list) in snapshot.buckets()[BUCKETS - 1 - bucket..].iter().zip(&lists) {
            agrees_with(&of.distribution(Seen::Rt), list);
        }
        agrees_with(&snapshot.totals().distribution(Seen::Size), &since(0));
        for q in [0.0, 0.5, 0.99, 1.0] {
            let expected = distribution(FINE, &since(0)).quantile(q);
            assert_eq!(window.quantile(Seen::Rt, q), expected);
            assert_eq!(window.distribution(Seen::Rt).quantile(q), expected);
        }
        let above = distribution(FINE, &since(0)).count_above(100);
        assert_eq!(window.distribution(Seen::Rt).count_above(100), above);
        clock.advance(ms(10));
    }
    window.drain_closed(|bucket| {
        let index = (bucket.start() - begin).as_millis() as usize / 10;
        agrees_with(&bucket.distribution(Seen::Rt), &lists[index]);
        drained += 1;
    });
    assert!(drained > BUCKETS / 2, "{drained}");
    // Two buckets become one, with the contents of both.
    clock.set(begin + ms(10) * (BUCKETS as u32 - 1));
    window.reconfigure(ms(10) * BUCKETS as u32, BUCKETS / 2).expect("a geometry");
    agrees_with(&window.distribution(Seen::Rt), &lists.concat());
    for (bucket, lists) in window.snapshot().buckets().iter().zip(lists.chunks(2)) {
        agrees_with(&bucket.distribution(Seen::Rt), &lists.concat());
    }
}

#[test]
fn a_histogram_is_made_of_as_many_cells_as_it_says() {
    let scale = Kind::Histogram(FINE);
    assert_eq!(scale.cells(), 2 * (FINE.cells() + 2) + 2);
    assert_eq!(Seen::EVENTS[1], ("Rt", scale));
    assert_eq!(Seen::Size.kind(), Kind::Histogram(COARSE));
    let all: usize = Seen::EVENTS.iter().map(|(_, kind)| kind.cells()).sum();
    assert_eq!(all * 8, size_of::<<Seen as Events>::Cells>());
}

#[test]
fn a_histogram_is_shown_by_what_is_known_of_its_values() {
    let window: Window = window(ms(10), 3, &clock_at(60_000));
    record(&window, 7);
    let moment = window.moment();
    let shown = "Rt: Stats { count: 1, sum: 7, min: Some(7), max: Some(7) }";
    let all = [
        format!("{window:?}"),
        format!("{:?}", window.snapshot()),
        format!("{:?}", window.totals()),
    ];
    assert!(all.iter().all(|text| text.contains(shown)), "{all:?}");
    assert!(
        format!("{:?}", window.moment().since(&moment)).contains("Rt: Stats { count: 0, sum: 0")
    );
}

#[test]
fn snapshots_that_differ_in_one_cell_are_not_equal() {
    let clock = clock_at(60_000);
    let windows: [Window; 2] = [window(ms(10), 3, &clock), window(ms(10), 3, &clock)];
    let [one, other] = &windows;
    // Values with the same count, sum and extremes.
    for value in [10, 20, 30, 40] {
        one.record(Seen::Rt, value);
    }
    for value in [10, 25, 25, 40] {
        other.record(Seen::Rt, value);
    }
    assert_eq!(one.stats(Seen::Rt), other.stats(Seen::Rt));
    assert_ne!(one.snapshot(), other.snapshot());
    let mut both = one.snapshot();
    both.merge(&other.snapshot()).expect("the same time");
    agrees_with(&both.totals().distribution(Seen::Rt), &[10, 20, 30, 40, 10, 25, 25, 40]);
    clock.advance(ms(30));
    assert_eq!(one.snapshot(), other.snapshot());
}

labels! {
    enum Route { Home, Search }
    struct Call { route: Route }
}

/// One series is removed: its counts are in the family's total.
#[test]
fn each_series_of_a_family_has_percentiles_of_its_own() {
    let routes = Family::<Call, SlidingWindow<Seen>, _>::with_constructor(|| {
        SlidingWindow::builder().build().expect("a geometry")
    });
    let lists = [vec![5, 900, 7], vec![2_000; 40]];
    for (route, list) in [Route::Home, Route::Search].into_iter().zip(&lists) {
        let window = routes.with(Call { route });
        for value in list {
            window.record(Seen::Rt, *value);
        }
    }
    for (route, list) in [Route::Search, Route::Home].into_iter().zip(lists.iter().rev()) {
        agrees_with(&routes.with(Call { route }).lifetime_distribution(Seen::Rt), list);
    }
    routes.remove(Call { route: Route::Home });
    let all = distribution(FINE, &lists.concat());
    let found = routes.lifetime();
    assert_eq!((found.stats(Seen::Rt), found.distribution(Seen::Rt)), (stats(&all), all));
}
