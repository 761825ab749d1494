//! Random histories, beside a list of the levels that were held and when.

use proptest::prelude::*;

use testkit::ns;
use windrow::clock::Manual;
use windrow::{
    AtMost, InFlight, SlidingWindow, Timestamp,
    in_flight::{InFlightGuard, LevelOwner, Peaks},
    snapshot::Snapshot,
};

use crate::Pool;

#[derive(Clone, Debug)]
enum Op {
    Enter(u64),
    TryEnter(u64, u64),
    /// One of those in flight, by a number.
    Leave(usize),
    Step(i64),
}

fn ops(step: impl Strategy<Value = i64> + 'static) -> impl Strategy<Value = Vec<Op>> {
    let op = prop_oneof![
        3 => (0..5_u64).prop_map(Op::Enter),
        2 => (0..5_u64, 0..12_u64).prop_map(|(weight, limit)| Op::TryEnter(weight, limit)),
        5 => (0..100_usize).prop_map(Op::Leave),
        5 => step.prop_map(Op::Step),
    ];
    prop::collection::vec(op, 0..100)
}

/// Levels, each with the time from which it was held; those between the operations of one time too.
struct Held(Vec<(u64, u64)>);

impl Held {
    /// Returns the greatest level that was held from `begin` on, until just before `end`.
    fn most(&self, begin: u64, end: u64) -> u64 {
        let before = self.0.iter().rfind(|(at, _)| *at < begin);
        let within = self.0.iter().filter(|(at, _)| (begin..end).contains(at));
        within.chain(before).map(|(_, level)| *level).max().expect("a level before all time")
    }

    fn has_operations(&self, begin: u64, end: u64) -> bool {
        self.0[1..].iter().any(|(at, _)| (begin..end).contains(at))
    }

    fn level(&self) -> u64 {
        self.0.last().expect("a level before all time").1
    }
}

/// A history under way, and its guards in flight.
struct History<'a> {
    peaks: Peaks<'a, Pool, Manual>,
    inside: Vec<(u64, InFlightGuard<Peaks<'a, Pool, Manual>>)>,
    now: u64,
    held: Held,
}

impl<'a> History<'a> {
    fn new(peaks: Peaks<'a, Pool, Manual>) -> History<'a> {
        // Time begins at 1, so that there is a level before it.
        History { peaks, inside: Vec::new(), now: 1, held: Held(vec![(0, 0)]) }
    }

    fn play(&mut self, op: &Op, clock: &Manual) {
        let level = self.held.level();
        match op {
            Op::Enter(weight) => {
                self.inside.push((*weight, self.peaks.enter(*weight)));
                self.held.0.push((self.now, level + weight));
            }
            Op::TryEnter(weight, limit) => {
                let inside = self.peaks.try_enter(*weight, AtMost(*limit));
                assert_eq!(inside.is_some(), level + weight <= *limit);
                if let Some(inside) = inside {
                    self.inside.push((*weight, inside));
                    self.held.0.push((self.now, level + weight));
                }
            }
            Op::Leave(which) if !self.inside.is_empty() => {
                let which = which % self.inside.len();
                let (weight, guard) = self.inside.swap_remove(which);
                drop(guard);
                self.held.0.push((self.now, level - weight));
            }
            Op::Leave(_) => {}
            Op::Step(step) => {
                self.now = self.now.saturating_add_signed(*step).max(1);
                clock.set(Timestamp::from_nanos(self.now));
            }
        }
    }

    /// Checks that each bucket has the greatest level held in it, from its beginning to its end, or
    /// no operation; and then the level held is at most those of its neighbours.
    fn check_each(&self, snapshot: &Snapshot<Pool>) {
        let nanos = Timestamp::as_nanos;
        let found: Vec<_> =
            snapshot.buckets().iter().map(|bucket| bucket.stats(Pool::Busy).max).collect();
        for (index, bucket) in snapshot.buckets().iter().enumerate() {
            let (begin, end) = (nanos(bucket.start()), nanos(bucket.end()));
            let most = self.held.most(begin, end);
            if self.held.has_operations(begin, end) {
                assert_eq!(found[index], Some(most), "{begin}..{end}");
            } else {
                assert_eq!(found[index], None, "{begin}..{end}");
                let before = found[..index].iter().flatten().next_back();
                let behind = found[index..].iter().flatten().next();
                assert!(before.is_none_or(|bound| most <= *bound), "{begin}..{end}: {found:?}");
                assert!(behind.is_none_or(|bound| most <= *bound), "{begin}..{end}: {found:?}");
            }
        }
    }
}

fn window(length: u64, buckets: u64, clock: &Manual) -> SlidingWindow<Pool, Manual> {
    clock.set(Timestamp::from_nanos(1));
    SlidingWindow::builder()
        .interval(ns(length * buckets))
        .buckets(buckets as usize)
        .tier(ns(length * buckets), 3)
        .clock(clock.clone())
        .build()
        .unwrap()
}

fn config() -> ProptestConfig {
    // A failure prints its shrunk history; it becomes a named test, not a file of seeds.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn each_bucket_has_the_most_that_was_held_in_it(
        length in 1..12_u64, buckets in 1..7_u64, ops in ops(0..25_i64)
    ) {
        let (clock, in_flight) = (Manual::default(), InFlight::new());
        let window = window(length, buckets, &clock);
        let peaks = in_flight.record_peaks(&window, Pool::Busy);
        let mut history = History::new(peaks);
        for op in &ops {
            history.play(op, &clock);
            prop_assert_eq!(peaks.in_flight().level(), history.held.level());
            history.check_each(&window.snapshot());
            history.check_each(&window.series(0).unwrap());
            let snapshot = window.snapshot();
            let begin = snapshot.buckets()[0].start().as_nanos();
            prop_assert_eq!(peaks.peak(), history.held.most(begin, history.now + 1));
            let begin = window.series(0).unwrap().buckets()[0].start().as_nanos();
            let reached = peaks.peak_over(ns(length * buckets * 3)).unwrap();
            prop_assert_eq!(reached, history.held.most(begin, history.now + 1));
        }
    }

    /// Wherever a clock that steps back puts an operation, the level that it raises is recorded
    /// there, or as late.
    #[test]
    fn no_level_is_lost_or_made_up_whatever_the_clock_does(
        length in 1..12_u64, buckets in 1..7_u64, ops in ops(-60..60_i64)
    ) {
        let (clock, in_flight) = (Manual::default(), InFlight::new());
        let window = window(length, buckets, &clock);
        let mut history = History::new(in_flight.record_peaks(&window, Pool::Busy));
        for op in &ops {
            history.play(op, &clock);
            let greatest = history.held.0.iter().map(|(_, level)| *level).max();
            let has_any = history.held.0.len() > 1;
            prop_assert_eq!(window.lifetime(Pool::Busy).max, greatest.filter(|_| has_any));
        }
    }
}
