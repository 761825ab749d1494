//! Counters and gauges under threads that come and go.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::{Counter, Gauge, Maximum, Minimum, SlidingWindow};

use super::Http;
use testkit::{Finish, clock_at, ms, race, window};

/// Origin: Sentinel `StatisticNodeTest`, 100 tasks of 100 000 alternating +1 and -1.
#[test]
fn a12_statistic_node_test_gauge() {
    let gauge = Gauge::new();
    let tasks = |first: usize| {
        for task in (first..100).step_by(4) {
            for step in 0..100_000 {
                if (task + step) % 2 == 0 { gauge.increment() } else { gauge.decrement() }
            }
        }
    };
    race(4, tasks);
    assert_eq!(gauge.sum(), 0);
    gauge.add(-7);
    assert_eq!(gauge.sum(), -7);
}

/// Adds at the very end of its thread's life.
struct LastWords(fn());

impl Drop for LastWords {
    fn drop(&mut self) {
        (self.0)();
    }
}

thread_local! {
    static LAST_WORDS: LastWords = const {
        LastWords(|| {
            GONE.increment();
            HIGHEST.record(3);
            LOWEST.record(3);
        })
    };
}

static GONE: Counter = Counter::new();
static HIGHEST: Maximum = Maximum::new();
static LOWEST: Minimum = Minimum::new();

/// Defect (bvar): use after free at thread exit, at process exit, in fork; counts handed over by
/// threads as they end. Here no number is a thread's own, and exit folds nothing.
#[test]
fn b17_no_count_is_lost_with_its_thread() {
    let clock = clock_at(1_000);
    let window = window::<Http>(ms(100), 4, &clock);
    let counter = Counter::new();
    for round in 1..=200 {
        thread::scope(|scope| {
            scope.spawn(|| {
                LAST_WORDS.with(|_| ());
                counter.increment();
                window.add(Http::Pass, 1);
                window.record(Http::Rt, round);
            });
        });
        assert_eq!(counter.sum(), round);
        assert_eq!(window.sum(Http::Pass), round);
        assert_eq!(window.stats(Http::Rt).count, round);
    }
    // A scope ends when its closures have, a joined thread when its destructors have, too.
    thread::spawn(|| LAST_WORDS.with(|_| ())).join().expect("no panic");
    assert!(GONE.sum() >= 1);
    assert_eq!((HIGHEST.get(), LOWEST.get()), (Some(3), Some(3)));
}

/// A window that is last used by a thread in its last moments.
#[test]
fn b17_a_window_may_be_the_last_thing_a_thread_holds() {
    type Held = std::cell::OnceCell<std::sync::Arc<SlidingWindow<Http, windrow::clock::Manual>>>;
    struct Holder(Held);
    impl Drop for Holder {
        fn drop(&mut self) {
            let window = self.0.get().expect("the thread has set it");
            window.add(Http::Pass, 1);
            window.record(Http::Rt, 9);
        }
    }
    thread_local! {
        static HOLDER: Holder = const { Holder(Held::new()) };
    }

    let clock = clock_at(1_000);
    let window = std::sync::Arc::new(window::<Http>(ms(100), 4, &clock));
    for round in 1..=50_u64 {
        clock.advance(ms(100)); // so that the last words open a bucket
        let held = window.clone();
        let pass_on = move || HOLDER.with(|holder| holder.0.set(held).is_ok());
        assert!(thread::spawn(pass_on).join().expect("no panic"));
        assert_eq!(window.lifetime(Http::Pass).count, round);
        assert_eq!(window.over(ms(100)).expect("one bucket").stats(Http::Rt).min, Some(9));
    }
}

/// Defect: folly's flush and full read race, and a `LongAdder`'s `sum` with a `reset` behind it
/// loses the adds in between. Here every add is in exactly one result.
#[test]
fn b18_every_add_is_in_exactly_one_drain() {
    let counter = Counter::new();
    let finished = AtomicBool::new(false);
    let drained: u64 = thread::scope(|scope| {
        let drainers = [0, 1].map(|_| {
            scope.spawn(|| {
                let mut drained = 0;
                while !finished.load(Ordering::Acquire) {
                    let part = counter.take();
                    assert!(part <= 4 * 100_000, "{part}: less than nothing");
                    drained += part;
                }
                drained
            })
        });
        let finish = Finish(&finished);
        race(4, |_| (0..100_000).for_each(|_| counter.increment()));
        drop(finish);
        drainers.into_iter().map(|drainer| drainer.join().expect("no drain failed")).sum()
    });
    assert_eq!(drained + counter.take(), 4 * 100_000);
    assert_eq!(counter.sum(), 0);
}

/// A number that a counter begins with is drained once, like an add, with a column or without.
#[test]
fn what_a_counter_begins_with_is_in_the_first_drain() {
    let counter = Counter::from(40);
    assert_eq!((counter.sum(), counter.to_string()), (40, "40".to_owned()));
    counter.add(2);
    assert_eq!((counter.take(), counter.take()), (42, 0));
    counter.add(1);
    assert_eq!(counter.sum(), 1);
    let counter = Counter::from(u64::MAX);
    assert_eq!(counter.take(), u64::MAX);
    counter.add(3);
    assert_eq!(counter.take(), 3);

    let gauge = Gauge::from(i64::MIN);
    assert_eq!(gauge.to_string(), i64::MIN.to_string());
    gauge.decrement();
    assert_eq!(gauge.sum(), i64::MAX, "wraps");
}

#[test]
fn numbers_are_shown_as_numbers() {
    let (highest, lowest) = (Maximum::new(), Minimum::new());
    assert_eq!(format!("{highest} {lowest:>6}"), "none   none");
    for value in [30, 7] {
        highest.record(value);
        lowest.record(value);
    }
    assert_eq!(format!("{highest} {lowest:>6} {lowest:<3}|"), "30      7 7  |");
    assert_eq!(format!("{:+} {:05}", Gauge::from(3), Counter::from(12)), "+3 00012");
}
