//! Wide cells: a histogram's, which a bucket has only where they are used. However a window is
//! read, they say what cells say that every bucket has.

use testkit::{Rng, alone, at_ns, ns, rounds};
use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{
    Clock, Event, SlidingWindow, Stats, Timestamp, events,
    histogram::{Distribution, Scale},
    kind,
    snapshot::Snapshot,
};

/// Places up to 1, 2, 4, 8, and beyond.
const FEW: Scale = Scale::fixed::<0, 2, 8>();

events! {
    /// Each value is recorded of `All` and both histograms, and counted in the event of its place
    /// among few.
    enum Seen { P0: Count, All: Value, P1: Count, Spread: Histogram, P2: Count, Few: Histogram(FEW), P3: Count, P4: Count }
}

const PLACES: [Event<Seen, kind::Count>; 5] = [Seen::P0, Seen::P1, Seen::P2, Seen::P3, Seen::P4];

type Window = SlidingWindow<Seen, Manual>;

fn record(window: &Window, value: u64) {
    window.record(Seen::All, value);
    window.record(Seen::Spread, value);
    window.record(Seen::Few, value);
}

/// Returns whether each of the three was counted.
fn record_at(window: &Window, at: Timestamp, value: u64) -> [bool; 3] {
    [
        window.record_at(at, Seen::All, value).is_ok(),
        window.record_at(at, Seen::Spread, value).is_ok(),
        window.record_at(at, Seen::Few, value).is_ok(),
    ]
}

fn place(value: u64) -> Event<Seen, kind::Count> {
    let above = [1, 2, 4, 8].into_iter().filter(|border| value > *border);
    PLACES[above.count()]
}

/// Returns whether a histogram has what a `Value` has of the same values, and in each place what a
/// `Count` has.
fn agree(
    stats: impl Fn(Event<Seen>) -> Stats,
    distribution: impl Fn(Event<Seen, kind::Histogram>) -> Distribution,
) {
    let all = stats(Event::<Seen>::from(Seen::All));
    for event in [Seen::Spread, Seen::Few] {
        assert_eq!(stats(event.into()), all);
        let of = distribution(event);
        assert_eq!(
            (of.count(), of.sum(), of.min(), of.max()),
            (all.count, all.sum, all.min, all.max)
        );
    }
    let few = distribution(Seen::Few);
    for (event, (least, greatest)) in
        PLACES.into_iter().zip([(0, 1), (2, 2), (3, 4), (5, 8), (9, u64::MAX)])
    {
        let cell = few.cells().find(|(cell, _)| (least..=greatest).contains(cell.end()));
        assert_eq!(
            cell.map_or(0, |(_, count)| count),
            stats(event.into()).count,
            "{least} to {greatest}"
        );
    }
}

fn agree_everywhere(window: &Window) {
    agree(|event| window.stats(event), |event| window.distribution(event));
    agree(|event| window.lifetime(event), |event| window.lifetime_distribution(event));
    for event in [Seen::Spread, Seen::Few] {
        assert_eq!(window.sum(event), window.sum(Seen::All));
        assert_eq!(window.late(event), window.late(Seen::All));
    }
    let (totals, snapshot) = (window.totals(), window.snapshot());
    agree(|event| totals.stats(event), |event| totals.distribution(event));
    agree(|event| snapshot.totals().stats(event), |event| snapshot.totals().distribution(event));
    for bucket in snapshot.buckets() {
        agree(|event| bucket.stats(event), |event| bucket.distribution(event));
    }
    let length = window.bucket_length();
    for span in [length, length * 2, window.interval(), window.interval() * 2] {
        let Ok(over) = window.over(span) else { continue };
        agree(|event| over.stats(event), |event| over.totals().distribution(event));
        let newest = over.totals();
        agree(|event| newest.stats(event), |event| newest.distribution(event));
    }
    for tier in 0..2 {
        for bucket in window.series(tier).iter().flat_map(Snapshot::buckets) {
            agree(|event| bucket.stats(event), |event| bucket.distribution(event));
        }
    }
}

#[test]
fn wide_cells_say_what_others_say() {
    alone::in_each_strategy("wide_cells::histories");
}

/// Random histories, as of `kinds`: time steps on and back, late and back-dated values, changes of
/// geometry, `clear` and drains.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn histories() {
    for seed in 0..rounds(60) {
        let mut random = Rng::with_seed(seed);
        let clock = Manual::default();
        clock.set(at_ns(random.u64(..2_000)));
        let window: Window = SlidingWindow::<Seen>::builder()
            .interval(ns(24))
            .buckets(4)
            .tier(ns(12), 5)
            .tier(ns(36), 4)
            .clock(clock.clone())
            .build()
            .expect("the tiers nest");
        for _ in 0..120 {
            let now = window.clock().now().as_nanos();
            let far = 1 << random.u64(..64);
            let value = [0, 1, far, random.u64(..100), 1_000_000 + random.u64(..100_000)]
                [random.usize(..5)];
            match random.u8(..20) {
                0..6 => {
                    record(&window, value);
                    window.add(place(value), 1);
                }
                6..9 => {
                    let at = at_ns(now.saturating_sub(random.u64(..40)));
                    let is_counted = record_at(&window, at, value);
                    assert_eq!(is_counted, [window.add_at(at, place(value), 1).is_ok(); 3]);
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
                _ => {
                    let drained = |bucket: windrow::snapshot::BucketSnapshot<Seen>| {
                        agree(|event| bucket.stats(event), |event| bucket.distribution(event));
                    };
                    _ = window.drain_closed(drained);
                }
            }
            agree_everywhere(&window);
        }
    }
}
