//! A read while the ring moves on under it still counts the right buckets.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use testkit::Finish;
use windrow::clock::Manual;
use windrow::{Clock, Event, Events, Kind, SlidingWindow, Stats, Timestamp, events, kind};

events! { enum Hits { Hit: Count } }

type Window<E = Hits> = SlidingWindow<E, Hostile<E>>;

/// A clock that opens buckets between the moment at which a read has looked at the newest one, and
/// the moment at which it reads the time: as another thread may while the reader is preempted.
struct Hostile<E: Events> {
    time: Manual,
    window: Arc<OnceLock<Arc<Window<E>>>>,
    /// The adds to each bucket.
    add: fn(&Window<E>),
}

std::thread_local! {
    /// The number of times the clock will still do so, and the number of buckets that it opens each
    /// time.
    static AGAIN: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

const LENGTH: Duration = Duration::from_nanos(10);

impl<E: Events> Clock for Hostile<E> {
    fn now(&self) -> Timestamp {
        let (times, buckets) = AGAIN.replace((0, 0));
        let now = self.time.now();
        if times > 0 {
            let window = self.window.get().expect("set at once");
            for _ in 0..buckets {
                self.time.advance(LENGTH);
                (self.add)(window);
            }
            AGAIN.set((times - 1, buckets));
        }
        now
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns a window on a hostile clock, and its time.
fn overtaken<E: Events>(buckets: u32, add: fn(&Window<E>)) -> (Manual, Arc<Window<E>>) {
    let clock = Hostile { time: Manual::default(), window: Arc::default(), add };
    let (time, cell) = (clock.time.clone(), Arc::clone(&clock.window));
    let builder = SlidingWindow::<E>::builder().interval(LENGTH * buckets);
    let window = Arc::new(builder.buckets(buckets as usize).clock(clock).build().expect("sound"));
    assert!(cell.set(Arc::clone(&window)).is_ok());
    (time, window)
}

/// Returns a window whose buckets all hold `hits` hits; the newest is still open.
fn full(buckets: u32, hits: u64) -> Arc<Window> {
    let (time, window) = overtaken(buckets, |window| window.add(Hits::Hit, 1));
    for bucket in 0..buckets {
        window.add(Hits::Hit, hits);
        if bucket + 1 < buckets {
            time.advance(LENGTH);
        }
    }
    window
}

/// The whole ring has moved on, eight times in a row; the ninth look finds it at rest.
#[test]
fn a_sum_looks_again_until_it_is_not_overtaken() {
    for times in 1..=8 {
        let window = full(4, 52);
        AGAIN.set((times, 4));
        assert_eq!(window.sum(Hits::Hit), 4, "overtaken {times} times");
        assert_eq!(AGAIN.replace((0, 0)).0, 0);
    }
}

#[test]
fn other_reads_look_again_too() {
    let window = full(4, 52);
    AGAIN.set((8, 4));
    assert_eq!(window.stats(Hits::Hit).count, 4);
    AGAIN.set((8, 4));
    let each: Vec<_> = window.snapshot().buckets().iter().map(|b| b.sum(Hits::Hit)).collect();
    assert_eq!(each, [1; 4]);
    AGAIN.set((8, 4));
    assert_eq!(window.previous().sum(Hits::Hit), 1);
    AGAIN.set((8, 4));
    assert_eq!(window.totals().sum(Hits::Hit), 4);
    let half = window.over(LENGTH * 2).expect("half the interval");
    AGAIN.set((8, 4));
    assert_eq!(half.sum(Hits::Hit), 2);
    AGAIN.set((8, 4));
    assert_eq!(half.complete().sum(Hits::Hit), 2);
    AGAIN.set((8, 4));
    let weighted = half.weighted_rate(Hits::Hit) * half.totals().interval().as_secs_f64();
    assert!((weighted - 3.0).abs() < 1e-9, "as a bucket begins");
    AGAIN.set((8, 4));
    assert_eq!(half.stats(Hits::Hit).count, 2);
    assert_eq!(AGAIN.replace((0, 0)).0, 0);
}

/// However often it is overtaken, a read ends; and it counts every add from before it began, except
/// those in buckets that have left the interval when it returns.
#[test]
fn a_sum_that_is_always_overtaken_misses_only_what_has_left() {
    let window = full(64, 1_000);
    AGAIN.set((u32::MAX, 1));
    let sum = window.sum(Hits::Hit);
    let looks = u64::from(u32::MAX - AGAIN.replace((0, 0)).0);
    // Each look was overtaken by one bucket. The hits of those still there at the end were all
    // added before the read began, or by the clock.
    assert!(looks > 8, "looked {looks} times");
    let still_there = (64 - looks) * 1_000;
    assert!((still_there..=64_000 + looks).contains(&sum), "{sum}, of at least {still_there}");
}

/// Events with many values, so that reading a bucket takes a while.
struct Wide;

impl Events for Wide {
    const EVENTS: &'static [(&'static str, Kind)] = &[("value", Kind::Value); 16];
    type Cells = [u64; 64];
}

const VALUE: Event<Wide, kind::Value> = Event::at(0);

/// Each record is 7. A bucket of which a part was read before it was reused, and a part after,
/// would be short of sum or of extremes. That counts in the last look, so half of the reads are
/// always overtaken.
#[test]
fn what_is_read_of_an_event_agrees_however_often_it_is_overtaken() {
    for buckets in [1, 2, 8] {
        let (time, window) = overtaken(buckets, |window| window.record(VALUE, 7));
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            let finish = Finish(&finished);
            scope.spawn(|| {
                while !finished.load(Ordering::Relaxed) {
                    window.record(VALUE, 7);
                    time.advance(LENGTH / 2);
                }
            });
            let part = window.over(LENGTH).expect("within the interval");
            for read in 0..2_000 {
                let always = |overtaken| if overtaken { (u32::MAX, 1) } else { (0, 0) };
                AGAIN.set(always(read % 2 == 0));
                let totals = [window.totals(), part.totals(), part.complete()];
                let totals = totals.map(|totals| totals.stats(VALUE));
                for stats in totals.into_iter().chain([window.stats(VALUE), part.stats(VALUE)]) {
                    let Stats { count, sum, min, max } = stats;
                    assert!(sum.is_multiple_of(7) && sum >= 7 * count, "{count} of 7 are {sum}");
                    let value = (count > 0).then_some(7);
                    assert_eq!((min, max), (value, value), "{count} of 7");
                }
            }
            AGAIN.set((0, 0));
            drop(finish);
        });
        assert_eq!(window.totals().stats(VALUE), window.stats(VALUE));
    }
}
