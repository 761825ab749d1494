//! In a closed bucket count, sum, minimum and maximum are of the same values.
//!
//! An aborted record of the per-core strategy once left its extremes in a bucket that did not count
//! it; and a bucket without a block was called closed while records were on their way into its
//! shared cells.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use windrow::clock::Precise;
use windrow::{SlidingWindow, Stats, snapshot::BucketSnapshot};

use crate::book::{agree, some_value};
use crate::{Seen, are_interrupted, check_interruptions, goes_on};
use testkit::Finish;
use testkit::Rng;
use testkit::interrupts::{self, Timer};

/// The period of signals to the one writer: as short as possible, while it still makes progress.
const OFTEN: Duration = Duration::from_micros(20);

/// The closed buckets that a test looks at, at least.
const ENOUGH: usize = 100;

mod one {
    crate::everywhere!(stats::one_writer);
}

mod four {
    crate::everywhere!(stats::four_writers);
}

fn window() -> SlidingWindow<Seen, Precise> {
    SlidingWindow::builder()
        .interval(Duration::from_millis(100))
        .buckets(1_000)
        .clock(Precise::default())
        .build()
        .expect("a valid window")
}

/// The number of records of one writer.
#[derive(Default)]
struct Made(AtomicU64);

impl Made {
    fn another(&self) {
        self.0.fetch_add(1, Ordering::Release);
    }

    /// Waits until the record that the writer is making now is made. However long that takes: it
    /// may be preempted in the middle of it.
    fn wait(&self) {
        // The first to end may have ended before its writer said so.
        let enough = self.0.load(Ordering::Acquire) + 2;
        while self.0.load(Ordering::Acquire) < enough {
            thread::sleep(Duration::from_micros(20));
        }
    }
}

/// Records 1, 2, 3 and so on, while another thread opens buckets: each bucket has all values from
/// its least to its greatest. (A record that comes too late for its bucket is that bucket's last.)
#[test]
#[ignore = "run by the tests above, each in a process of its own"]
fn one_writer() {
    windrow::diagnostics::strategy();
    interrupts::count_signals();
    let (window, finished, made) = (window(), AtomicBool::new(false), [Made::default()]);
    let closed = thread::scope(|scope| {
        let finish = Finish(&finished);
        scope.spawn(|| {
            let (_timer, mut value) = (Timer::start(OFTEN), 0);
            while !finished.load(Ordering::Relaxed) {
                value += 1;
                window.record(Seen::Rt, value);
                made[0].another();
            }
        });
        let (begin, mut closed) = (Instant::now(), 0);
        while goes_on(begin, || closed > ENOUGH && are_interrupted()) {
            window.add(Seen::Pass, 1);
            closed += window.drain_closed(|bucket| {
                if !is_without_gap(bucket.stats(Seen::Rt)) {
                    look_again(&window, &bucket, &made, is_without_gap);
                }
            });
        }
        drop(finish);
        closed
    });
    check_interruptions(&format!("{closed} closed buckets"));
    assert!(closed > ENOUGH, "hardly any bucket was closed");
}

fn is_without_gap(stats: Stats) -> bool {
    let (Some(min), Some(max)) = (stats.min, stats.max) else {
        return stats.count == 0;
    };
    max - min + 1 == stats.count && (min + max) * stats.count / 2 == stats.sum
}

/// Four at once. A record whose bucket is gone when it comes to it is back-dated, and may be seen
/// half made, but only for as long as it takes: so each bucket that looks wrong is read again when
/// it must be made.
#[test]
#[ignore = "run by the tests above, each in a process of its own"]
fn four_writers() {
    windrow::diagnostics::strategy();
    interrupts::count_signals();
    let (window, finished) = (window(), AtomicBool::new(false));
    let made: [Made; 4] = Default::default();
    let closed = thread::scope(|scope| {
        let finish = Finish(&finished);
        for (seed, made) in (0..).zip(&made) {
            let (window, finished) = (&window, &finished);
            scope.spawn(move || {
                let (_timer, mut random) = (Timer::start(interrupts::PERIOD), Rng::with_seed(seed));
                while !finished.load(Ordering::Relaxed) {
                    window.record(Seen::Rt, some_value(&mut random));
                    made.another();
                }
            });
        }
        let (begin, mut closed) = (Instant::now(), 0);
        while goes_on(begin, || closed > ENOUGH && are_interrupted()) {
            closed += window.drain_closed(|bucket| {
                if agree(bucket.stats(Seen::Rt)).is_err() {
                    look_again(&window, &bucket, &made, |stats| agree(stats).is_ok());
                }
            });
            thread::sleep(Duration::from_micros(50));
        }
        drop(finish);
        closed
    });
    check_interruptions(&format!("{closed} closed buckets"));
    assert!(closed > ENOUGH, "hardly any bucket was closed");
}

/// Fails if the bucket is still wrong when every record that was under way is made. A later one is
/// of a later bucket.
fn look_again(
    window: &SlidingWindow<Seen, Precise>,
    seen: &BucketSnapshot<Seen>,
    made: &[Made],
    is_right: impl Fn(Stats) -> bool,
) {
    made.iter().for_each(Made::wait);
    let snapshot = window.snapshot();
    let now = snapshot.buckets().iter().find(|bucket| bucket.start() == seen.start());
    if let Some(now) = now.map(|bucket| bucket.stats(Seen::Rt)) {
        let before = seen.stats(Seen::Rt);
        assert!(
            is_right(now),
            "count, sum, min and max are not of the same values: {before:?}, {now:?}"
        );
    }
}
