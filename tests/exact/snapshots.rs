//! Snapshots as values: walked, compared, shown, and merged over windows.

use windrow::clock::Manual;
use windrow::{
    SlidingWindow, Stats,
    snapshot::{MergeError, Snapshot},
};

use testkit::{at, clock_at, has_nothing, is_empty, ms, window};

windrow::events! {
    /// One of each kind.
    enum Seen { Pass: Count, Rt: Value }
}

type Window = SlidingWindow<Seen, Manual>;

/// Two windows on one clock, in different buckets of which each has something.
fn two(clock: &Manual) -> [Window; 2] {
    let windows = [(); 2].map(|()| window::<Seen>(ms(100), 4, clock));
    let [one, other] = &windows;
    one.add(Seen::Pass, 3);
    one.record(Seen::Rt, 30);
    other.record(Seen::Rt, 7);
    clock.advance(ms(100));
    other.add(Seen::Pass, 4);
    other.record(Seen::Rt, 50);
    clock.advance(ms(100));
    one.add(Seen::Pass, 5);
    one.record(Seen::Rt, 40);
    other.record(Seen::Rt, 90);
    windows
}

fn passes(snapshot: &Snapshot<Seen>) -> Vec<u64> {
    snapshot.buckets().iter().map(|bucket| bucket.sum(Seen::Pass)).collect()
}

#[test]
fn a_snapshot_is_walked_oldest_first() {
    let clock = clock_at(1_000);
    let [one, _] = two(&clock);
    let snapshot = one.snapshot();
    assert_eq!(passes(&snapshot), [0, 3, 0, 5]);
    let mut starts = Vec::new();
    for bucket in snapshot.buckets() {
        starts.push(bucket.start());
    }
    assert_eq!(starts, [900, 1_000, 1_100, 1_200].map(at));
}

#[test]
fn empty_is_what_no_event_was_counted_in() {
    let clock = clock_at(1_000);
    let [one, _] = two(&clock);
    let snapshot = one.snapshot();
    let empty: Vec<_> = snapshot.buckets().iter().map(has_nothing).collect();
    assert_eq!(empty, [true, false, true, false]);
    assert!(!is_empty(&snapshot));
    clock.advance(ms(100));
    assert!(!is_empty(&one.snapshot()), "there are adds in it still");
    clock.advance(ms(300));
    assert!(is_empty(&one.snapshot()));
    one.record(Seen::Rt, 0);
    assert!(!is_empty(&one.snapshot()), "a value of zero counts too");
}

#[test]
fn equal_is_what_reads_the_same() {
    let clock = clock_at(1_000);
    let [one, other] = two(&clock);
    let taken = one.snapshot();
    assert_eq!(taken, one.snapshot());
    assert_eq!(taken, taken.clone());
    assert_ne!(taken, other.snapshot(), "other numbers");
    assert_ne!(taken, window::<Seen>(ms(100), 3, &clock).snapshot(), "another interval");
    one.record(Seen::Rt, 0);
    let with_zero = one.snapshot();
    assert_ne!(taken, with_zero, "the sum is the same, count and minimum are not");
    clock.advance(ms(1));
    let later = one.snapshot();
    assert_ne!(with_zero, later, "of another time");
    assert!(with_zero.buckets().iter().eq(later.buckets()), "but with the same buckets");

    // One bucket of 200 ms and one of 100 ms, both at time zero.
    let clock = clock_at(0);
    let [long, short] =
        [1, 2].map(|buckets| window::<Seen>(ms(200 / u64::from(buckets)), buckets, &clock));
    assert_ne!(long.snapshot().buckets(), short.snapshot().buckets());
    // A live bucket without an add, and a gap.
    let live = window::<Seen>(ms(100), 4, &clock);
    clock.advance(ms(100));
    let gap = window::<Seen>(ms(100), 4, &clock);
    let [live, gap] = [live, gap].map(|window| window.previous());
    assert_eq!([live.is_closed(), gap.is_closed()], [false, true]);
    assert_ne!(live, gap);
}

#[test]
fn snapshots_show_events_by_their_names() {
    let clock = clock_at(1_000);
    let [one, _] = two(&clock);
    let shown = format!("{:?}", one.snapshot());
    let of_pass = |n: u64| format!("Pass: Stats {{ count: {n}, sum: {n}, min: None, max: None }}");
    let (all, buckets) = shown.split_once(", buckets: [").expect("the buckets come last");
    assert!(all.starts_with("Snapshot { at: "), "{all}");
    for part in [&of_pass(8), "interval: 400ms", "Rt: Stats { count: 2, sum: 70, min: Some(30)"] {
        assert!(all.contains(part), "{part}: {all}");
    }
    assert_eq!(buckets.matches("BucketSnapshot { start: ").count(), 4, "{buckets}");
    for part in [&of_pass(3), &of_pass(5), "is_closed: false", "max: Some(40)"] {
        assert!(buckets.contains(part), "{part}: {buckets}");
    }
}

#[test]
fn stats_add_up() {
    let one = Stats { count: 2, sum: 30, min: Some(10), max: Some(20) };
    let other = Stats { count: u64::MAX, sum: 5, min: Some(5), max: Some(5) };
    let both = Stats { count: 1, sum: 35, min: Some(5), max: Some(20) };
    assert_eq!((one + other, other + one), (both, both), "counts wrap");
    assert_eq!((one + Stats::default(), Stats::default() + one), (one, one));
    let mut total = one;
    total += other;
    assert_eq!(total, both);
    assert_eq!([one, other].into_iter().sum::<Stats>(), both);
    assert_eq!([one, other].iter().sum::<Stats>(), both);
    assert_eq!(Vec::<Stats>::new().into_iter().sum::<Stats>(), Stats::default());
}

#[test]
fn a_merged_snapshot_is_that_of_one_window_with_all_adds() {
    let clock = clock_at(1_000);
    let windows = two(&clock);
    let [mut merged, other] = windows.each_ref().map(SlidingWindow::snapshot);
    let parts = [merged.clone(), other.clone()];
    merged.merge(&other).expect("the same geometry");
    assert_eq!(passes(&merged), [0, 3, 4, 5]);
    let rt = |snapshot: &Snapshot<Seen>| -> Vec<Stats> {
        snapshot.buckets().iter().map(|bucket| bucket.stats(Seen::Rt)).collect()
    };
    let value = |count, sum, min, max| Stats { count, sum, min: Some(min), max: Some(max) };
    let nothing = Stats::default();
    let expected = [nothing, value(2, 37, 7, 30), value(1, 50, 50, 50), value(2, 130, 40, 90)];
    assert_eq!(rt(&merged), expected);
    for event in Seen::ALL {
        let both: Stats = parts.iter().map(|part| part.totals().stats(event)).sum();
        assert_eq!(merged.totals().stats(event), both);
    }
}

/// A live bucket stays open, whichever of the two it is in; and the time is the later one.
#[test]
fn a_merged_bucket_is_closed_where_both_are() {
    let clock = clock_at(1_000);
    let [one, other] = two(&clock);
    let early = one.snapshot();
    clock.advance(ms(10));
    let late = other.snapshot();
    for (into, from) in [(&early, &late), (&late, &early)] {
        let mut merged = into.clone();
        merged.merge(from).expect("the same geometry");
        assert_eq!(merged.totals().at(), late.totals().at());
        let both = early.buckets().iter().zip(late.buckets());
        for (merged, (one, other)) in merged.buckets().iter().zip(both) {
            assert_eq!(merged.is_closed(), one.is_closed() && other.is_closed());
            assert_eq!((merged.start(), merged.end()), (one.start(), one.end()));
        }
    }
    // A gap is closed, a live bucket is not.
    let clock = clock_at(1_000);
    let [gap, live] = [(); 2].map(|()| window::<Seen>(ms(100), 4, &clock));
    live.add(Seen::Pass, 1);
    clock.advance(ms(100));
    gap.add(Seen::Pass, 1);
    let [mut gap, live] = [gap, live].map(|window| window.snapshot());
    assert!(gap.buckets()[2].is_closed() && !live.buckets()[2].is_closed());
    gap.merge(&live).expect("the same geometry");
    assert!(!gap.buckets()[2].is_closed());
}

#[test]
fn snapshots_of_different_buckets_are_not_merged() {
    let clock = clock_at(1_000);
    let [one, _] = two(&clock);
    let taken = one.snapshot();
    let mut kept = taken.clone();
    let mut refused = |other: &Snapshot<Seen>| {
        let error = kept.merge(other).expect_err("other buckets");
        assert_eq!(kept, taken, "nothing was merged");
        error
    };
    let (this, other) = (ms(400), ms(200));
    let part = window::<Seen>(ms(100), 2, &clock).snapshot();
    assert_eq!(refused(&part), MergeError::Interval { this, other });
    let (this, other) = (ms(100), ms(200));
    let coarse = window::<Seen>(other, 2, &clock).snapshot();
    assert_eq!(refused(&coarse), MergeError::BucketLength { this, other });
    clock.advance(ms(100));
    let (this, other) = (at(1_200), at(1_300));
    assert_eq!(refused(&one.snapshot()), MergeError::Start { this, other });

    // At time zero both have one bucket, which begins at zero.
    let clock = clock_at(0);
    let [mut one, two] = [1, 2]
        .map(|buckets| window::<Seen>(ms(200 / u64::from(buckets)), buckets, &clock).snapshot());
    assert!(one.merge(&two).is_err());
}

#[test]
fn an_error_of_merging_says_both_sides() {
    let errors = [
        (MergeError::Interval { this: ms(400), other: ms(200) }, ["interval", "400ms", "200ms"]),
        (MergeError::BucketLength { this: ms(100), other: ms(50) }, ["length", "100ms", "50ms"]),
        (
            MergeError::Start { this: at(1_200), other: at(1_300) },
            ["newest", "1.200000000 s", "1.300000000 s"],
        ),
    ];
    for (error, parts) in errors {
        let sentence = error.to_string();
        assert!(!sentence.contains('\n'));
        for part in parts {
            assert!(sentence.contains(part), "{sentence:?} does not name {part:?}");
        }
    }
}
