//! Some of everything, counted by several threads and compared with their own books.

use std::ops::Range;

use windrow::Event;
use windrow::clock::Manual;
use windrow::{Clock, Counter, Gauge, Maximum, Minimum, SlidingWindow};

use crate::Seen;
use testkit::ledger::{Ledger, Tally};
use testkit::traced::{Traced, time_of};
use testkit::{at_ns, ns};

/// Nanoseconds in a bucket.
const LENGTH: u64 = 10;
/// The number of buckets that all rounds together can reach.
const BUCKETS: u64 = 4_000;
/// The number of rounds in which a thread does everything once.
const ROUNDS: u64 = 2_000;

/// One of each, unused so far.
pub(crate) struct Work {
    counter: Counter,
    drained: Counter,
    gauge: Gauge,
    most: Maximum,
    least: Minimum,
    clock: Manual,
    window: SlidingWindow<Seen, Traced<Manual>>,
}

impl Work {
    pub(crate) fn new() -> Work {
        let clock = Manual::default();
        let window = SlidingWindow::<Seen>::builder()
            .interval(ns(LENGTH * BUCKETS))
            .buckets(BUCKETS as usize)
            .clock(Traced(clock.clone()))
            .build()
            .expect("a valid window");
        Work {
            counter: Counter::new(),
            drained: Counter::new(),
            gauge: Gauge::new(),
            most: Maximum::new(),
            least: Minimum::new(),
            clock,
            window,
        }
    }

    /// Does the work of the thread numbered `thread`, and returns its adds to the window.
    pub(crate) fn run(&self, thread: u64) -> [Ledger; 2] {
        let (mut pass, mut rt) = (Ledger::default(), Ledger::default());
        let start = |time| time - time % LENGTH;
        for round in 0..ROUNDS {
            self.counter.add(thread + 1);
            self.drained.increment();
            self.gauge.add(3);
            self.gauge.decrement();
            self.most.record(thread * ROUNDS + round);
            self.least.record(thread * ROUNDS + round + 1);
            let time = time_of(|| self.window.add(Seen::Pass, thread + 1));
            pass.note(start(time), Tally::amount(thread + 1));
            let time = time_of(|| self.window.record(Seen::Rt, round));
            rt.note(start(time), Tally::value(round));
            if round % 8 == 0 {
                self.clock.advance(ns(LENGTH / 2));
            }
        }
        [pass, rt]
    }

    /// Compares everything with what the threads numbered `threads` have done, each once.
    pub(crate) fn check(&self, threads: Range<u64>, books: &[[Ledger; 2]]) {
        let count = threads.end - threads.start;
        assert_eq!(books.len() as u64, count);
        let weights: u64 = threads.clone().map(|thread| thread + 1).sum();
        assert_eq!(self.counter.sum(), ROUNDS * weights);
        assert_eq!(self.drained.take(), ROUNDS * count);
        assert_eq!(self.drained.take(), 0);
        assert_eq!(self.gauge.sum(), (2 * ROUNDS * count).cast_signed());
        assert_eq!(self.most.get(), Some(threads.end * ROUNDS - 1));
        assert_eq!(self.least.get(), Some(threads.start * ROUNDS + 1));
        for (i, event) in [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().enumerate()
        {
            let ledger = Ledger::merged(books.iter().map(|books| books[i].clone()));
            assert_eq!(Tally::from(self.window.lifetime(event)), ledger.total());
            assert_eq!(Tally::from(self.window.stats(event)), ledger.total());
            for bucket in self.window.snapshot().buckets() {
                let start = bucket.start().as_nanos();
                assert_eq!(Tally::from(bucket.stats(event)), ledger.at(start), "bucket {start}");
            }
            assert_eq!(self.window.late(event).count, 0);
        }
    }

    /// For a process that has come by this in the middle of things: counts some more of everything,
    /// and each number must have grown by just that.
    pub(crate) fn grows_exactly(&self) {
        let before = (self.counter.sum(), self.gauge.sum(), self.drained.sum());
        let lifetimes = [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()]
            .map(|event| self.window.lifetime(event));
        let new = self.clock.now().as_nanos() + 2 * BUCKETS * LENGTH;
        for step in 0..100 {
            self.counter.add(2);
            self.gauge.decrement();
            self.drained.increment();
            self.clock.set(at_ns(new + step * LENGTH));
            self.window.add(Seen::Pass, step);
            self.window.record(Seen::Rt, step);
            let last = self.window.over(ns(LENGTH)).expect("one bucket");
            assert_eq!(last.sum(Seen::Pass), step);
            assert_eq!(Tally::from(last.stats(Seen::Rt)), Tally::value(step));
        }
        let after = (self.counter.sum(), self.gauge.sum(), self.drained.sum());
        assert_eq!(after, (before.0 + 200, before.1 - 100, before.2 + 100));
        assert_eq!(self.drained.take(), after.2);
        let [pass, rt] = [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()]
            .map(|event| self.window.lifetime(event));
        let sum = (0..100).sum::<u64>();
        assert_eq!(pass.count, lifetimes[0].count + sum);
        assert_eq!((rt.count, rt.sum), (lifetimes[1].count + 100, lifetimes[1].sum + sum));
        assert_eq!(self.window.sum(Seen::Pass), sum, "everything older has left the ring");
        self.most.record(u64::MAX);
        self.least.record(0);
        assert_eq!((self.most.get(), self.least.get()), (Some(u64::MAX), Some(0)));
    }
}
