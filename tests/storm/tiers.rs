//! Tiers under writers: while buckets of 100 µs come and go, each tier holds everything, and each
//! span holds the adds since it began.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use testkit::ledger::{Ledger, Tally};
use testkit::traced::{Traced, time_of};
use testkit::{Finish, Rng, alone, ns};
use windrow::Event;
use windrow::clock::Precise;
use windrow::snapshot::Totals;
use windrow::{Clock, SlidingWindow, Stats};

use crate::Seen;

const WRITERS: u64 = 3;

/// The length of the window's buckets, in nanoseconds; and their number in the books.
const LENGTH: u64 = 100_000;
const PLACES: usize = 100_000;

/// The time that each tier reaches back, in nanoseconds, less one of its buckets.
const REACH: u64 = 9_900_000_000;

#[test]
fn tiers_hold_everything() {
    alone::in_each_strategy("tiers::under_writers");
}

/// The adds that the writers have begun, and those that they have finished, by bucket.
struct Books {
    first: u64,
    begun: AtomicU64,
    done: Box<[AtomicU64]>,
    /// The number of places in use.
    used: AtomicUsize,
}

impl Books {
    fn new(now: u64) -> Books {
        let done = (0..PLACES).map(|_| AtomicU64::new(0)).collect();
        let (begun, used) = (AtomicU64::new(0), AtomicUsize::new(0));
        Books { first: now / LENGTH, begun, done, used }
    }

    fn place(&self, time: u64) -> usize {
        (time / LENGTH).saturating_sub(self.first) as usize
    }

    fn add(&self, time: u64) {
        let place = self.place(time);
        // On a machine that is so slow that the books end, they know too few of the later adds.
        if let Some(done) = self.done.get(place) {
            self.used.fetch_max(place + 1, Ordering::SeqCst);
            done.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns the finished adds, by place.
    fn done(&self) -> Vec<u64> {
        let used = &self.done[..self.used.load(Ordering::SeqCst)];
        used.iter().map(|done| done.load(Ordering::SeqCst)).collect()
    }
}

/// A window whose buckets are opened by its writers, and their books.
struct Storm {
    window: SlidingWindow<Seen, Traced<Precise>>,
    books: Books,
    is_over: AtomicBool,
}

impl Storm {
    fn new() -> Storm {
        let clock = Traced(Precise::default());
        let books = Books::new(clock.now().as_nanos());
        let window = SlidingWindow::<Seen>::builder()
            .interval(ns(20 * LENGTH))
            .buckets(20)
            .tier(Duration::from_millis(1), 10_000)
            .tier(Duration::from_millis(10), 1_000)
            .tier(Duration::from_millis(50), 200)
            .clock(clock)
            .build()
            .expect("the tiers nest");
        Storm { window, books, is_over: AtomicBool::new(false) }
    }

    fn write(&self, writer: u64) -> [Ledger; 2] {
        let (mut pass, mut rt) = (Ledger::default(), Ledger::default());
        let mut n = 0;
        while !self.is_over.load(Ordering::Relaxed) {
            let value = 10 + (n * WRITERS + writer) % 90;
            self.books.begun.fetch_add(1, Ordering::SeqCst);
            let time = time_of(|| self.window.add(Seen::Pass, 1));
            self.books.add(time);
            pass.note(time - time % LENGTH, Tally::amount(1));
            let time = time_of(|| self.window.record(Seen::Rt, value));
            rt.note(time - time % LENGTH, Tally::value(value));
            n += 1;
            if n % 512 == 0 {
                thread::sleep(Duration::from_micros(150)); // so that buckets are skipped, too
            }
        }
        [pass, rt]
    }

    /// All that was ever added is in each tier.
    fn series_is_whole(&self, tier: usize) {
        let least: u64 = self.books.done().iter().sum();
        let lifetime = self.window.lifetime(Seen::Pass).sum;
        let series = self.window.series(tier).expect("there is such a tier");
        if self.window.clock().now().as_nanos() > self.books.first * LENGTH + REACH {
            return; // the tier may have forgotten the first adds
        }
        let most = self.books.begun.load(Ordering::SeqCst);
        let (pass, rt) = (series.totals().sum(Seen::Pass), series.totals().stats(Seen::Rt));
        assert!((least..=most).contains(&pass), "tier {tier}: {pass}, not {least} to {most}");
        assert!(pass >= lifetime, "tier {tier}: {pass} after {lifetime} in all");
        let least = least.saturating_sub(WRITERS); // each of them may still have to write its value
        assert!((least..=most).contains(&rt.count), "tier {tier}: {rt:?}, not {least} to {most}");
        // There is no minimum at first.
        let is_within = rt.min.is_none_or(|min| min >= 10) && rt.max <= Some(99);
        assert!(rt.sum >= 10 * rt.count && is_within, "{rt:?}");
    }

    /// Checks that a span has the adds since it began, from wherever it is read.
    fn span_is_whole(&self, span: Duration) {
        let over = self.window.over(span).expect("a tier reaches so far back");
        let done = self.books.done();
        let totals = over.totals();
        let from = Storm::from(&totals);
        // Adds before its beginning are not in it, so the sum can be less by them.
        let place = self.books.place(from);
        let before: u64 = self.books.done().iter().take(place).sum();
        let most = self.books.begun.load(Ordering::SeqCst) - before;
        let least: u64 = done.iter().skip(place).sum();
        let pass = totals.sum(Seen::Pass);
        let is_between = (least..=most).contains(&pass);
        assert!(is_between, "{span:?} from {from}: {pass}, not {least} to {most}");
    }

    /// Returns where totals begin. (Their end may lie behind the bucket of the time at which they
    /// were read.)
    fn from(totals: &Totals<Seen>) -> u64 {
        totals.end().as_nanos().saturating_sub(totals.interval().as_nanos() as u64)
    }

    fn read(&self, seed: u64) -> u64 {
        let (begin, mut random) = (Instant::now(), Rng::with_seed(seed));
        let mut checks = 0;
        while begin.elapsed() < Duration::from_secs(1) {
            self.series_is_whole(random.usize(..3));
            // Up to two of the longest tier's buckets; mostly of a short one's.
            self.span_is_whole(ns(1 + random.u64(..100_000_000) / random.u64(1..100)));
            checks += 2;
        }
        checks
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_writers() {
    let storm = &Storm::new();
    let books: Vec<_> = thread::scope(|scope| {
        let write = |writer| move || storm.write(writer);
        let writers: Vec<_> = (0..WRITERS).map(|writer| scope.spawn(write(writer))).collect();
        let finish = Finish(&storm.is_over);
        let readers = [1, 2].map(|seed| scope.spawn(move || storm.read(seed)));
        let checks = readers.map(ScopedJoinHandle::join);
        drop(finish);
        let checks: u64 = checks.map(|checks| checks.expect("nothing is missing")).iter().sum();
        println!("{checks} checks of {:?} adds", storm.books.begun);
        writers.into_iter().map(|writer| writer.join().expect("no writer panics")).collect()
    });
    let window = &storm.window;
    let events = [Event::<Seen>::from(Seen::Pass), Seen::Rt.into()];
    for (i, event) in events.into_iter().enumerate() {
        let ledger = Ledger::merged(books.iter().map(|books| books[i].clone()));
        assert_eq!(Tally::from(window.lifetime(event)), ledger.total());
        for tier in 0..3 {
            let series = window.series(tier).expect("there is such a tier");
            // Everything, unless the test took longer than a tier reaches back.
            let oldest = series.buckets().first().expect("a bucket").start().as_nanos();
            assert_eq!(
                Tally::from(series.totals().stats(event)),
                ledger.since(oldest),
                "tier {tier}"
            );
            assert_eq!(series.totals().stats(Seen::Still), Stats::default());
        }
        let mut is_fine = false;
        for millis in (3..40).chain([100, 400, 2_000, 10_000]) {
            let over = window.over(Duration::from_millis(millis)).expect("a tier reaches so far");
            let totals = over.totals();
            let from = Storm::from(&totals);
            assert_eq!(
                Tally::from(totals.stats(event)),
                ledger.since(from),
                "the last {millis} ms"
            );
            is_fine |= !from.is_multiple_of(10_000_000); // between the boundaries of coarser tiers
        }
        assert!(is_fine, "the finest tier was not asked");
    }
}
