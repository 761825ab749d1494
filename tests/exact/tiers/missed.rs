//! Buckets that could not be closed in time: what tiers say of the boundaries that they have no
//! note of.

use testkit::pinned::while_another_is_pinned;
use testkit::{alone, at_ns, ns};
use windrow::clock::Manual;
use windrow::kind::EventKind;
use windrow::{Event, SlidingWindow, Stats, events, histogram::Scale, snapshot::Snapshot};

events! {
    enum Seen { Pass: Count, Rt: Value, Most: Maximum, Took: Histogram(Scale::fixed::<4, 1, 1_000>()) }
}

/// Returns a window of two buckets of 10 ns, with a tier of 20 ns.
fn window(clock: &Manual, buckets: usize) -> SlidingWindow<Seen, Manual> {
    let builder = SlidingWindow::<Seen>::builder().interval(ns(20)).buckets(2);
    builder.clock(clock.clone()).tier(ns(20), buckets).build().expect("the tier nests")
}

fn record_all(window: &SlidingWindow<Seen, Manual>, values: &[(u64, u64)]) {
    for (at, value) in values {
        record(window, *at, *value);
    }
}

fn record(window: &SlidingWindow<Seen, Manual>, at: u64, value: u64) {
    window.clock().set(at_ns(at));
    window.add(Seen::Pass, value);
    window.record(Seen::Rt, value);
    window.record(Seen::Most, value);
    window.record(Seen::Took, value);
}

/// Closes what can be closed.
fn close(window: &SlidingWindow<Seen, Manual>) {
    (0..20).for_each(|_| _ = window.drain_closed(|_| ()));
}

/// Has counted from 1000 to 1060. The bucket at 1020 is missed, and out of the ring.
fn one_missed(clock: &Manual, buckets: usize) -> SlidingWindow<Seen, Manual> {
    clock.set(at_ns(1_000));
    let window = window(clock, buckets);
    while_another_is_pinned(|| {
        record_all(&window, &[(1_000, 300), (1_020, 700), (1_030, 100), (1_040, 40)]);
    });
    close(&window);
    record(&window, 1_060, 60);
    window
}

/// Returns the stats of the buckets from a start on that have any.
fn of_buckets<K: EventKind>(series: &Snapshot<Seen>, event: Event<Seen, K>) -> Vec<(u64, Stats)> {
    let of = |bucket: &windrow::snapshot::BucketSnapshot<Seen>| {
        (bucket.start().as_nanos(), bucket.stats(event))
    };
    series.buckets().iter().map(of).filter(|(_, stats)| *stats != Stats::default()).collect()
}

fn stats(values: &[u64]) -> Stats {
    let (min, max) = (values.iter().min().copied(), values.iter().max().copied());
    Stats { count: values.len() as u64, sum: values.iter().sum(), min, max }
}

/// If a tier has no note of where a bucket began, the bucket before it holds what both do: with the
/// extremes of what it counts. An extreme by itself has no count, and stays where it was.
#[test]
fn extremes_are_where_their_values_count() {
    alone::run("tiers::missed::extremes", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn extremes() {
    let window = one_missed(&Manual::default(), 8);
    let expected = [(1_000, stats(&[300, 700, 100])), (1_040, stats(&[40])), (1_060, stats(&[60]))];
    let series = window.series(0).expect("there is a tier");
    assert_eq!(of_buckets(&series, Seen::Rt), expected);
    assert_eq!(of_buckets(&series, Seen::Took), expected);
    let most: Vec<_> = of_buckets(&series, Seen::Most);
    let most: Vec<_> = most.iter().map(|(start, stats)| (*start, stats.max)).collect();
    let apart = [(1_000, Some(300)), (1_020, Some(700)), (1_040, Some(40)), (1_060, Some(60))];
    assert_eq!(most, apart);
    for bucket in series.buckets() {
        let took = bucket.distribution(Seen::Took);
        assert_eq!(took.quantile(1.0), took.max(), "{took:?}");
    }
}

/// The newest bucket too, while its contents change.
#[test]
fn extremes_of_the_newest_bucket_are_where_their_values_count() {
    alone::run("tiers::missed::newest_extremes", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn newest_extremes() {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let window = window(&clock, 8);
    while_another_is_pinned(|| {
        record_all(&window, &[(1_000, 300), (1_020, 700), (1_030, 100)]);
        let series = window.series(0).expect("there is a tier");
        let expected = [(1_000, stats(&[300, 700, 100]))];
        assert_eq!(of_buckets(&series, Seen::Rt), expected);
        assert_eq!(of_buckets(&series, Seen::Took), expected);
    });
}

/// A span that would end where the tier has no note ends later, and says so.
#[test]
fn a_span_says_where_it_ends() {
    alone::run("tiers::missed::ends", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn ends() {
    let window = one_missed(&Manual::default(), 8);
    let span = window.over(ns(40)).expect("the tier reaches so far");
    let at = |at: u64| span.totals_at(at_ns(at)).expect("in the tier");
    let told = |time: u64, event| {
        let totals = at(time);
        (totals.end().as_nanos(), totals.interval(), totals.stats(event))
    };
    let both = stats(&[300, 700, 100]);
    for event in [Event::<Seen>::from(Seen::Rt), Seen::Took.into()] {
        assert_eq!(told(1_005, event), (1_040, ns(60), both));
        assert_eq!(told(1_025, event), (1_040, ns(40), both));
        assert_eq!(told(1_045, event), (1_060, ns(60), stats(&[300, 700, 100, 40])));
        assert_eq!(told(1_065, event), (1_080, ns(40), stats(&[40, 60])));
    }
    assert_eq!(at(1_005).at(), at_ns(1_005));
    assert_eq!(at(1_005).sum(Seen::Pass), 1_100);
}

/// A span near time zero that ends later covers no more than the tier.
#[test]
fn a_span_covers_at_most_its_tier() {
    alone::run("tiers::missed::near_zero", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn near_zero() {
    let window = window(&Manual::default(), 3);
    while_another_is_pinned(|| {
        record_all(&window, &[(0, 300), (20, 700), (30, 100), (40, 40)]);
    });
    close(&window);
    let span = window.over(ns(60)).expect("the tier reaches so far");
    let totals = span.totals_at(at_ns(5)).expect("in the tier");
    assert_eq!((totals.end().as_nanos(), totals.interval()), (40, ns(60)));
    assert_eq!(totals.stats(Seen::Rt), stats(&[300, 700, 100]));
}

/// Complete buckets too, before incomplete ones.
#[test]
fn complete_buckets_say_where_they_end() {
    alone::run("tiers::missed::complete", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn complete() {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let window = window(&clock, 8);
    while_another_is_pinned(|| {
        record_all(&window, &[(1_000, 300), (1_020, 700), (1_030, 100)]);
        let complete = window.over(ns(40)).expect("a valid span").complete();
        assert_eq!((complete.sum(Seen::Pass), complete.interval()), (1_100, ns(60)));
        assert_eq!(complete.end(), at_ns(1_040));
        assert_eq!(complete.stats(Seen::Rt), stats(&[300, 700, 100]));
    });
    close(&window);
    record(&window, 1_040, 1);
    let complete = window.over(ns(40)).expect("a valid span").complete();
    assert_eq!((complete.sum(Seen::Pass), complete.interval()), (1_100, ns(40)));
    assert_eq!(complete.end(), at_ns(1_040));
}

/// A boundary in an idle time is known if the next bucket's is, even if later ones were missed.
#[test]
fn what_was_missed_changes_no_span_that_begins_in_an_idle_time_before() {
    alone::run("tiers::missed::idle", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn idle() {
    let clock = Manual::default();
    clock.set(at_ns(200));
    let window = window(&clock, 60);
    record(&window, 200, 10_000);
    record(&window, 980, 10);
    while_another_is_pinned(|| {
        record_all(&window, &[(1_000, 20), (1_020, 40), (1_030, 50)]);
    });
    close(&window);
    record(&window, 1_060, 60);
    let span = window.over(ns(600)).expect("the tier reaches so far");
    assert_eq!((span.totals().interval(), span.sum(Seen::Pass)), (ns(600), 180));
    assert_eq!(span.stats(Seen::Rt), stats(&[10, 20, 40, 50, 60]));
    let rate = span.weighted_rate(Seen::Pass);
    assert!((rate - 180.0 / 600e-9).abs() < 1.0, "{rate}");
    // If it would begin with a missed bucket, it begins with the bucket before.
    let short = window.over(ns(80)).expect("the tier reaches so far");
    assert_eq!((short.totals().interval(), short.sum(Seen::Pass)), (ns(100), 180));
}

/// The bucket of which a weighted count takes a share may hold two buckets' adds: it takes the
/// share of one.
#[test]
fn a_weighted_count_takes_a_share_of_one_bucket() {
    alone::run("tiers::missed::weighted", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn weighted() {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let window = window(&clock, 8);
    record_all(&window, &[(1_000, 10), (1_010, 10)]);
    while_another_is_pinned(|| record_all(&window, &[(1_020, 10), (1_030, 10), (1_040, 10)]));
    close(&window);
    record_all(&window, &[(1_050, 10), (1_060, 10), (1_070, 10), (1_080, 10), (1_090, 10)]);
    let series = window.series(0).expect("there is a tier");
    let sums: Vec<_> = series.buckets().iter().map(|bucket| bucket.sum(Seen::Pass)).collect();
    assert_eq!(sums[3..], [40, 0, 20, 20, 20], "the one at 1020 was missed");
    // At a constant rate it is right: from 1039 on.
    clock.set(at_ns(1_099));
    let span = window.over(ns(60)).expect("the tier reaches so far");
    let sum = span.weighted_rate(Seen::Pass) * span.totals().interval().as_secs_f64();
    assert!((sum - 61.0).abs() < 1e-9, "{sum}");
}

/// Adds that `clear` forgets are no longer in the window, but in its tiers: missed ones cannot be
/// derived from the ring.
#[test]
fn what_was_missed_before_a_clear_is_not_derived_from_what_is_left() {
    alone::run("tiers::missed::cleared", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn cleared() {
    let clock = Manual::default();
    clock.set(at_ns(1_000));
    let window = window(&clock, 8);
    while_another_is_pinned(|| {
        record(&window, 1_000, 300);
        record(&window, 1_020, 700);
        window.clear().expect("there is memory");
    });
    close(&window);
    record(&window, 1_040, 40);
    record(&window, 1_060, 60);
    let series = window.series(0).expect("there is a tier");
    let expected = [(1_000, stats(&[300, 700])), (1_040, stats(&[40])), (1_060, stats(&[60]))];
    assert_eq!(of_buckets(&series, Seen::Rt), expected);
    // From 1020 on it is not known.
    let span = window.over(ns(60)).expect("the tier reaches so far");
    assert_eq!(
        (span.totals().interval(), span.stats(Seen::Rt)),
        (ns(80), stats(&[300, 700, 40, 60]))
    );
}

/// The last nanosecond of time may be a bucket, too.
#[test]
fn what_was_missed_in_the_last_nanosecond_is_not_derived_either() {
    alone::run("tiers::missed::last_nanosecond", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn last_nanosecond() {
    let (last, clock) = (u64::MAX, Manual::default());
    clock.set(at_ns(last - 30));
    let builder = SlidingWindow::<Seen>::builder().interval(ns(15)).buckets(3);
    let window = builder.tier(ns(15), 8).clock(clock).build().expect("the tier nests");
    while_another_is_pinned(|| {
        record_all(&window, &[(last - 30, 300), (last, 700)]);
        window.clear().expect("there is memory");
    });
    close(&window);
    record(&window, last, 40);
    window.reconfigure(ns(15), 5).expect("the tier nests");
    let series = window.series(0).expect("there is a tier");
    assert_eq!(of_buckets(&series, Seen::Rt), [(last - 30, stats(&[300, 700, 40]))]);
}

/// At the end of time there is no boundary after a missed bucket: a span that would begin there is
/// empty.
#[test]
fn a_span_ends_where_time_does() {
    alone::run("tiers::missed::end_of_time", &[("WINDROW_STRATEGY", "epochs")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn end_of_time() {
    let (end, clock) = (u64::MAX - 15, Manual::default()); // the last coarse bucket begins there
    clock.set(at_ns(end - 40));
    let window = window(&clock, 2);
    while_another_is_pinned(|| {
        let times = [end - 40, end - 20, end - 10, end, end + 10];
        record_all(&window, &times.map(|at| (at, 1)));
    });
    let over = window.over(ns(40)).expect("a tier reaches that far");
    assert!(over.totals().interval() <= ns(40), "{:?}", over.totals().interval());
    assert!(over.sum(Seen::Pass) <= 5);
    assert!(over.stats(Seen::Rt).count <= 5);
}
