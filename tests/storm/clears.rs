//! `clear` under load, from several threads and beside changes of geometry, drains and readers.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use testkit::ledger::{Progress, Tally};
use testkit::{Finish, Rng, alone, at_ns, is_empty, ns, rounds};
use windrow::clock::Manual;
use windrow::{Clock, SlidingWindow, Stats};

use crate::Seen;

const WRITERS: usize = 3;
const BEGIN: u64 = 1_000_000;
/// Further ahead than any clock here leaps.
const FAR: u64 = 1 << 60;
/// Length and number of buckets. The tier's buckets of 60 ns follow on each.
const GEOMETRIES: [(u64, u64); 4] = [(10, 6), (20, 3), (5, 14), (60, 1)];

type Window = SlidingWindow<Seen, Manual>;

fn tiered(tier: usize, clock: &Manual) -> Window {
    let builder = SlidingWindow::<Seen>::builder().interval(ns(60)).buckets(6);
    let builder = builder.tier(ns(60), tier).tier(ns(120), tier);
    builder.clock(clock.clone()).build().expect("tiers that nest")
}

/// The state that all threads of a storm share.
struct Storm {
    window: Window,
    clock: Manual,
    pass: [Progress; WRITERS],
    rt: [Progress; WRITERS],
    /// The sum of the drained buckets.
    handed: AtomicU64,
    is_over: AtomicBool,
}

impl Storm {
    /// Creates a storm with a tier of `tier` buckets.
    fn new(tier: usize) -> Storm {
        let clock = Manual::default();
        clock.set(at_ns(BEGIN));
        let progress = || std::array::from_fn(|_| Progress::default());
        Storm {
            window: tiered(tier, &clock),
            clock,
            pass: progress(),
            rt: progress(),
            handed: AtomicU64::new(0),
            is_over: AtomicBool::new(false),
        }
    }

    fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Adds and records, some of them back-dated; `turn` turns the clock. Returns the tally of the
    /// records.
    fn write(&self, writer: usize, mut turn: impl FnMut(&mut Rng)) -> Tally {
        let (mut random, mut recorded) = (Rng::with_seed(writer as u64), Tally::default());
        while !self.is_over() {
            let n = random.u64(1..100);
            self.pass[writer].around(n, n, || {
                self.window.add(Seen::Pass, n);
                Some(())
            });
            let value = random.u64(1..1_000);
            let record = || {
                if random.bool() {
                    self.window.record(Seen::Rt, value);
                    return Some(());
                }
                let now = self.window.clock().now().as_nanos();
                let at = at_ns(now.saturating_sub(random.u64(..90)));
                self.window.record_at(at, Seen::Rt, value).ok()
            };
            if self.rt[writer].around(1, value, record).is_some() {
                recorded.merge(Tally::value(value));
            }
            turn(&mut random);
        }
        recorded
    }

    /// Clears, changes the geometry, closes and drains.
    fn change(&self, seed: u64) {
        let (window, mut random) = (&self.window, Rng::with_seed(seed));
        while !self.is_over() {
            let (length, buckets) = GEOMETRIES[random.usize(..GEOMETRIES.len())];
            match random.u8(..8) {
                0..3 => window.clear().expect("there is memory"),
                3..6 => window.reconfigure(ns(length * buckets), buckets as usize).expect("valid"),
                6 => window.close_past(),
                _ => _ = self.drain(),
            }
            if random.u8(..8) == 0 {
                thread::yield_now();
            }
        }
    }

    fn drain(&self) -> usize {
        self.window.drain_closed(|bucket| {
            self.handed.fetch_add(bucket.sum(Seen::Pass), Ordering::Relaxed);
            if bucket.start().as_nanos().is_multiple_of(7) {
                self.window.clear().expect("there is memory");
            }
        })
    }

    /// Runs `WRITERS` writers, two threads that change and `read`, for `time`; then every add must
    /// be present. Returns the tally of the records.
    fn run(&self, time: Duration, turn: impl Fn(&mut Rng) + Sync, mut read: impl FnMut()) -> Tally {
        let recorded = thread::scope(|scope| {
            let (storm, turn) = (self, &turn);
            let finish = Finish(&self.is_over);
            let writers: [_; WRITERS] =
                std::array::from_fn(|writer| scope.spawn(move || storm.write(writer, turn)));
            let changers = [101, 102].map(|seed| scope.spawn(move || storm.change(seed)));
            let begin = Instant::now();
            while begin.elapsed() < time {
                read();
                self.lies_between(&mut 0);
            }
            drop(finish);
            for changer in changers {
                changer.join().expect("no change panics");
            }
            let mut recorded = Tally::default();
            for writer in writers {
                recorded.merge(writer.join().expect("no writer panics"));
            }
            recorded
        });
        let (window, pass) = (&self.window, Progress::done(&self.pass)[1]);
        assert_eq!(window.lifetime(Seen::Pass).sum, pass);
        assert_eq!(Tally::from(window.lifetime(Seen::Rt)), recorded);
        assert_eq!(window.lifetime(Seen::Idle).sum, 0);
        assert_eq!(window.lifetime(Seen::Still), Stats::default());
        assert!(self.handed.load(Ordering::Relaxed) <= pass, "handed out twice");
        recorded
    }

    /// Checks that the lifetime lies between its bounds.
    fn lies_between(&self, last: &mut u64) {
        let done = Progress::done(&self.pass)[1];
        let all = self.window.lifetime(Seen::Pass).sum;
        let begun = Progress::begun(&self.pass)[1];
        assert!((done..=begun).contains(&all), "{all} is not in {done} to {begun}");
        assert!(all >= *last, "{all} after {last}");
        *last = all;
        let sum = self.window.snapshot().totals().sum(Seen::Pass);
        let begun = Progress::begun(&self.pass)[1];
        assert!(sum <= begun, "{sum} of {begun}");
    }
}

#[test]
fn tiers_lose_nothing_to_clears() {
    alone::in_each_strategy("clears::under_clears_at_one_time_after_another");
}

/// The clock goes forth alone, and the tiers reach back to the beginning: they hold everything.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_clears_at_one_time_after_another() {
    for _ in 0..rounds(10) {
        let storm = Storm::new(2_000_000);
        let (window, mut checks) = (&storm.window, 0);
        let turn = |random: &mut Rng| storm.clock.advance(ns(random.u64(..9)));
        let recorded = storm.run(Duration::from_millis(100), turn, || {
            let all = window.lifetime(Seen::Pass).sum;
            let tier = window.over(ns(60 * 2_000_000)).expect("a tier").sum(Seen::Pass);
            let begun = Progress::begun(&storm.pass)[1];
            assert!((all..=begun).contains(&tier), "{tier} is not in {all} to {begun}");
            checks += 1;
        });
        let pass = Progress::done(&storm.pass)[1];
        println!("{:?}: {checks} checks of {pass}", windrow::diagnostics::strategy());
        for tier in [60, 120] {
            let all = window.over(ns(tier * 2_000_000)).expect("a tier");
            assert_eq!(all.sum(Seen::Pass), pass, "in the tier of {tier}");
            assert_eq!(Tally::from(all.stats(Seen::Rt)), recorded, "in the tier of {tier}");
        }
    }
}

#[test]
fn nothing_is_lost_to_clears_by_a_clock_that_leaps() {
    alone::in_each_strategy("clears::under_clears_by_a_clock_that_leaps");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_clears_by_a_clock_that_leaps() {
    for round in 0..rounds(10) as usize {
        let storm = Storm::new(5);
        let turn = |random: &mut Rng| match random.u8(..100) {
            0 => storm.clock.set(at_ns(BEGIN + random.u64(..3_000))),
            1 => storm.clock.advance(ns(random.u64(..100_000))),
            2 => storm.clock.set(at_ns(random.u64(..2_000))),
            _ => storm.clock.advance(ns(random.u64(..6))),
        };
        let mut last = 0;
        storm.run(Duration::from_millis(100), turn, || {
            storm.lies_between(&mut last);
            let over = storm.window.over(ns(600)).expect("a tier").sum(Seen::Pass);
            assert!(over <= Progress::begun(&storm.pass)[1]);
            drop(storm.window.series(0));
        });
        counts_on(&storm, [10, BEGIN, 1_000 * BEGIN][round % 3]);
    }
}

/// At rest, after a clear at a time: the window is as a new one, but for its lifetime.
fn counts_on(storm: &Storm, time: u64) {
    let Storm { window, clock, .. } = storm;
    // With epochs, the garbage of the storm is freed before buckets are closed.
    let drain = |least: u64| {
        let mut sum = 0;
        for call in 0..50_000 {
            window.drain_closed(|bucket| sum += bucket.sum(Seen::Pass));
            if call >= 20 && sum >= least {
                break;
            }
        }
        sum
    };
    window.reconfigure(ns(60), 6).expect("valid");
    // From far ahead, or a ring that has only just passed the time would stay where it is.
    for time in [FAR, time] {
        clock.set(at_ns(time));
        window.clear().expect("there is memory");
        if time == FAR {
            window.add(Seen::Pass, 7);
            clock.advance(ns(10));
            window.add(Seen::Pass, 1);
            assert_eq!(drain(7), 7, "so all that is older is closed");
        }
    }
    let before = window.lifetime(Seen::Pass).sum;
    assert!(is_empty(&window.snapshot()));
    assert_eq!((window.sum(Seen::Pass), drain(0)), (0, 0));
    let mut added = 0;
    for step in 1..60 {
        let newest = time + 10 * (step - 1);
        let at = format!("at step {step} from {time}");
        window.add(Seen::Pass, step);
        added += step;
        let inside: u64 = (1..=step).rev().take(6).sum();
        assert_eq!(window.sum(Seen::Pass), inside, "{at}");
        assert_eq!(drain(step - 1), step - 1, "{at}: handed out");
        let reach = [60, 120].map(|length| {
            let first = (newest / length * length).saturating_sub(4 * length);
            (1..=step).filter(|step| time + 10 * (step - 1) >= first).sum::<u64>()
        });
        let tiers =
            [0, 1].map(|tier| window.series(tier).expect("a tier").totals().sum(Seen::Pass));
        assert_eq!(tiers, reach, "{at}");
        clock.advance(ns(10));
    }
    assert_eq!(window.lifetime(Seen::Pass).sum, before + added);
}
