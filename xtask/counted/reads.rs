//! Reads of windows in each state that matters to their cost.

use std::hint::black_box;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::{Clock, SlidingWindow};

use crate::{count, window};

/// An hour, the length of a bucket.
const HOUR: Duration = Duration::from_secs(3_600);

// A set of its own: what this program does with a window of `Http` must not change.
windrow::events! { enum Hits { Pass: Count, Rt: Value } }

windrow::events! { enum Timed { Rt: Histogram } }

/// A window of two minutes in seconds, with a tier of seconds and one of 24 hours.
struct Tiered {
    clock: Manual,
    window: SlidingWindow<Hits, Manual>,
}

impl Tiered {
    /// Makes a window of an age in seconds, with an add in each second.
    fn new(age: u32) -> Tiered {
        let clock = Manual::default();
        clock.advance(1_000_000 * HOUR);
        let builder = SlidingWindow::builder().interval(Duration::from_secs(120)).buckets(120);
        let builder = builder.tier(Duration::from_secs(1), 3_600).tier(HOUR, 24);
        let window = builder.clock(clock.clone()).build().expect("the tiers nest");
        let tiered = Tiered { clock, window };
        (0..age).for_each(|_| tiered.pass(1));
        tiered
    }

    /// Lets seconds pass, and adds.
    fn pass(&self, seconds: u64) {
        self.clock.advance(Duration::from_secs(seconds));
        self.window.add(Hits::Pass, 1);
    }

    /// Adds, a number of seconds ago.
    fn add_back_dated(&self, seconds: u64) {
        let at = self.clock.now() - Duration::from_secs(seconds);
        self.window.add_at(at, Hits::Pass, 1).expect("in the ring");
    }

    /// Lets seconds pass, and touches each.
    fn touch(self, seconds: u32) -> Tiered {
        for _ in 0..seconds {
            self.pass(1);
            self.add_back_dated(90);
        }
        self
    }

    /// Counts sums of a span of seconds.
    fn sum(&self, times: u64, seconds: u64) {
        let over = self.window.over(Duration::from_secs(seconds)).expect("a tier reaches back");
        count(times, || _ = black_box(over.sum(Hits::Pass)));
    }
}

/// Calls a read; returns false if there is none of that name.
pub(crate) fn read(path: &str, times: u64) -> bool {
    match path {
        "SlidingWindow::sum, touched" => {
            let (window, _) = full();
            for hours in 1..60 {
                let at = window.clock().now() - hours * HOUR;
                window.add_at(at, Hits::Pass, 1).expect("in the ring");
            }
            assert_eq!(window.sum(Hits::Pass), 119);
            count(times, || _ = black_box(window.sum(Hits::Pass)));
        }
        "SlidingWindow::sum, a bucket behind" => {
            let (window, clock) = full();
            clock.advance(HOUR);
            assert_eq!(window.sum(Hits::Pass), 59);
            count(times, || _ = black_box(window.sum(Hits::Pass)));
        }
        "SlidingWindow::sum, after a change of geometry" => {
            let (window, clock) = full();
            window.reconfigure(90 * HOUR, 90).expect("a sound geometry");
            for _ in 0..3 {
                clock.advance(HOUR);
                window.add(Hits::Pass, 1);
            }
            assert_eq!(window.sum(Hits::Pass), 63);
            count(times, || _ = black_box(window.sum(Hits::Pass)));
        }
        "SlidingWindow::rate" => {
            let (window, _) = full();
            count(times, || _ = black_box(window.rate(Hits::Pass)));
        }
        "Over::sum, the interval" => {
            let (window, _) = full();
            let over = window.over(60 * HOUR).expect("the interval");
            count(times, || _ = black_box(over.sum(Hits::Pass)));
        }
        "Over::complete, a Histogram" => {
            let window = timed();
            let over = window.over(60 * HOUR).expect("the interval");
            assert_eq!(over.complete().stats(Timed::Rt).count, 59);
            count(times, || _ = black_box(over.complete()));
        }
        "SlidingWindow::lifetime of a Histogram" => {
            let window = timed();
            count(times, || _ = black_box(window.lifetime(Timed::Rt)));
        }
        "tier, an hour" => Tiered::new(4_000).sum(times, 3_600),
        "tier, an hour, a minute old" => Tiered::new(60).sum(times, 3_600),
        "tier, an hour, touched" => Tiered::new(100).touch(3_900).sum(times, 3_600),
        "tier, an hour, stats of a Value" => {
            let tiered = Tiered::new(0);
            for second in 0..4_000 {
                tiered.pass(1);
                tiered.window.record(Hits::Rt, 1_000 + second % 100);
            }
            let over = tiered.window.over(HOUR).expect("a tier reaches back");
            count(times, || _ = black_box(over.stats(Hits::Rt)));
        }
        "SlidingWindow::record that opens a bucket, two tiers" => {
            let tiered = Tiered::new(4_000);
            count(times, || {
                tiered.clock.advance(Duration::from_secs(1));
                tiered.window.record(Hits::Rt, 5);
            });
        }
        "SlidingWindow::add_at, 90 buckets ago, two tiers" => {
            let tiered = Tiered::new(4_000);
            count(times, || tiered.add_back_dated(90));
        }
        "tier, an hour that begins in an idle time" => {
            let tiered = Tiered::new(4_000);
            tiered.pass(3_500);
            tiered.sum(times, 3_600);
        }
        "tier, 30 minutes that begin in an idle time" => {
            let tiered = Tiered::new(4_000);
            tiered.pass(3_500);
            tiered.sum(times, 1_800);
        }
        _ => return false,
    }
    true
}

/// Makes a window in which each of 60 buckets has a value, of some five octaves.
fn timed() -> SlidingWindow<Timed, Manual> {
    let clock = Manual::default();
    let builder = SlidingWindow::builder().interval(60 * HOUR).buckets(60);
    let window = builder.clock(clock.clone()).build().expect("whole hours");
    for bucket in 0..60 {
        clock.advance(HOUR);
        window.record(Timed::Rt, 1_000_000 + 500_000 * bucket);
    }
    window
}

/// Makes a window in which each of 60 buckets has a count, and its clock.
fn full() -> (SlidingWindow<Hits, Manual>, Manual) {
    let clock = Manual::default();
    let window = window(clock.clone(), 60);
    for _ in 0..60 {
        clock.advance(HOUR);
        window.add(Hits::Pass, 1);
    }
    (window, clock)
}
