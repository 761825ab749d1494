//! One round of a torture: a window, threads that add to it, and threads that do other things
//! meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use windrow::clock::{Manual, Precise};
use windrow::{Clock, SlidingWindow, Timestamp, snapshot::OutOfRangeError};

use crate::book::{Book, Books, some_value};
use crate::{Seen, churn, reader};
use testkit::interrupts::{self, Timer};
use testkit::ledger::{Progress, Tally};
use testkit::pinned::pinned;
use testkit::traced::{Traced, time_of};
use testkit::{Finish, Rng, at_ns, ns};

/// Two of each: writers that are migrated, that yield, and that only add.
pub(crate) const WRITERS: usize = 6;
/// No thread takes more steps than this in a round, so that books stay short and sums are
/// unambiguous.
const MOST_STEPS: u64 = 10_000;
/// The number of adds of a writer at each step.
const BURST: u64 = 4;
/// The number of steps of a short-lived thread.
const SHORT: u64 = 12;

/// The plan of a round.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    /// True if the real time is used; otherwise the writers push the clock on.
    pub(crate) real: bool,
    /// Length in nanoseconds, and number of buckets. The window begins with the first; if there
    /// are others it is changed all the time. Every length divides the greatest.
    pub(crate) geometries: &'static [(u64, u64)],
    /// A writer moves the clock back once in this number of adds, by less than twice the interval,
    /// and adds some with a time of their own; 0 for never.
    pub(crate) back_one_in: u64,
    /// A thread stays pinned all the time.
    pub(crate) pinned: bool,
    pub(crate) time: Duration,
}

/// The real time, or a time that is set.
#[derive(Clone, Debug)]
pub(crate) struct Time {
    precise: Precise,
    is_real: Arc<AtomicBool>,
    told: Manual,
}

impl Clock for Time {
    fn now(&self) -> Timestamp {
        if self.is_real.load(Ordering::Relaxed) { self.precise.now() } else { self.told.now() }
    }

    fn resolution(&self) -> Duration {
        Duration::from_nanos(0)
    }
}

pub(crate) struct Round {
    pub(crate) plan: Plan,
    pub(crate) window: SlidingWindow<Seen, Traced<Time>>,
    pub(crate) clock: Time,
    /// No time later than this was ever on a clock that goes back.
    peak: AtomicU64,
    /// A bucket at least as new as this has been opened.
    opened: AtomicU64,
    /// Each writer adds nothing before the time that it shows here.
    pub(crate) floors: [AtomicU64; WRITERS + 1],
    pub(crate) pass: [Progress; WRITERS + 1],
    pub(crate) rt: [Progress; WRITERS + 1],
}

impl Round {
    /// Runs a round, and compares the window with the books.
    pub(crate) fn run(plan: Plan) {
        let round = Round::new(plan);
        let (enough, finished) = (AtomicBool::new(false), AtomicBool::new(false));
        let (books, seen) = thread::scope(|scope| {
            let finish = Finish(&finished);
            if plan.pinned {
                scope.spawn(|| {
                    pinned(|| {
                        while !finished.load(Ordering::Acquire) {
                            thread::sleep(Duration::from_millis(1));
                        }
                    });
                });
            }
            scope.spawn(|| interrupts::fault(&finished));
            churn::windows_come_and_go(scope, &finished);
            if plan.geometries.len() > 1 {
                scope.spawn(|| round.reshape(&finished));
            }
            let reader = scope.spawn(|| reader::read(&round, &finished));
            let books = round.books(scope, &enough);
            drop(finish);
            (books, reader.join().expect("the reader saw nothing wrong"))
        });
        let books = Books::of(&books);
        round.at_rest(&books);
        seen.compare(&round, &books);
    }

    fn new(plan: Plan) -> Round {
        let is_real = Arc::new(AtomicBool::new(plan.real));
        let clock = Time { precise: Precise::default(), is_real, told: Manual::default() };
        let (length, buckets) = plan.geometries[0];
        let window = SlidingWindow::<Seen>::builder()
            .interval(ns(length * buckets))
            .buckets(buckets as usize)
            .clock(Traced(clock.clone()))
            .build()
            .expect("a valid window");
        Round {
            plan,
            window,
            clock,
            peak: AtomicU64::new(0),
            opened: AtomicU64::new(0),
            floors: [const { AtomicU64::new(0) }; WRITERS + 1],
            pass: Default::default(),
            rt: Default::default(),
        }
    }

    /// Returns where the bucket begins that holds a time in every geometry: that of the longest
    /// buckets.
    pub(crate) fn start_of(&self, time: u64) -> u64 {
        time - time % self.longest()
    }

    pub(crate) fn longest(&self) -> u64 {
        self.plan.geometries.iter().map(|(length, _)| *length).max().expect("a geometry")
    }

    /// Returns the interval, the shortest that there is.
    pub(crate) fn interval(&self) -> u64 {
        let intervals = self.plan.geometries.iter().map(|(length, buckets)| length * buckets);
        intervals.min().expect("a geometry")
    }

    /// No time later than this was on the clock until now.
    pub(crate) fn latest(&self) -> u64 {
        if self.plan.real {
            self.clock.precise.now().as_nanos()
        } else if self.plan.back_one_in == 0 {
            self.clock.told.now().as_nanos()
        } else {
            self.peak.load(Ordering::SeqCst)
        }
    }

    /// Stops the clock.
    pub(crate) fn stop_at(&self, time: u64) {
        self.clock.told.set(at_ns(time));
        self.clock.is_real.store(false, Ordering::SeqCst);
    }

    /// Lets all threads write until the time is up, short-lived threads among them.
    fn books<'s>(&'s self, scope: &'s Scope<'s, '_>, enough: &'s AtomicBool) -> Vec<Book> {
        let finish = Finish(enough);
        let write = |index| move || self.write(index, enough);
        let writers: Vec<_> = (0..WRITERS).map(|index| scope.spawn(write(index))).collect();
        let (begin, mut seed) = (Instant::now(), 100);
        let mut books = Vec::new();
        while begin.elapsed() < self.plan.time && !writers.iter().all(ScopedJoinHandle::is_finished)
        {
            self.floors[WRITERS].store(self.floor(), Ordering::SeqCst);
            seed += 1;
            let short = scope.spawn(move || {
                let (mut book, mut random) = (Book::default(), Rng::with_seed(seed));
                (0..SHORT).for_each(|_| self.step(WRITERS, &mut random, &mut book));
                book
            });
            books.push(short.join().expect("no writer panics"));
        }
        self.floors[WRITERS].store(u64::MAX, Ordering::SeqCst);
        drop(finish);
        books.extend(writers.into_iter().map(|writer| writer.join().expect("no writer panics")));
        books
    }

    fn write(&self, index: usize, enough: &AtomicBool) -> Book {
        let _timer = Timer::start(interrupts::PERIOD);
        let (mut book, mut random) = (Book::default(), Rng::with_seed(index as u64));
        for step in 1..MOST_STEPS {
            if enough.load(Ordering::Relaxed) {
                break;
            }
            if step % 16 == 1 {
                self.floors[index].store(self.floor(), Ordering::SeqCst);
            }
            self.step(index, &mut random, &mut book);
            match index % 3 {
                0 if step % 500 == 0 => interrupts::migrate(step / 500),
                1 if step % 200 == 0 => thread::yield_now(),
                _ => {}
            }
        }
        self.floors[index].store(u64::MAX, Ordering::SeqCst);
        book
    }

    /// Returns a time before which no thread will add: none is known where clocks go back.
    fn floor(&self) -> u64 {
        if self.plan.back_one_in == 0 { self.clock.now().as_nanos() } else { 0 }
    }

    fn step(&self, index: usize, random: &mut Rng, book: &mut Book) {
        if !self.plan.real {
            self.move_clock(random);
        }
        match random.u64(..20) {
            0 if self.plan.back_one_in > 0 => self.add_at(index, random, book),
            1 if self.plan.back_one_in > 0 => self.record_at(index, random, book),
            2..10 => self.add(index, random, book),
            _ => self.record(index, random, book),
        }
    }

    fn move_clock(&self, random: &mut Rng) {
        let now = self.clock.told.now().as_nanos();
        if random.u64(..4) == 0 {
            let by = random.u64(..self.plan.geometries[0].0.max(2));
            if self.plan.back_one_in == 0 {
                self.clock.told.advance(ns(by)); // so that it never goes back
            } else {
                self.peak.fetch_max(now + by, Ordering::SeqCst);
                self.clock.told.set(at_ns(now + by));
            }
        } else if self.plan.back_one_in > 0 && random.u64(..self.plan.back_one_in) == 0 {
            let by = random.u64(..2 * self.interval());
            self.clock.told.set(at_ns(now.saturating_sub(by)));
            // And forward again before long, or everything is late.
            if random.u64(..4) != 0 {
                self.clock.told.set(at_ns(self.peak.load(Ordering::SeqCst)));
            }
        }
    }

    fn add(&self, index: usize, random: &mut Rng, book: &mut Book) {
        let n = random.u64(..5);
        let add = || {
            for _ in 0..BURST {
                let time = time_of(|| self.window.add(Seen::Pass, n));
                book.pass.note(self.start_of(time), Tally::amount(n));
            }
            Some(())
        };
        self.pass[index].around(n * BURST, n * BURST, add);
    }

    fn record(&self, index: usize, random: &mut Rng, book: &mut Book) {
        let value = some_value(random);
        let record = || {
            for _ in 0..BURST {
                self.record_once(value, book);
            }
            Some(())
        };
        self.rt[index].around(BURST, value * BURST, record);
    }

    fn record_once(&self, value: u64, book: &mut Book) {
        let opened = self.opened.load(Ordering::Relaxed);
        let time = time_of(|| self.window.record(Seen::Rt, value));
        let start = self.start_of(time);
        book.rt.note(start, Tally::value(value));
        // As good as random, so that some rise and most do not.
        let peak = time.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let time = time_of(|| self.window.record(Seen::Peak, peak));
        book.peak.note(self.start_of(time), Tally { max: Some(peak), ..Tally::default() });
        // Only a bound, so that threads do not all write to one line all the time.
        if start > opened + self.longest() {
            self.opened.fetch_max(start, Ordering::SeqCst);
        }
        let is_one = self.plan.geometries.len() == 1;
        book.late += u64::from(is_one && start + self.interval() <= opened);
        // After a change of geometry the ring's newest bucket may begin earlier, but never later.
        book.maybe_late += u64::from(start + self.interval() <= self.latest());
    }

    fn add_at(&self, index: usize, random: &mut Rng, book: &mut Book) {
        let (time, n) = (self.some_time(random), random.u64(..5));
        let add = || counted(time, self.window.add_at(at_ns(time), Seen::Pass, n));
        if self.pass[index].around(n, n, add).is_some() {
            book.pass.note(self.start_of(time), Tally::amount(n));
        }
    }

    fn record_at(&self, index: usize, random: &mut Rng, book: &mut Book) {
        let (time, value) = (self.some_time(random), some_value(random));
        let record = || counted(time, self.window.record_at(at_ns(time), Seen::Rt, value));
        if self.rt[index].around(1, value, record).is_some() {
            book.rt.note(self.start_of(time), Tally::value(value));
        }
    }

    /// Returns a time within the ring, mostly.
    fn some_time(&self, random: &mut Rng) -> u64 {
        let now = self.clock.told.now().as_nanos();
        let reach = self.interval() + self.longest();
        (now + random.u64(..self.longest())).saturating_sub(random.u64(..reach))
    }

    /// Goes from geometry to geometry.
    fn reshape(&self, finished: &AtomicBool) {
        let mut random = Rng::with_seed(7);
        while !finished.load(Ordering::Acquire) {
            let (length, buckets) =
                self.plan.geometries[random.u64(..self.plan.geometries.len() as u64) as usize];
            self.window.reconfigure(ns(length * buckets), buckets as usize).expect("valid");
            thread::sleep(Duration::from_micros(random.u64(..500)));
        }
    }
}

/// Returns whether it was counted; if it was refused, that must have been for a reason.
fn counted(time: u64, answer: Result<(), OutOfRangeError>) -> Option<()> {
    match answer {
        Ok(()) => return Some(()),
        Err(OutOfRangeError::AfterNow { now, .. }) => assert!(time > now.as_nanos()),
        Err(OutOfRangeError::BeforeRing { oldest, .. }) => assert!(time < oldest.as_nanos()),
        Err(other) => panic!("no such refusal is known: {other}"),
    }
    None
}
