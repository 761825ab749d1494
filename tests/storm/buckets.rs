//! Rotation: each bucket is exact, whichever thread opens it, closes it or reads it meanwhile.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use windrow::Event;
use windrow::clock::{Manual, Precise};
use windrow::{Clock, SlidingWindow};

use crate::Seen;
use crate::writers::{Plan, Storm};
use testkit::ledger::{Ledger, Tally};
use testkit::traced::{Traced, time_of};
use testkit::{Rng, ns};

pub(crate) fn exact(plan: Plan) {
    let storm = Storm::new(plan);
    let (mut last, mut turn) = Default::default();
    let books = storm.run(|| {
        storm.bracket_lifetimes(&mut last);
        // Any other reads, so that the reader helps to close the buckets that it finds.
        turn = (turn + 1) % 3;
        match turn {
            0 => drop(storm.window.snapshot()),
            1 => drop(storm.window.previous()),
            _ => drop(storm.window.stats(Seen::Rt)),
        }
    });
    storm.lifetimes_are_exact(&books);
    storm.buckets_are_exact(&books);
}

const PLAN: Plan = Plan {
    length: 10,
    buckets: 4096,
    writers: 6,
    steps: 8_000,
    push_one_in: 2,
    stride: 5,
    back_one_in: 400,
};

/// All of time is in the ring: every bucket there ever was is checked.
#[test]
fn every_bucket_of_a_long_ring() {
    exact(Plan { buckets: 16_384, back_one_in: 0, ..PLAN });
    exact(Plan { buckets: 16_384, ..PLAN });
}

#[test]
fn every_bucket_of_a_ring_of_64() {
    exact(Plan { buckets: 64, ..PLAN });
}

/// Buckets of one nanosecond: nearly every add opens one.
#[test]
fn every_bucket_of_a_nanosecond() {
    exact(Plan { length: 1, buckets: 50_000, back_one_in: 0, ..PLAN });
    exact(Plan { length: 1, buckets: 7, stride: 3, ..PLAN });
}

/// The smallest rings: each add that opens a bucket retires nearly everything.
#[test]
fn every_bucket_of_rings_of_one_to_three() {
    for buckets in 1..=3 {
        exact(Plan { buckets, stride: 30, back_one_in: 100, ..PLAN });
        exact(Plan { buckets, writers: 8, steps: 3_000, push_one_in: 20, stride: 25, ..PLAN });
    }
}

/// Leaps of whole rounds of the ring and more.
#[test]
fn every_bucket_after_leaps() {
    exact(Plan { buckets: 4, stride: 200, push_one_in: 7, ..PLAN });
}

/// Buckets of 100 microseconds by the real time. Of 200 000 of them each is still in the ring.
#[test]
fn every_bucket_of_the_real_time() {
    for buckets in [200_000, 10] {
        let window = SlidingWindow::<Seen>::builder()
            .interval(Duration::from_micros(100) * buckets)
            .buckets(buckets as usize)
            .clock(Traced(Precise::default()))
            .build()
            .expect("a valid window");
        let write = |index: u64| {
            let mut random = Rng::with_seed(index);
            let (mut pass, mut rt) = (Ledger::default(), Ledger::default());
            for _ in 0..20_000 {
                let (n, value) = (random.u64(..5), random.u64(..1000));
                let time = time_of(|| window.add(Seen::Pass, n));
                pass.note(time - time % 100_000, Tally::amount(n));
                let time = time_of(|| window.record(Seen::Rt, value));
                rt.note(time - time % 100_000, Tally::value(value));
            }
            [pass, rt]
        };
        let books: Vec<_> = thread::scope(|scope| {
            let write = |index| move || write(index);
            let writers = [1, 2, 3, 4].map(|index| scope.spawn(write(index)));
            writers.into_iter().map(|writer| writer.join().expect("no writer panics")).collect()
        });
        let snapshot = window.snapshot();
        for (i, event) in [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().enumerate()
        {
            let ledger = Ledger::merged(books.iter().map(|books| books[i].clone()));
            assert_eq!(Tally::from(window.lifetime(event)), ledger.total());
            for bucket in snapshot.buckets() {
                let tally = Tally::from(bucket.stats(event));
                assert_eq!(tally, ledger.at(bucket.start().as_nanos()), "{:?}", bucket.start());
            }
            assert!(
                window.late(event).count + snapshot.totals().stats(event).sum <= ledger.total().sum
            );
        }
    }
}

/// A bucket that no writer can be at any more never changes again, and reads as the sum of its
/// adds: while it is retired, while it is closed, while its block goes to another bucket.
#[test]
fn buckets_left_alone_read_exactly() {
    left_alone(150_000);
}

/// Runs the check above until the reader has looked at `enough_checks` buckets.
pub(crate) fn left_alone(enough_checks: u64) {
    const LENGTH: u64 = 10;
    const BUCKETS: u64 = 256;
    let clock = Manual::default();
    let window = SlidingWindow::<Seen>::builder()
        .interval(ns(LENGTH * BUCKETS))
        .buckets(BUCKETS as usize)
        .clock(Traced(clock.clone()))
        .build()
        .expect("a valid window");
    // No writer will add anything before the time that it has shown here.
    let floors = [const { AtomicU64::new(0) }; 4];
    let enough = AtomicBool::new(false);
    let write = |index: usize| {
        let mut random = Rng::with_seed(index as u64);
        let mut rt = Ledger::default();
        for _ in 0..150_000 {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            floors[index].store(clock.now().as_nanos(), Ordering::SeqCst);
            let value = random.u64(..1000);
            let time = time_of(|| window.record(Seen::Rt, value));
            rt.note(time - time % LENGTH, Tally::value(value));
            if random.u64(..16) == 0 {
                clock.advance(ns(random.u64(..LENGTH)));
            }
        }
        floors[index].store(u64::MAX, Ordering::SeqCst);
        rt
    };
    let read = || {
        let mut seen = BTreeMap::new();
        let mut checks = 0;
        loop {
            let floor = floors.iter().map(|floor| floor.load(Ordering::SeqCst)).min();
            let snapshot = window.snapshot();
            let after = clock.now().as_nanos();
            for bucket in snapshot.buckets() {
                let start = bucket.start().as_nanos();
                let left_alone = Some(bucket.end().as_nanos()) <= floor;
                if left_alone && start + LENGTH * BUCKETS > after {
                    let tally = Tally::from(bucket.stats(Seen::Rt));
                    let before = *seen.entry(start).or_insert(tally);
                    assert_eq!(tally, before, "the bucket {start} has changed");
                    checks += 1;
                }
            }
            if floor == Some(u64::MAX) || checks > enough_checks {
                enough.store(true, Ordering::Relaxed);
                return seen;
            }
        }
    };
    thread::scope(|scope| {
        let write = |index| move || write(index);
        let writers = [0, 1, 2, 3].map(|index| scope.spawn(write(index)));
        let seen = scope.spawn(read).join().expect("the reader saw nothing wrong");
        let books = writers.map(|writer| writer.join().expect("no writer panics"));
        let ledger = Ledger::merged(books);
        for (start, tally) in &seen {
            assert_eq!(*tally, ledger.at(*start), "the bucket {start}");
        }
        assert!(!seen.is_empty());
        assert_eq!(Tally::from(window.lifetime(Seen::Rt)), ledger.total());
    });
}
