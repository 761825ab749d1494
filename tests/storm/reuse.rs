//! Many windows and counters: what a dead one leaves behind, no living one may see.

use std::collections::VecDeque;

use windrow::clock::Manual;
use windrow::{Counter, Event, Events, Gauge, Maximum, Minimum, SlidingWindow, kind};

use crate::Seen;
use testkit::ledger::Tally;
use testkit::{Rng, ns, race, window};

/// Makes an enum of `Value` events, and a list of them.
macro_rules! values {
    ($($name:ident)+) => {
        windrow::events! {
            /// More events than a word of 64 bits has room for.
            pub(crate) enum Wide { $($name: Value),+ }
        }

        const WIDE: &[Event<Wide, kind::Value>] = &[$(Wide::$name),+];
    };
}

values! {
    V00 V01 V02 V03 V04 V05 V06 V07 V08 V09 V10 V11 V12 V13 V14 V15 V16 V17 V18 V19 V20 V21 V22 V23
    V24 V25 V26 V27 V28 V29 V30 V31 V32 V33 V34 V35 V36 V37 V38 V39 V40 V41 V42 V43 V44 V45 V46 V47
    V48 V49 V50 V51 V52 V53 V54 V55 V56 V57 V58 V59 V60 V61 V62 V63 V64 V65 V66 V67 V68 V69
}

fn is_empty<E: Events>(window: &SlidingWindow<E, Manual>, event: Event<E>) {
    let nothing = Tally::default();
    assert_eq!(Tally::from(window.lifetime(event)), nothing, "{event:?} of a fresh window");
    assert_eq!(Tally::from(window.stats(event)), nothing, "{event:?} of a fresh window");
    assert_eq!(Tally::from(window.late(event)), nothing, "{event:?} of a fresh window");
}

/// A window that has counted `number` in each of two buckets.
struct Used {
    number: u64,
    clock: Manual,
    window: SlidingWindow<Seen, Manual>,
}

impl Used {
    fn new(number: u64) -> Used {
        let clock = Manual::default();
        let window = window::<Seen>(ns(10), 4, &clock);
        for event in [
            Event::<Seen>::from(Seen::Pass),
            Seen::Idle.into(),
            Seen::Rt.into(),
            Seen::Still.into(),
        ] {
            is_empty(&window, event);
        }
        let used = Used { number, clock, window };
        used.count();
        used.clock.advance(ns(10));
        used.count();
        used
    }

    fn count(&self) {
        self.window.add(Seen::Pass, self.number);
        self.window.record(Seen::Rt, self.number);
    }

    fn check(&self) {
        let (number, window) = (self.number, &self.window);
        let twice = Tally { count: 2, sum: 2 * number, min: Some(number), max: Some(number) };
        let pass = window.stats(Seen::Pass);
        assert_eq!((Tally::from(window.stats(Seen::Rt)), pass.sum), (twice, 2 * number));
        assert_eq!((Tally::from(window.lifetime(Seen::Rt)), pass.count), (twice, 2 * number));
        assert_eq!(window.sum(Seen::Idle) + window.stats(Seen::Still).count, 0);
        for bucket in window.snapshot().buckets() {
            assert_eq!(bucket.sum(Seen::Rt), number);
        }
    }
}

/// Thousands of windows one after another, a few at a time, on several threads.
#[test]
fn fresh_windows_are_empty() {
    race(4, |thread| {
        let mut random = Rng::with_seed(thread as u64);
        let mut alive = VecDeque::new();
        for _ in 0..1000 {
            alive.push_back(Used::new(1 + random.u64(..u64::from(u32::MAX))));
            if alive.len() > 1 + thread * 10 {
                alive.pop_front().as_ref().map(Used::check);
            }
        }
        alive.iter().for_each(Used::check);
    });
}

/// More windows alive than one segment of columns can hold; then half of them go, and the same
/// number of others come.
#[test]
fn more_windows_than_a_segment_has_room_for() {
    let mut windows: Vec<Used> = (0..1500).map(Used::new).collect();
    windows.iter().for_each(Used::check);
    for round in 1..=2 {
        for place in (round..windows.len()).step_by(2) {
            windows[place] = Used::new((round * 10_000 + place) as u64);
        }
        windows.iter().for_each(Used::check);
    }
}

/// A bucket of 70 values has 280 cells.
#[test]
fn windows_of_seventy_values() {
    let clock = Manual::default();
    let mut windows = VecDeque::new();
    for round in 0..60_u64 {
        let window = window::<Wide>(ns(10), 3, &clock);
        for &event in WIDE {
            is_empty(&window, event.into());
        }
        windows.push_back((round, window));
        if windows.len() > 30 {
            windows.pop_front();
        }
        for (number, window) in &windows {
            for (event, index) in WIDE.iter().zip(0..) {
                window.record(*event, number + index);
            }
        }
        clock.advance(ns(10));
    }
    for (number, window) in &windows {
        for (event, index) in WIDE.iter().zip(0..) {
            let (value, times) = (number + index, 60 - number);
            let one = Some(value);
            let expected = Tally { count: times, sum: times * value, min: one, max: one };
            assert_eq!(Tally::from(window.lifetime(*event)), expected, "{event:?} of {number}");
            // The clock has moved past the newest of the buckets written.
            let times = times.min(2);
            let expected = Tally { count: times, sum: times * value, min: one, max: one };
            assert_eq!(Tally::from(window.stats(*event)), expected, "{event:?} of {number}");
        }
    }
}

/// Writers on every event of a wide window, across rotations.
#[test]
fn threads_on_seventy_values() {
    let clock = Manual::default();
    let window = window::<Wide>(ns(10), 2000, &clock);
    race(4, |thread| {
        for round in 0..200 {
            for &event in WIDE {
                window.record(event, round * 4 + thread as u64);
            }
            clock.advance(ns(6));
        }
    });
    let sum = (0..800).sum();
    let expected = Tally { count: 800, sum, min: Some(0), max: Some(799) };
    for &event in WIDE {
        assert_eq!(Tally::from(window.lifetime(event)), expected, "{event:?}");
        assert_eq!(Tally::from(window.stats(event)), expected, "{event:?}");
    }
}

/// Counters, gauges and extremes that follow one another in the same columns.
#[test]
fn fresh_counters_are_empty() {
    race(4, |thread| {
        let mut random = Rng::with_seed(thread as u64);
        let mut alive = VecDeque::new();
        for _ in 0..1_500 {
            let n = 1 + random.u64(..1000);
            let (counter, gauge) = (Counter::new(), Gauge::new());
            let (most, least) = (Maximum::new(), Minimum::new());
            assert_eq!((counter.sum(), gauge.sum(), most.get(), least.get()), (0, 0, None, None));
            counter.add(n);
            counter.increment();
            gauge.add(-n.cast_signed());
            gauge.decrement();
            for value in [n, n + 2, n + 1] {
                most.record(value);
                least.record(value);
            }
            alive.push_back((n, counter, gauge, most, least));
            if alive.len() > 1 + thread * 100 {
                let (n, counter, gauge, most, least) = alive.pop_front().expect("some are alive");
                assert_eq!((counter.sum(), gauge.sum()), (n + 1, -n.cast_signed() - 1));
                assert_eq!((most.get(), least.get()), (Some(n + 2), Some(n)));
            }
        }
    });
}

/// More counters at once than two segments hold.
#[test]
fn twenty_thousand_counters() {
    let counters: Vec<Counter> = (0..20_000).map(|_| Counter::new()).collect();
    race(2, |thread| {
        for (counter, n) in counters.iter().zip(1..) {
            counter.add(n * (thread as u64 + 1));
        }
    });
    for (counter, n) in counters.iter().zip(1..) {
        assert_eq!(counter.sum(), n * 3);
    }
}
