//! Sums: of the values below 2^60, so a value that no clock has measured puts no sum back.

use std::thread;
use std::time::Duration;

use testkit::alone::in_each_strategy;
use windrow::Event;
use windrow::{Clock, Histogram, SlidingWindow, clock::Manual, events};

events! { enum Disk { Read: Value, Written: Histogram } }

/// The least value that is no part of a sum.
const NO_PART: u64 = 1 << 60;

/// Records two usual values, then each of these: it is counted, and is the maximum.
fn values() -> [(u64, u64); 6] {
    let most = NO_PART - 1;
    [(most, most), (NO_PART, 0), (1 << 63, 0), (u64::MAX - 1, 0), (u64::MAX, 0), (7, 7)]
}

#[test]
fn a_value_that_nothing_has_measured_leaves_the_sum_of_a_histogram() {
    for (value, part) in values() {
        let latency = Histogram::new();
        latency.record(5_000_000);
        let before = latency.lifetime();
        latency.record(value);
        latency.record_many(value, 3);
        let now = latency.lifetime();
        let parts = 4 * u128::from(part);
        assert_eq!(u128::from(now.sum()), 5_000_000 + parts, "{value}");
        assert_eq!((now.count(), latency.sum()), (5, now.sum()), "{value}");
        assert_eq!(
            (now.min(), now.max()),
            (Some(value.min(5_000_000)), Some(value.max(5_000_000)))
        );
        let since = now.since(&before).unwrap();
        assert_eq!((since.count(), u128::from(since.sum())), (4, parts));
        assert_eq!(latency.take().sum(), now.sum());
        latency.record(1);
        assert_eq!(latency.take().sum(), 1);
    }
    let latency = Histogram::new();
    latency.record(Duration::MAX); // saturates at 2^64 - 1
    assert_eq!((latency.count(), latency.sum()), (1, 0));
    assert_eq!(latency.distribution().max(), Some(u64::MAX));
}

#[test]
fn a_value_that_nothing_has_measured_leaves_the_sums_of_a_window() {
    in_each_strategy("sums::sums_of_windows");
}

/// In the current bucket, which has a block, and in one that does not; in tiers; and late.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn sums_of_windows() {
    for (value, part) in values() {
        let clock = Manual::default();
        clock.set(windrow::Timestamp::from_secs(100));
        let window = SlidingWindow::<Disk>::builder().clock(clock.clone());
        let window = window.tier(Duration::from_secs(1), 40).build().unwrap();
        let both = |at: windrow::Timestamp, value: u64| {
            window.record_at(at, Disk::Read, value).unwrap();
            window.record_at(at, Disk::Written, value).unwrap();
        };
        let now = window.clock().now();
        for _ in 0..2 {
            window.record(Disk::Read, 1_000);
            window.record(Disk::Written, 1_000);
            window.record(Disk::Read, value);
            window.record(Disk::Written, value);
            both(now - Duration::from_millis(500), value);
        }
        let parts = 2_000_u64.wrapping_add(part.wrapping_mul(4));
        let check = |what, of: windrow::Stats| {
            assert_eq!((of.count, of.sum), (6, parts), "{value}, {what}");
            assert_eq!(
                (of.min, of.max),
                (Some(value.min(1_000)), Some(value.max(1_000))),
                "{what}"
            );
        };
        check("window", window.stats(Disk::Read));
        check("window", window.stats(Disk::Written));
        check("totals", window.totals().stats(Disk::Read));
        check("lifetime", window.lifetime(Disk::Read));
        check("lifetime", window.lifetime(Disk::Written));
        assert_eq!(window.lifetime_distribution(Disk::Written).sum(), parts);
        let buckets = window.snapshot();
        check("buckets", buckets.buckets().iter().map(|bucket| bucket.stats(Disk::Read)).sum());
        check("buckets", buckets.buckets().iter().map(|bucket| bucket.stats(Disk::Written)).sum());

        clock.advance(Duration::from_secs(5)); // closed, and out of the ring
        window.record(Disk::Read, 1);
        window.record(Disk::Written, 1);
        let tier = window.over(Duration::from_secs(20)).unwrap();
        assert_eq!(tier.stats(Disk::Read).sum, parts.wrapping_add(1), "{value}");
        assert_eq!(tier.stats(Disk::Written).sum, parts.wrapping_add(1), "{value}");
        clock.set(windrow::Timestamp::from_secs(101));
        window.record(Disk::Read, value); // late
        window.record(Disk::Written, value);
        let after = parts.wrapping_add(1).wrapping_add(part);
        assert_eq!(window.late(Disk::Read).sum, part);
        assert_eq!(window.lifetime(Disk::Read).sum, after);
        assert_eq!(window.lifetime(Disk::Written).sum, after);
        assert_eq!(window.lifetime(Disk::Written).max, Some(value.max(1_000)));
    }
}

#[test]
fn sums_never_go_back() {
    in_each_strategy("sums::sums_beside_a_reader");
}

/// Threads record usual values and others, and a reader looks on.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn sums_beside_a_reader() {
    let rounds = testkit::rounds(20_000);
    let (latency, window) = (Histogram::new(), SlidingWindow::<Disk>::builder().build().unwrap());
    thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| {
                scope.spawn(|| {
                    for round in 0..rounds {
                        let value = if round % 5 == 0 { u64::MAX - round % 3 } else { 1_000 };
                        latency.record(value);
                        window.record(Disk::Read, value);
                        window.record(Disk::Written, value);
                    }
                })
            })
            .collect();
        let mut last = [0; 3];
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let lifetimes = [Event::<Disk>::from(Disk::Read), Disk::Written.into()];
            let [read, written] = lifetimes.map(|event| window.lifetime(event).sum);
            let now = [latency.lifetime().sum(), read, written];
            assert!(now.iter().zip(last).all(|(now, last)| *now >= last), "{now:?}, {last:?}");
            last = now;
        }
    });
    let usual = 3 * (0..rounds).filter(|round| round % 5 != 0).count() as u64 * 1_000;
    let (read, written) = (window.lifetime(Disk::Read), window.lifetime(Disk::Written));
    assert_eq!([latency.sum(), read.sum, written.sum], [usual; 3]);
    assert_eq!([latency.count(), read.count, written.count], [3 * rounds as u64; 3]);
    let now = latency.distribution();
    assert_eq!([now.max(), read.max, written.max], [Some(u64::MAX); 3]);
}
