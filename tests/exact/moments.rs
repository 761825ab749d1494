//! Sums since a moment: each add is before it or after it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::ledger::Progress;
use testkit::{Finish, Rng, alone, at, at_ns, clock_at, ms, ns, window};
use windrow::clock::Manual;
use windrow::{Clock, Event, SlidingWindow, events, kind, snapshot::Moment};

events! {
    enum Call { Success: Count, Failure: Count, Micros: Value }
}

type Window = SlidingWindow<Call, Manual>;

fn since(window: &Window, moment: &Moment<Call>, event: Event<Call, kind::Count>) -> u64 {
    window.moment().since(moment).expect("a moment of this window").sum(event)
}

/// A circuit breaker: open after five failures of an interval; some time later half open, when it
/// lets calls through and looks at these alone.
struct Breaker {
    window: Window,
    half_opened: Option<Moment<Call>>,
    is_open: bool,
}

impl Breaker {
    fn call(&mut self, outcome: Event<Call, kind::Count>) {
        self.window.add(outcome, 1);
        if let Some(moment) = &self.half_opened {
            let since = self.window.moment().since(moment).expect("a moment of this window");
            if since.sum(Call::Failure) > 0 {
                (self.is_open, self.half_opened) = (true, None);
            } else if since.sum(Call::Success) >= 3 {
                self.half_opened = None;
            }
        } else if self.window.sum(Call::Failure) >= 5 {
            self.is_open = true;
        }
    }

    fn half_open(&mut self) {
        self.window.clear().expect("there is memory");
        (self.is_open, self.half_opened) = (false, Some(self.window.moment()));
    }
}

#[test]
fn a_breaker_trips_on_failures_since_it_half_opened() {
    let clock = clock_at(60_000);
    let mut breaker =
        Breaker { window: window(ms(500), 4, &clock), half_opened: None, is_open: false };
    for calls in 1..=5 {
        breaker.call(Call::Failure);
        assert_eq!(breaker.is_open, calls == 5);
    }
    breaker.half_open();
    breaker.call(Call::Success);
    clock.advance(ms(10_000)); // all buckets are gone; the counts since the moment are not
    breaker.call(Call::Success);
    assert!(breaker.half_opened.is_some());
    breaker.call(Call::Failure);
    assert!(breaker.is_open, "one failure is enough while it is half open");
    breaker.half_open();
    for _ in 0..3 {
        assert!(breaker.half_opened.is_some());
        breaker.call(Call::Success);
    }
    assert!(!breaker.is_open && breaker.half_opened.is_none());
    breaker.call(Call::Failure);
    assert!(!breaker.is_open, "it is closed, and has five failures");
}

#[test]
fn an_add_counts_since_the_moment_wherever_its_bucket_is() {
    let clock = clock_at(60_000);
    let window: Window = window(ms(10), 4, &clock);
    window.add(Call::Failure, 1);
    clock.advance(ms(10));
    window.add(Call::Failure, 2);
    let moment = window.moment();
    assert_eq!(since(&window, &moment, Call::Failure), 0);
    window.add(Call::Failure, 10);
    window.add_at(at(60_000), Call::Failure, 100).expect("in the ring");
    clock.set(at(1_000));
    window.add(Call::Failure, 1_000);
    assert_eq!(window.late(Call::Failure).sum, 1_000);
    clock.set(at(60_010));
    let middle = window.moment();
    window.clear().expect("there is memory");
    window.reconfigure(ms(90), 3).expect("a valid geometry");
    window.add(Call::Failure, 10_000);
    for _ in 0..9 {
        clock.advance(ms(30));
        window.add(Call::Failure, 100_000);
        window.drain_closed(|_| ());
    }
    assert_eq!(since(&window, &moment, Call::Failure), 911_110);
    assert_eq!(since(&window, &middle, Call::Failure), 910_000);
    assert_eq!(since(&window, &moment, Call::Success), 0);
    let between = |one: &Moment<Call>, other| one.since(other).map(|it| it.sum(Call::Failure));
    assert_eq!(between(&middle, &moment), Some(1_110));
    assert_eq!(between(&moment, &middle), Some(1_110_u64.wrapping_neg()));
}

#[test]
fn values_have_a_count_a_sum_and_a_mean_since_a_moment() {
    let clock = clock_at(60_000);
    let window: Window = window(ms(10), 2, &clock);
    window.record(Call::Micros, 1_000_000);
    let moment = window.moment();
    assert_eq!(
        window.moment().since(&moment).and_then(|since| since.stats(Call::Micros).mean()),
        None
    );
    for value in [3, 4, 5, 8] {
        window.record(Call::Micros, value);
        clock.advance(ms(10));
    }
    let since = window.moment().since(&moment).expect("a moment of this window");
    assert_eq!((since.stats(Call::Micros).count, since.sum(Call::Micros)), (4, 20));
    assert_eq!(since.stats(Call::Micros).mean(), Some(5.0));
}

/// Also of one that is gone, and whose memory this one has.
#[test]
fn a_moment_of_another_window_has_no_answer() {
    let clock = clock_at(60_000);
    let mut moments = Vec::new();
    for _ in 0..10 {
        let window: Window = window(ms(10), 2, &clock);
        window.add(Call::Failure, 1);
        assert!(moments.iter().all(|moment| window.moment().since(moment).is_none()));
        let moment = window.moment();
        assert!(moments.iter().all(|other| moment.since(other).is_none()));
        moments.push(moment);
        let moved = Box::new(window);
        assert!(moments.last().is_some_and(|moment| moved.moment().since(moment).is_some()));
    }
}

#[test]
fn moments_divide_the_adds_among_them() {
    alone::in_each_strategy("moments::under_writers");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_writers() {
    const WRITERS: usize = 3;
    /// The least sum that is added before the test ends.
    const ENOUGH: u64 = 1_000_000;
    const GEOMETRIES: [(u64, u64); 4] = [(10, 4), (3, 7), (1_000, 2), (17, 1)];
    let clock = Manual::default();
    clock.set(at_ns(1_000_000));
    let window: Window = window(ns(10), 4, &clock);
    let (counts, records) = (progress::<WRITERS>(), progress::<WRITERS>());
    let is_over = AtomicBool::new(false);
    let first = window.moment();
    let (mut counted, mut recorded) = (0, 0);
    thread::scope(|scope| {
        let finish = Finish(&is_over);
        for writer in 0..WRITERS {
            let (window, is_over, clock) = (&window, &is_over, clock.clone());
            let (counts, records) = (&counts[writer], &records[writer]);
            scope.spawn(move || {
                let mut random = Rng::with_seed(writer as u64);
                while !is_over.load(Ordering::Acquire) {
                    let n = random.u64(1..100);
                    counts.around(n, n, || {
                        window.add(Call::Success, n);
                        Some(())
                    });
                    let value = random.u64(..1_000);
                    records.around(1, value, || {
                        let now = window.clock().now().as_nanos();
                        let at = at_ns(now.saturating_sub(random.u64(..60)));
                        window.record_at(at, Call::Micros, value).ok()
                    });
                    clock.advance(ns(random.u64(..8)));
                }
            });
        }
        scope.spawn(|| {
            let mut random = Rng::with_seed(99);
            while !is_over.load(Ordering::Acquire) {
                let (length, buckets) = GEOMETRIES[random.usize(..GEOMETRIES.len())];
                match random.u8(..3) {
                    0 => window.clear().expect("there is memory"),
                    1 => window.reconfigure(ns(length * buckets), buckets as usize).expect("valid"),
                    _ => _ = window.drain_closed(|_| ()),
                }
            }
        });
        let done = || (Progress::done(&counts), Progress::done(&records));
        let begun = || (Progress::begun(&counts), Progress::begun(&records));
        let (mut earliest, mut last, mut latest) = (([0; 2], [0; 2]), first.clone(), begun());
        while earliest.0[1] < ENOUGH {
            let done = done();
            let moment = window.moment();
            let begun = begun();
            let since = moment.since(&last).expect("of one window");
            // Each moment lies between the adds finished before it and those begun after it.
            let is_between = |number: u64, done: u64, latest: u64, begun: u64, earliest: u64| {
                let bounds = done.saturating_sub(latest)..=begun - earliest;
                assert!(bounds.contains(&number), "{number} is not in {bounds:?}");
            };
            is_between(since.sum(Call::Success), done.0[1], latest.0[1], begun.0[1], earliest.0[1]);
            is_between(
                since.stats(Call::Micros).count,
                done.1[0],
                latest.1[0],
                begun.1[0],
                earliest.1[0],
            );
            is_between(since.sum(Call::Micros), done.1[1], latest.1[1], begun.1[1], earliest.1[1]);
            counted += since.sum(Call::Success);
            recorded += since.stats(Call::Micros).count;
            if done == earliest {
                thread::yield_now(); // no writer runs
            }
            (earliest, last, latest) = (done, moment, begun);
        }
        drop(finish);
    });
    let all = window.moment().since(&first).expect("of one window");
    assert_eq!([all.sum(Call::Success); 2], Progress::done(&counts));
    assert_eq!([all.stats(Call::Micros).count, all.sum(Call::Micros)], Progress::done(&records));
    assert!(0 < counted && counted <= all.sum(Call::Success));
    assert!(0 < recorded && recorded <= all.stats(Call::Micros).count);
}

fn progress<const N: usize>() -> [Progress; N] {
    std::array::from_fn(|_| Progress::default())
}
