//! Records in a window's histograms on several threads, while buckets rotate, others read and
//! drain, and the geometry changes.
//!
//! Writers note the time and the value of each record. At rest each bucket has the values of its
//! time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::ledger::Progress;
use testkit::traced::{Traced, time_of};
use testkit::{Finish, Rng, alone, at_ns, ns, race};
use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{
    SlidingWindow, Stats,
    histogram::{Distribution, Scale},
    snapshot::BucketSnapshot,
};

use crate::{counts, distribution};

const WRITERS: usize = 4;

const SCALE: Scale = Scale::fixed::<2, 4, 4_000>();

windrow::events! {
    /// Each value is recorded of the first, and of the second where the ring holds all of time.
    enum Seen { Rt: Histogram(SCALE), All: Value, Idle: Histogram(SCALE) }
}

/// The plan of a storm.
#[derive(Clone, Copy)]
struct Plan {
    /// The length of a bucket, in nanoseconds.
    length: u64,
    buckets: u64,
    /// The number of records of each writer.
    records: u64,
    /// Geometries to change between. All hold all of time, if the first does.
    geometries: &'static [(u64, u64)],
    holds_all: bool,
}

/// By the start of the bucket.
type Values = BTreeMap<u64, Vec<u64>>;

struct Storm {
    plan: Plan,
    window: SlidingWindow<Seen, Traced<Manual>>,
    clock: Manual,
    progress: [Progress; WRITERS],
    is_over: AtomicBool,
}

/// Checks that each counted value is in the sum, and that all reads agree.
fn is_sound(stats: Stats, of: &Distribution) {
    assert_eq!(
        (stats.count, stats.sum, stats.min, stats.max),
        (of.count(), of.sum(), of.min(), of.max())
    );
    let least: u64 = of.cells().map(|(holds, count)| holds.start() * count).sum();
    assert!(least <= of.sum(), "the sum lacks counted values: {of:?}");
    assert_eq!(of.count(), of.cells().map(|(_, count)| count).sum::<u64>());
}

fn bucket_is_sound(bucket: &BucketSnapshot<Seen>) {
    is_sound(bucket.stats(Seen::Rt), &bucket.distribution(Seen::Rt));
    assert!(bucket.distribution(Seen::Idle).count() == 0);
}

impl Storm {
    fn new(plan: Plan) -> Storm {
        let clock = Manual::default();
        let window = SlidingWindow::<Seen>::builder()
            .interval(ns(plan.length * plan.buckets))
            .buckets(plan.buckets as usize)
            .clock(Traced(clock.clone()))
            .build()
            .expect("a valid window");
        Storm { plan, window, clock, progress: Default::default(), is_over: AtomicBool::new(false) }
    }

    /// Returns what this writer has recorded, by the time.
    fn write(&self, writer: usize) -> Vec<(u64, u64)> {
        let mut random = Rng::with_seed(writer as u64);
        let record = |_| {
            if random.u8(..4) == 0 {
                self.clock.advance(ns(random.u64(..self.plan.length)));
            }
            let value = random.u64(..) >> random.u32(48..64);
            let recorded = self.progress[writer]
                .around(1, value, || Some(time_of(|| self.window.record(Seen::Rt, value))));
            let time = recorded.expect("a record is never refused");
            if self.plan.holds_all {
                self.window.record_at(at_ns(time), Seen::All, value).expect("the ring holds all");
            }
            (time, value)
        };
        (0..self.plan.records).map(record).collect()
    }

    /// Asks for everything. Every finished record is present, and none that was not begun.
    fn read(&self) {
        let mut last = self.window.lifetime_distribution(Seen::Rt);
        while !self.is_over.load(Ordering::Acquire) {
            let [done, _] = Progress::done(&self.progress);
            let now = self.window.lifetime_distribution(Seen::Rt);
            let of_interval = self.window.distribution(Seen::Rt);
            let [begun, _] = Progress::begun(&self.progress);
            assert!((done..=begun).contains(&now.count()), "{now:?} is not in {done}..={begun}");
            assert!(last.sum() <= now.sum());
            let grown = counts(&last).into_iter().all(|(end, count)| {
                now.cells().any(|(holds, now)| *holds.end() == end && now >= count)
            });
            assert!(grown, "{last:?}, then {now:?}");
            assert!(!self.plan.holds_all || (done..=begun).contains(&of_interval.count()));
            is_sound(self.window.stats(Seen::Idle), &self.window.distribution(Seen::Idle));
            self.window.snapshot().buckets().last().into_iter().for_each(bucket_is_sound);
            let totals = self.window.totals();
            is_sound(totals.stats(Seen::Rt), &totals.distribution(Seen::Rt));
            last = now;
        }
    }

    /// Changes the geometry, and drains. Each drained value was recorded in its bucket.
    fn disturb(&self) -> Vec<BucketSnapshot<Seen>> {
        let mut drained = Vec::new();
        let mut random = Rng::with_seed(9);
        loop {
            let is_over = self.is_over.load(Ordering::Acquire);
            if !self.plan.geometries.is_empty() {
                let (length, buckets) =
                    self.plan.geometries[random.usize(..self.plan.geometries.len())];
                self.window.reconfigure(ns(length * buckets), buckets as usize).expect("valid");
            }
            self.drain(&mut drained);
            if is_over {
                return drained; // once more at the end
            }
            thread::yield_now();
        }
    }

    fn drain(&self, drained: &mut Vec<BucketSnapshot<Seen>>) {
        self.window.drain_closed(|bucket| {
            bucket_is_sound(&bucket);
            drained.push(bucket);
        });
    }

    fn run(&self) {
        let (records, mut drained) = thread::scope(|scope| {
            let write = |writer| move || self.write(writer);
            let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
            let finish = Finish(&self.is_over);
            let (reader, other) = (scope.spawn(|| self.read()), scope.spawn(|| self.disturb()));
            let records: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            drop(finish);
            reader.join().expect("the reader saw nothing wrong");
            let records = records.into_iter().flat_map(|all| all.expect("no writer panics"));
            (records.collect::<Vec<_>>(), other.join().expect("nothing wrong was drained"))
        });
        // A bucket that a pinned thread kept open is closed at rest: by the next drain, or by the
        // few after it, with which the epochs advance.
        for _ in 0..8 {
            self.drain(&mut drained);
        }
        self.is_exact(&records);
        if self.plan.geometries.is_empty() {
            let by_start = by_start(&records, self.plan.length);
            for bucket in &drained {
                let all = distribution(SCALE, &by_start[&bucket.start().as_nanos()]);
                let all: BTreeMap<_, _> = counts(&all).into_iter().collect();
                let of = counts(&bucket.distribution(Seen::Rt));
                assert!(of.iter().all(|(end, count)| all.get(end) >= Some(count)), "{bucket:?}");
            }
            let some = if self.plan.holds_all { 100 } else { 0 };
            assert!(drained.len() >= some, "{} drained", drained.len());
        }
    }

    /// At rest: each bucket has its values, in the histogram and in the `Value`; and all buckets
    /// together have all values.
    fn is_exact(&self, records: &[(u64, u64)]) {
        let values = |records: &[(u64, u64)]| -> Vec<u64> {
            records.iter().map(|(_, value)| *value).collect()
        };
        let all = distribution(SCALE, &values(records));
        assert_eq!(self.window.lifetime_distribution(Seen::Rt), all);
        assert_eq!(self.window.lifetime_distribution(Seen::Idle).count(), 0);
        let snapshot = self.window.snapshot();
        if self.plan.holds_all {
            assert_eq!(
                (self.window.distribution(Seen::Rt), snapshot.totals().distribution(Seen::Rt)),
                (all.clone(), all)
            );
        }
        snapshot.buckets().iter().for_each(bucket_is_sound);
        if !self.plan.geometries.is_empty() {
            return; // each bucket was moved as often as the geometry has changed since
        }
        let length = self.window.bucket_length().as_nanos() as u64;
        let by_start = by_start(records, length);
        for bucket in snapshot.buckets() {
            let expected = by_start.get(&bucket.start().as_nanos()).cloned().unwrap_or_default();
            assert_eq!(bucket.distribution(Seen::Rt), distribution(SCALE, &expected), "{bucket:?}");
            if self.plan.holds_all {
                assert_eq!(bucket.stats(Seen::Rt), bucket.stats(Seen::All));
            }
        }
    }
}

/// Returns the records of each bucket of a length.
fn by_start(records: &[(u64, u64)], length: u64) -> Values {
    let mut by_start = Values::new();
    let newest = records.iter().map(|(time, _)| *time).max().unwrap_or(0);
    for bucket in 0..=newest / length {
        // Also if nothing was added to it: it is drained, too.
        by_start.insert(bucket * length, Vec::new());
    }
    for (time, value) in records {
        by_start.entry(time - time % length).or_default().push(*value);
    }
    by_start
}

const PLAN: Plan =
    Plan { length: 10, buckets: 1 << 15, records: 5_000, geometries: &[], holds_all: true };

#[test]
fn each_bucket_has_what_was_recorded_in_its_time() {
    alone::in_each_strategy("window_records::each_bucket_here");
    alone::run("window_records::each_bucket_here", &[("WINDROW_ROWS", "1")]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn each_bucket_here() {
    Storm::new(PLAN).run();
    // Buckets leave all the time.
    Storm::new(Plan { buckets: 3, holds_all: false, ..PLAN }).run();
    let geometries = &[(10, 1 << 15), (30, 1 << 13), (70, 5_000), (7, 1 << 15)];
    Storm::new(Plan { geometries, ..PLAN }).run();
    let geometries = &[(10, 4), (3, 7), (1, 1), (1_000, 2)];
    Storm::new(Plan { buckets: 4, geometries, holds_all: false, ..PLAN }).run();
}

/// No address space: no block. All threads add to the bucket's shared cells.
#[test]
#[cfg(target_os = "linux")]
fn a_bucket_without_columns_has_percentiles() {
    alone::run("window_records::without_room_for_columns_here", &[]);
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "run by another test, in a process of its own"]
fn without_room_for_columns_here() {
    let clock = Manual::default();
    let window = crate::records::with_no_more_memory(|| {
        let window = SlidingWindow::<Seen>::builder().buckets(2).clock(clock.clone()).build();
        let window = window.expect("a geometry");
        window.record(Seen::Rt, 1_000);
        window
    });
    let values = |writer: usize| (0..1_000).map(move |n| n * (writer as u64 + 1));
    race(WRITERS, |writer| values(writer).for_each(|value| window.record(Seen::Rt, value)));
    assert_eq!(window.by_row(Seen::Rt.index()).shared, 1 + 1_000 * WRITERS as u64);
    let mut all: Vec<u64> = (0..WRITERS).flat_map(values).collect();
    all.push(1_000);
    let exact = distribution(SCALE, &all);
    for found in [window.distribution(Seen::Rt), window.lifetime_distribution(Seen::Rt)] {
        assert_eq!(found, exact);
    }
    clock.advance(window.bucket_length());
    assert_eq!(window.previous().distribution(Seen::Rt), exact);
}
