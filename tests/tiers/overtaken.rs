//! Reads of a tier that moves on meanwhile.

use std::cell::{Cell, RefCell};
use std::time::Duration;

use testkit::{at_ns, ns};
use windrow::{Clock, SlidingWindow, Stats, Timestamp, events};

events! {
    enum Seen { Rt: Value }
}

type Window = SlidingWindow<Seen, &'static Moving>;

/// Something to do when a read asks for the time, by how often one has asked.
type ToDo = Box<dyn Fn(u64)>;

/// A clock that has something done each time that a read asks for the time.
#[derive(Default)]
struct Moving {
    now: Cell<u64>,
    /// How often it has been asked by a read, while there is something to do.
    asked: Cell<u64>,
    to_do: RefCell<Option<ToDo>>,
}

impl Clock for Moving {
    fn now(&self) -> Timestamp {
        // Adds ask for the time, too; but what is being done is not done again by them.
        if let Ok(mut to_do) = self.to_do.try_borrow_mut()
            && let Some(to_do) = &mut *to_do
        {
            self.asked.set(self.asked.get() + 1);
            to_do(self.asked.get());
        }
        at_ns(self.now.get())
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

fn record(window: &Window, at: u64) {
    window.clock().now.set(at);
    window.record(Seen::Rt, at);
}

/// Nothing was added for a while, a round before and now: so of two buckets, the newer one has left
/// its slot, and the older one may still stand there. What both have counted is not the older one's.
#[test]
fn a_bucket_that_has_left_meanwhile_is_not_taken_for_an_older_one() {
    for before in 0..12 {
        moves_on_in_the_middle_of_a_series(before);
    }
}

/// With so many buckets opened before: that decides which memory is used again.
fn moves_on_in_the_middle_of_a_series(before: u64) {
    const BEGIN: u64 = 10_000;
    let clock: &'static Moving = Box::leak(Box::default());
    clock.now.set(BEGIN - 200 * before);
    let builder = SlidingWindow::<Seen>::builder().interval(ns(200)).buckets(20).clock(clock);
    let window = builder.tier(ns(200), 4).build().expect("the tier nests");
    let window: &'static Window = Box::leak(Box::new(window));
    (0..=before).rev().for_each(|back| record(window, BEGIN - 200 * back));
    for by in [200, 400, 600, 610] {
        record(window, BEGIN + by);
    }
    // As often as a read begins again, another bucket is opened; and the last time, one that takes
    // the place of the second.
    let move_on = |asked: u64| match asked {
        0..=8 => record(window, BEGIN + 610 + 10 * asked),
        9 => {
            record(window, BEGIN + 1_000);
            record(window, BEGIN + 1_010);
            clock.now.set(BEGIN + 700);
        }
        _ => {}
    };
    *clock.to_do.borrow_mut() = Some(Box::new(move_on));
    let series = window.series(0).expect("there is a tier");
    clock.to_do.borrow_mut().take();
    let at = at_ns(BEGIN + 700);
    assert_eq!((clock.asked.get(), series.at()), (9, at), "it is overtaken each time");
    for bucket in &series.buckets()[..3] {
        let at = bucket.start().as_nanos();
        let own = Stats { count: 1, sum: at, min: Some(at), max: Some(at) };
        let stats = bucket.stats(Seen::Rt);
        assert!(stats == own || stats == Stats::default(), "{before} before: {at}: {stats:?}");
    }
}
