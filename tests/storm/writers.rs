//! Writers that add, keep ledgers and push the clock; readers that bracket the answers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use windrow::Event;
use windrow::clock::Manual;
use windrow::{Clock, SlidingWindow, snapshot::OutOfRangeError};

use crate::Seen;
use testkit::ledger::{Ledger, Progress, Tally};
use testkit::traced::{Traced, time_of};
use testkit::{Finish, Rng, at_ns, ns};

/// The plan of a storm.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) length: u64,
    pub(crate) buckets: u64,
    pub(crate) writers: usize,
    /// Steps of each writer.
    pub(crate) steps: u64,
    /// One step in this number moves the clock forward, by less than `stride`.
    pub(crate) push_one_in: u64,
    pub(crate) stride: u64,
    /// One step in this number moves the clock back, by less than twice the interval; 0 for never.
    pub(crate) back_one_in: u64,
}

/// One window on one manual clock, and what its writers tell each other.
pub(crate) struct Storm {
    pub(crate) plan: Plan,
    pub(crate) window: SlidingWindow<Seen, Traced<Manual>>,
    pub(crate) clock: Manual,
    /// No time later than this was ever on the clock.
    peak: AtomicU64,
    /// A bucket at least as new as this has been opened.
    opened: AtomicU64,
    pass: Vec<Progress>,
    rt: Vec<Progress>,
}

/// The counts of writers: by bucket, and the sum that is, or may be, late.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) pass: Ledger,
    pub(crate) rt: Ledger,
    /// Values that must be late.
    late: u64,
    /// Values that may be late: the ring moved on while they were recorded.
    maybe_late: u64,
}

impl Storm {
    pub(crate) fn new(plan: Plan) -> Storm {
        let clock = Manual::default();
        let window = SlidingWindow::<Seen>::builder()
            .interval(ns(plan.length * plan.buckets))
            .buckets(plan.buckets as usize)
            .clock(Traced(clock.clone()))
            .build()
            .expect("a valid window");
        let progress = || (0..plan.writers).map(|_| Progress::default()).collect();
        let (peak, opened) = (AtomicU64::new(0), AtomicU64::new(0));
        Storm { plan, window, clock, peak, opened, pass: progress(), rt: progress() }
    }

    fn interval(&self) -> u64 {
        self.plan.length * self.plan.buckets
    }

    pub(crate) fn start_of(&self, time: u64) -> u64 {
        time - time % self.plan.length
    }

    /// Runs all writers, and `reader` over and over until they have finished (once at least).
    pub(crate) fn run(&self, mut reader: impl FnMut() + Send) -> Books {
        let finished = AtomicBool::new(false);
        thread::scope(|scope| {
            let finish = Finish(&finished);
            let write = |index| move || self.write(index);
            let writers: Vec<_> =
                (0..self.plan.writers).map(|index| scope.spawn(write(index))).collect();
            let reading = scope.spawn(|| {
                loop {
                    reader();
                    if finished.load(Ordering::Acquire) {
                        break;
                    }
                }
            });
            let books: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
            drop(finish);
            reading.join().expect("the reader saw nothing wrong");
            merged(books.into_iter().map(|books| books.expect("no writer panics")))
        })
    }

    fn write(&self, index: usize) -> Books {
        let mut books = Books::default();
        let mut random = Rng::with_seed(index as u64 + 1);
        for _ in 0..self.plan.steps {
            self.move_clock(&mut random);
            match random.u64(..4) {
                0 => self.add(index, random.u64(..5), &mut books),
                1 => self.record(index, random.u64(..1000), &mut books),
                2 => self.add_at(index, &mut random, &mut books),
                _ => self.record_at(index, &mut random, &mut books),
            }
        }
        books
    }

    fn move_clock(&self, random: &mut Rng) {
        let now = self.clock.now().as_nanos();
        if random.u64(..self.plan.push_one_in) == 0 {
            let by = random.u64(..self.plan.stride);
            if self.plan.back_one_in == 0 {
                self.clock.advance(ns(by)); // so that it never goes back
            } else {
                self.peak.fetch_max(now + by, Ordering::SeqCst);
                self.clock.set(at_ns(now + by));
            }
        } else if self.plan.back_one_in > 0 && random.u64(..self.plan.back_one_in) == 0 {
            let by = random.u64(..2 * self.interval());
            self.clock.set(at_ns(now.saturating_sub(by)));
            // And forward again before long, or everything is late.
            if random.u64(..4) != 0 {
                self.clock.set(at_ns(self.peak.load(Ordering::SeqCst)));
            }
        }
    }

    fn add(&self, index: usize, n: u64, books: &mut Books) {
        let time = self.pass[index].around(n, n, || {
            Some(time_of(|| self.window.add(Seen::Pass, n))) //
        });
        let start = self.start_of(time.expect("an add is never refused"));
        books.pass.note(start, Tally::amount(n));
        self.opened.fetch_max(start, Ordering::SeqCst);
    }

    fn record(&self, index: usize, value: u64, books: &mut Books) {
        let opened = self.opened.load(Ordering::SeqCst);
        let time = self.rt[index].around(1, value, || {
            Some(time_of(|| self.window.record(Seen::Rt, value))) //
        });
        let start = self.start_of(time.expect("a record is never refused"));
        books.rt.note(start, Tally::value(value));
        self.opened.fetch_max(start, Ordering::SeqCst);
        if start + self.interval() <= opened {
            books.late += 1;
        } else if start + self.interval() <= self.start_of(self.peak.load(Ordering::SeqCst)) {
            books.maybe_late += 1;
        }
    }

    fn add_at(&self, index: usize, random: &mut Rng, books: &mut Books) {
        let (time, n) = (self.some_time(random), random.u64(..5));
        let counted = self.pass[index]
            .around(n, n, || self.counted(time, self.window.add_at(at_ns(time), Seen::Pass, n)));
        if let Some(start) = counted {
            books.pass.note(start, Tally::amount(n));
        }
    }

    fn record_at(&self, index: usize, random: &mut Rng, books: &mut Books) {
        let (time, value) = (self.some_time(random), random.u64(..1000));
        let counted = self.rt[index].around(1, value, || {
            self.counted(time, self.window.record_at(at_ns(time), Seen::Rt, value))
        });
        if let Some(start) = counted {
            books.rt.note(start, Tally::value(value));
        }
    }

    /// Returns a time within the ring, mostly.
    fn some_time(&self, random: &mut Rng) -> u64 {
        let reach = (self.interval() + self.plan.length).min(20 * self.plan.length);
        let now = self.clock.now().as_nanos();
        (now + random.u64(..self.plan.length)).saturating_sub(random.u64(..reach))
    }

    /// Returns the bucket that counted it, `None` if it was refused, which must have been for a
    /// reason.
    fn counted(&self, time: u64, answer: Result<(), OutOfRangeError>) -> Option<u64> {
        let start = self.start_of(time);
        match answer {
            Ok(()) => {
                self.opened.fetch_max(start, Ordering::SeqCst);
                return Some(start);
            }
            Err(OutOfRangeError::AfterNow { now, .. }) => {
                assert!(time > now.as_nanos(), "{time} is not after {now:?}");
            }
            Err(OutOfRangeError::BeforeRing { oldest, .. }) => {
                assert!(time < oldest.as_nanos(), "{time} is not before {oldest:?}");
            }
            Err(other) => panic!("no such refusal is known: {other}"),
        }
        None
    }

    /// Asks for the lifetimes, which must lie between done and begun, and never go back.
    pub(crate) fn bracket_lifetimes(&self, last: &mut [Tally; 2]) {
        let pairs = [(Event::<Seen>::from(Seen::Pass), &self.pass), (Seen::Rt.into(), &self.rt)];
        for ((event, progress), last) in pairs.into_iter().zip(last) {
            let done = Progress::done(progress);
            let now = Tally::from(self.window.lifetime(event));
            let begun = Progress::begun(progress);
            for (i, number) in [now.count, now.sum].into_iter().enumerate() {
                let range = done[i]..=begun[i];
                assert!(range.contains(&number), "{event:?}: {number} is not in {range:?}");
            }
            assert!(last.count <= now.count && last.sum <= now.sum, "{last:?}, then {now:?}");
            assert!(last.max <= now.max, "{last:?}, then {now:?}");
            assert!(last.min.is_none() || now.min.is_some_and(|min| Some(min) <= last.min));
            *last = now;
        }
    }

    /// Asks for the sums, which must lie between done and begun while all of time is in the ring
    /// and the clock never goes back.
    pub(crate) fn bracket_sums(&self) {
        for (event, progress) in
            [(Event::<Seen>::from(Seen::Pass), &self.pass), (Seen::Rt.into(), &self.rt)]
        {
            let done = Progress::done(progress);
            let stats = self.window.stats(event);
            let begun = Progress::begun(progress);
            for (i, number) in [stats.count, stats.sum].into_iter().enumerate() {
                let range = done[i]..=begun[i];
                assert!(range.contains(&number), "{event:?}: {number} is not in {range:?}");
            }
        }
    }

    /// Checks, at rest, that the lifetimes have everything, and that unused events are still empty.
    pub(crate) fn lifetimes_are_exact(&self, books: &Books) {
        assert_eq!(Tally::from(self.window.lifetime(Seen::Pass)), books.pass.total());
        assert_eq!(Tally::from(self.window.lifetime(Seen::Rt)), books.rt.total());
        assert_eq!(Tally::from(self.window.lifetime(Seen::Idle)), Tally::default());
        assert_eq!(Tally::from(self.window.lifetime(Seen::Still)), Tally::default());
    }

    /// At rest: each bucket of the ring is what the ledgers say, and the rest is accounted for.
    pub(crate) fn buckets_are_exact(&self, books: &Books) {
        let newest = books.pass.newest().max(books.rt.newest()).expect("something was added");
        self.clock.set(at_ns(newest));
        let snapshot = self.window.snapshot();
        let mut still = [Tally::default(); 2];
        for bucket in snapshot.buckets() {
            let start = bucket.start().as_nanos();
            let pairs =
                [(Event::<Seen>::from(Seen::Pass), &books.pass), (Seen::Rt.into(), &books.rt)];
            for ((event, ledger), still) in pairs.into_iter().zip(&mut still) {
                let tally = Tally::from(bucket.stats(event));
                assert_eq!(tally, ledger.at(start), "{event:?} in the bucket {start}");
                still.merge(tally);
            }
            assert_eq!(bucket.sum(Seen::Idle) + bucket.stats(Seen::Still).count, 0);
        }
        for (event, still) in
            [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()].into_iter().zip(still)
        {
            let (lifetime, late) = (self.window.lifetime(event), self.window.late(event));
            assert_eq!(Tally::from(self.window.stats(event)), still);
            assert!(still.count + late.count <= lifetime.count, "{event:?}: {late:?}");
            assert!(still.sum + late.sum <= lifetime.sum, "{event:?}: {late:?}");
        }
        let late = self.window.late(Seen::Rt).count;
        let range = books.late..=books.late + books.maybe_late;
        assert!(range.contains(&late), "{late} late, not in {range:?}");
    }
}

fn merged(all: impl Iterator<Item = Books>) -> Books {
    let mut merged = Books::default();
    let (mut pass, mut rt) = (Vec::new(), Vec::new());
    for books in all {
        pass.push(books.pass);
        rt.push(books.rt);
        merged.late += books.late;
        merged.maybe_late += books.maybe_late;
    }
    merged.pass = Ledger::merged(pass);
    merged.rt = Ledger::merged(rt);
    merged
}
