//! A log that is written all the time: a line a bucket, and nothing is allocated.

use std::fmt::Write;

use windrow::clock::Manual;
use windrow::{
    SlidingWindow, diagnostics::Strategy, histogram::Distribution, snapshot::BucketSnapshot,
};

use crate::counting::{allocations, while_adding};
use testkit::alone::in_each_strategy;
use testkit::{at_ns, ns};

windrow::events! {
    enum Mixed { Pass: Count, Open: Signed, Wait: Value, Most: Maximum, Rt: Value, Size: Value }
}

const LENGTH: u64 = 10;
/// Longer than any line.
const LINE: usize = 1_000;
/// More than there are buckets and sizes of values, a few times over.
const WARM_UP: u64 = 400;
const BUCKETS: u64 = 2_000;

/// The lines written, in memory that is used again.
struct Log {
    line: String,
    /// The number of all lines, and their total counts.
    written: [u64; 4],
}

impl Log {
    fn new() -> Log {
        Log { line: String::with_capacity(LINE), written: [0; 4] }
    }

    fn write(&mut self, window: &SlidingWindow<Mixed, Manual>) {
        window.drain_closed(|bucket| {
            self.line.clear();
            write!(self.line, "{} ", bucket.start()).expect("a string takes all");
            for event in Mixed::ALL {
                write!(self.line, "{} {:?} ", event.name(), bucket.stats(event))
                    .expect("a string takes all");
            }
            assert!(self.line.len() < LINE);
            let (pass, times) = (bucket.sum(Mixed::Pass), bucket.stats(Mixed::Rt));
            let counted = [1, pass, times.count, bucket.sum(Mixed::Size)];
            for (all, one) in self.written.iter_mut().zip(counted) {
                *all += one;
            }
        });
    }
}

/// Counts in `buckets` buckets, each of which is written when it is over. Each bucket uses other
/// cells of the scale.
fn go_on(window: &SlidingWindow<Mixed, Manual>, log: &mut Log, buckets: u64) {
    for round in 1..=buckets {
        window.add(Mixed::Pass, 1);
        window.add(Mixed::Open, -1);
        for value in 0..=round % 7 {
            window.record(Mixed::Wait, value);
            window.record(Mixed::Most, value);
            window.record(Mixed::Rt, 1_000 << value);
            window.record(Mixed::Size, 3_000 << value);
        }
        window.clock().advance(ns(LENGTH));
        window.close_past();
        log.write(window);
    }
}

#[test]
fn a_line_a_bucket_allocates_nothing() {
    in_each_strategy("drains::lines");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn lines() {
    let clock = Manual::default();
    clock.set(at_ns(1_000_000));
    let builder = SlidingWindow::<Mixed>::builder().interval(ns(20 * LENGTH)).buckets(20);
    let window = builder.clock(clock).build().expect("sound");
    let mut log = Log::new();
    go_on(&window, &mut log, WARM_UP);
    let before = allocations();
    while_adding(|| go_on(&window, &mut log, BUCKETS));
    let made = allocations() - before;
    println!("{:?}: {made} allocations in {BUCKETS} lines", windrow::diagnostics::strategy());
    if windrow::diagnostics::strategy() != Strategy::Epochs {
        assert_eq!(made, 0);
    }
    let (times, sizes) = (window.lifetime(Mixed::Rt).count, window.lifetime(Mixed::Size).sum);
    assert_eq!(log.written, [WARM_UP + BUCKETS, WARM_UP + BUCKETS, times, sizes]);
    assert_eq!(window.lifetime(Mixed::Pass).sum, WARM_UP + BUCKETS);
}

windrow::events! { enum Timed { Pass: Count, Rt: Histogram, Size: Histogram } }

/// Percentiles of each bucket, in memory that is used again.
#[derive(Default)]
struct Percentiles {
    bucket: BucketSnapshot<Timed>,
    times: Distribution,
    sizes: Distribution,
    line: String,
    /// The number of all lines, and their total counts.
    written: [u64; 4],
}

impl Percentiles {
    fn write(&mut self, window: &SlidingWindow<Timed, Manual>) {
        while window.drain_next(&mut self.bucket) {
            let bucket = &self.bucket;
            bucket.distribution_into(Timed::Rt, &mut self.times);
            bucket.distribution_into(Timed::Size, &mut self.sizes);
            self.line.clear();
            let half = self.times.quantile(0.5);
            write!(self.line, "{} {half:?} {} {}", bucket.start(), self.times, self.sizes)
                .expect("a string takes all");
            let pass = bucket.sum(Timed::Pass);
            let counted = [1, pass, self.times.count(), self.sizes.sum()];
            for (all, one) in self.written.iter_mut().zip(counted) {
                *all += one;
            }
        }
    }

    /// Counts in `buckets` buckets, as `go_on` does.
    fn go_on(&mut self, window: &SlidingWindow<Timed, Manual>, buckets: u64) {
        for round in 1..=buckets {
            window.add(Timed::Pass, 1);
            for value in 0..=round % 7 {
                window.record(Timed::Rt, 1_000 << value);
                window.record(Timed::Size, 3_000 << value);
            }
            window.clock().advance(ns(LENGTH));
            window.close_past();
            self.write(window);
        }
    }
}

#[test]
fn percentiles_of_a_bucket_allocate_nothing() {
    in_each_strategy("drains::percentiles");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn percentiles() {
    let clock = Manual::default();
    clock.set(at_ns(1_000_000));
    let builder = SlidingWindow::<Timed>::builder().interval(ns(20 * LENGTH)).buckets(20);
    let window = builder.clock(clock).build().expect("sound");
    let mut log = Percentiles { line: String::with_capacity(LINE), ..Percentiles::default() };
    log.go_on(&window, WARM_UP);
    let before = allocations();
    while_adding(|| log.go_on(&window, BUCKETS));
    let made = allocations() - before;
    println!("{:?}: {made} allocations in {BUCKETS} lines", windrow::diagnostics::strategy());
    if windrow::diagnostics::strategy() != Strategy::Epochs {
        assert_eq!(made, 0);
    }
    let (times, sizes) = (window.lifetime(Timed::Rt).count, window.lifetime(Timed::Size).sum);
    assert_eq!(log.written, [WARM_UP + BUCKETS, WARM_UP + BUCKETS, times, sizes]);
}
