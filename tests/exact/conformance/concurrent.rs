//! Many threads at one ring: which makes a bucket, which adopts it, and what readers see meanwhile.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use super::Http;
use testkit::{Finish, at, at_ns, clock_at, ms, ns, race, window};

/// Origin: Sentinel `BucketLeapArrayTest`: 16 threads race to create the first bucket.
#[test]
fn a08_bucket_leap_array_test_sixteen_threads() {
    for round in 0..50 {
        let clock = clock_at(1_500_000_000_000 + round);
        let window = window::<Http>(ms(1000), 2, &clock);
        clock.advance(ms(1000)); // so that the race is to open a bucket
        race(16, |_| window.add(Http::Pass, 1));
        assert_eq!(window.sum(Http::Pass), 16);
        assert_eq!(window.snapshot().buckets()[1].sum(Http::Pass), 16, "all in one bucket");
    }
}

/// Defect: a reset in two steps (start published before counts are zeroed, or the reverse) loses
/// counts, or shows a bucket with those of its predecessor.
#[test]
fn b03_no_reader_sees_a_bucket_half_made() {
    let clock = clock_at(0);
    let window = window::<Http>(ns(10), 3, &clock);
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut reads = 0;
            while !finished.load(Ordering::Acquire) || reads == 0 {
                for bucket in window.snapshot().buckets() {
                    // Each bucket gets its own number once: anything else is another's.
                    let number = bucket.start().as_nanos() / 10;
                    let (pass, rt) = (bucket.sum(Http::Pass), bucket.stats(Http::Rt));
                    assert!(pass == 0 || pass == number, "{pass} in bucket {number}");
                    assert!(rt.sum == 0 || rt.sum == number, "{rt:?} in bucket {number}");
                }
                reads += 1;
            }
        });
        let finish = Finish(&finished);
        for number in 1..20_000 {
            clock.set(at_ns(number * 10));
            window.add(Http::Pass, number);
            window.record(Http::Rt, number);
            let newest = window.over(ns(10)).expect("one bucket").totals();
            assert_eq!((newest.sum(Http::Pass), newest.sum(Http::Rt)), (number, number));
        }
        drop(finish);
        reader.join().expect("the reader found nothing wrong");
    });
    let rt = window.lifetime(Http::Rt);
    assert_eq!((rt.count, rt.min, rt.max), (19_999, Some(1), Some(19_999)));
}

/// Defect: no second check after taking the lock (or a lock that protects nothing), so that two
/// threads each reset the bucket and the adds between are lost. Here one start has one winner.
#[test]
fn b04_one_winner_per_start() {
    let clock = clock_at(0);
    let window = window::<Http>(ns(10), 2, &clock);
    let rounds = 500;
    for round in 1..=rounds {
        clock.set(at_ns(round * 10));
        race(4, |_| {
            for _ in 0..5 {
                window.add(Http::Pass, 1);
                window.record(Http::Rt, round);
            }
        });
        let newest = window.over(ns(10)).expect("one bucket").totals();
        assert_eq!((newest.sum(Http::Pass), newest.stats(Http::Rt).count), (20, 20));
        assert_eq!(newest.stats(Http::Rt).min, Some(round));
    }
    assert_eq!(window.lifetime(Http::Pass).sum, rounds * 20);
    assert_eq!(window.late(Http::Pass).sum, 0);
}

/// Defect: one lock for all slots, spun on with yield. Here losers adopt the winner's bucket,
/// whichever buckets the others are at.
#[test]
fn b05_losers_adopt_the_winners_bucket() {
    for round in 0..100_u64 {
        let clock = clock_at(10_000);
        let window = window::<Http>(ms(100), 8, &clock);
        clock.set(at(10_700));
        // Two threads for each of eight buckets, none of which but the first exists yet.
        race(16, |thread| {
            let when = at(10_000 + thread as u64 / 2 * 100);
            for _ in 0..10 {
                window.add_at(when, Http::Pass, 1).expect("in the ring");
                window.record_at(when, Http::Rt, thread as u64).expect("in the ring");
            }
        });
        for (bucket, number) in window.snapshot().buckets().iter().zip(0..) {
            let rt = bucket.stats(Http::Rt);
            assert_eq!((bucket.sum(Http::Pass), rt.count), (20, 20), "round {round}");
            assert_eq!((rt.min, rt.max), (Some(number * 2), Some(number * 2 + 1)));
        }
    }
}

/// Defect: plain fields read across threads, so that a reader sees one bucket's start with the
/// counts of another.
#[test]
fn b06_starts_and_counts_belong_together() {
    let clock = clock_at(0);
    let window = window::<Http>(ns(7), 5, &clock);
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        let readers = [0, 1].map(|_| {
            scope.spawn(|| {
                let mut last = 0;
                while !finished.load(Ordering::Acquire) {
                    let snapshot = window.snapshot();
                    let newest = snapshot.totals().at().as_nanos() / 7 * 7;
                    assert!(newest >= last, "the clock never goes back here");
                    last = newest;
                    let count = (newest / 7 + 1).min(5);
                    assert_eq!(snapshot.buckets().len() as u64, count);
                    for (bucket, back) in snapshot.buckets().iter().rev().zip(0..) {
                        let start = bucket.start().as_nanos();
                        assert_eq!(start, newest - back * 7);
                        assert_eq!(bucket.end().as_nanos(), start + 7);
                        let (min, max) = (bucket.stats(Http::Rt).min, bucket.stats(Http::Rt).max);
                        let inside = |value: u64| start <= value && value < start + 7;
                        assert!(min.is_none_or(inside) && max.is_none_or(inside));
                    }
                }
            })
        });
        let finish = Finish(&finished);
        for nanos in 0..50_000 {
            clock.set(at_ns(nanos));
            window.record(Http::Rt, nanos);
        }
        drop(finish);
        for reader in readers {
            reader.join().expect("nothing wrong was seen");
        }
    });
}
