//! A window and an oracle that get the same operations and the same questions.

use std::time::Duration;

use proptest::prelude::*;
use windrow::clock::Manual;
use windrow::{
    Clock, Event, SlidingWindow, Timestamp,
    diagnostics::Strategy,
    snapshot::{BucketSnapshot, OutOfRangeError},
};

use super::model::{Oracle, Refused, Turn};
use super::newest::Newest;
use super::ops::{Geometry, Op, Plan, Time};
use super::same::{
    Checked, has_values, same_bucket, same_distribution, same_snapshot, same_stats, same_sum,
    same_totals,
};
use super::seen::{Bits, EVENTS, Seen, WAITED, count_at, if_summed, tally};
use super::tallies::{total, values};
use crate::count;
use crate::ledger::Tally;

/// The two, and the clock that both go by.
pub struct Pair {
    pub(super) clock: Manual,
    pub(super) window: SlidingWindow<Seen, Manual>,
    pub(super) oracle: Oracle<Event<Seen>>,
    /// Buckets may have been retired that could not be closed in time, and be in a tier.
    pub(super) is_held_up: bool,
    /// They may be retired now.
    is_pinned: bool,
    pub(super) newest: Newest,
}

impl Pair {
    /// Builds a window, and its oracle, on a clock that shows `begin`.
    pub fn new(plan: &Plan, begin: u64) -> Pair {
        let clock = Manual::default();
        clock.set(Timestamp::from_nanos(begin));
        let mut builder = SlidingWindow::<Seen>::builder()
            .interval(plan.ring.interval())
            .buckets(plan.ring.buckets as usize)
            .clock(clock.clone());
        for Geometry { length, buckets } in &plan.tiers {
            builder = builder.tier(Duration::from_nanos(*length), *buckets as usize);
        }
        let window = builder.build().expect("a valid geometry, and tiers that nest");
        let (oracle, newest) = (Oracle::new(plan, begin), Newest::default());
        Pair { clock, window, oracle, is_held_up: false, is_pinned: false, newest }
    }

    /// From now on, buckets may not be closed in time, because another thread is pinned; or that is
    /// long ago: then what tiers have missed must have left them.
    pub fn hold_up(&mut self, is_so: bool) {
        (self.is_held_up, self.is_pinned) = (is_so, is_so);
        self.note_newest();
    }

    /// No other thread is pinned any more: buckets are closed in time from now on.
    ///
    /// # Errors
    ///
    /// Fails as [`close`](Self::close) does, which this calls.
    pub fn let_go(&mut self) -> Checked {
        self.is_pinned = false;
        self.close()
    }

    fn note_newest(&mut self) {
        self.newest.note(self.oracle.newest(), self.is_pinned);
    }

    /// Closes the retired buckets, which takes a grace period where there are no sequences: a few
    /// pins.
    ///
    /// # Errors
    ///
    /// Fails if the drained buckets are not those that were due.
    pub fn close(&self) -> Checked {
        (0..20).try_for_each(|_| self.same_drain())
    }

    pub(super) fn now(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    fn resolve(&self, time: Time) -> Timestamp {
        let interval = self.oracle.interval();
        let at = time.resolve(self.now(), self.oracle.newest(), &self.lengths(), interval);
        Timestamp::from_nanos(at)
    }

    /// Returns the lengths of the window's own buckets, and of each tier's.
    fn lengths(&self) -> Vec<u64> {
        let sources = [None].into_iter().chain((0..self.oracle.tiers()).map(Some));
        sources.map(|source| self.oracle.geometry(source).length).collect()
    }

    /// Takes a step with both.
    ///
    /// # Errors
    ///
    /// If they answer differently.
    pub fn apply(&mut self, op: &Op) -> Checked {
        match *op {
            Op::Add(index, n) => {
                count(&self.window, EVENTS[index], n);
                self.oracle.add(self.now(), EVENTS[index], tally(EVENTS[index], n));
            }
            Op::AddAt(time, index, n) => {
                let at = self.resolve(time);
                let answer = count_at(&self.window, at, EVENTS[index], n);
                self.same_refusal(answer, at, index, n)?;
            }
            Op::Set(time) => self.clock.set(self.resolve(time)),
            Op::Advance(by) => self.clock.advance(by),
            Op::Reconfigure(geometry) => {
                let coarse = (self.oracle.tiers() > 0).then(|| self.oracle.geometry(Some(0)));
                let geometry = coarse.map_or(geometry, |coarse| geometry.below(coarse.length));
                let buckets = geometry.buckets as usize;
                prop_assert_eq!(self.window.reconfigure(geometry.interval(), buckets), Ok(()));
                prop_assert!(self.oracle.reconfigure(geometry.interval(), buckets));
            }
            Op::TryReconfigure(interval, buckets) => {
                let answer = self.window.reconfigure(interval, buckets);
                prop_assert_eq!(answer.is_ok(), self.oracle.reconfigure(interval, buckets));
            }
            Op::Last(span) => self.same_last(span)?,
            Op::LastBuckets(buckets, by) => self.same_last_buckets(0, buckets, by)?,
            Op::LastCoarse(tier, buckets, by) => self.same_last_buckets(tier, buckets, by)?,
            Op::Drain => self.same_drain()?,
            Op::Clear => {
                prop_assert_eq!(self.window.clear(), Ok(()));
                if self.oracle.clear(self.now()) {
                    self.newest = Newest::default();
                }
            }
            Op::Renew(ref plan) => {
                let (is_held_up, is_pinned) = (self.is_held_up, self.is_pinned);
                *self = Pair { is_held_up, is_pinned, ..Pair::new(plan, self.now()) };
            }
        }
        self.note_newest();
        Ok(())
    }

    fn same_last_buckets(&self, tier: usize, buckets: u64, by: i64) -> Checked {
        let lengths = self.lengths();
        let length = lengths[tier % lengths.len()];
        let span = buckets.saturating_mul(length).saturating_add_signed(by);
        self.same_last(Duration::from_nanos(span))
    }

    /// Returns each bucket in its turn, with all that was counted in it before.
    fn same_drain(&self) -> Checked {
        let mut drained = Vec::new();
        let count = self.window.drain_closed(|bucket| drained.push(bucket));
        prop_assert_eq!(count, drained.len());
        prop_assert!(drained.iter().all(BucketSnapshot::is_closed));
        let ways = self.oracle.turns();
        let had = ways.iter().filter_map(|way| turns_of(&drained, way));
        let parts = |had: &&[Turn<_>]| had.iter().map(Turn::parts).sum::<usize>();
        // Where merged buckets look like one of them, either may have been handed out: the others
        // may come yet.
        let (least, most) = (had.clone().min_by_key(parts), had.max_by_key(parts));
        let (Some(least), Some(most)) = (least, most) else {
            prop_assert!(false, "{:?} have no turns in {:?}", drained, ways);
            return Ok(());
        };
        self.oracle.have_had(least, most);
        Ok(())
    }

    fn same_refusal(
        &self,
        answer: Result<(), OutOfRangeError>,
        at: Timestamp,
        index: usize,
        n: u64,
    ) -> Checked {
        let event = EVENTS[index];
        let expected = self.oracle.add_at(self.now(), at.as_nanos(), event, tally(event, n));
        let answer = answer.map_err(|error| match error {
            OutOfRangeError::AfterNow { at: named, now } => {
                assert_eq!((named, now), (at, self.clock.now()), "the error names the times");
                Refused::AfterNow
            }
            OutOfRangeError::BeforeRing { at: named, oldest } => {
                assert_eq!(named, at, "the error names the time");
                Refused::BeforeRing { oldest: oldest.as_nanos() }
            }
            other => panic!("no such refusal is known: {other}"),
        });
        prop_assert_eq!(answer, expected);
        Ok(())
    }

    /// Asks both everything.
    ///
    /// # Errors
    ///
    /// If they answer differently.
    pub fn compare(&self, step: usize) -> Checked {
        let (now, buckets, length) = (self.now(), self.oracle.buckets(), self.oracle.length());
        let interval = Duration::from_nanos(self.oracle.interval());
        prop_assert_eq!(self.window.interval(), interval);
        prop_assert_eq!(self.window.buckets() as u64, buckets);

        let all = self.oracle.span(None, Some(now), buckets);
        for event in EVENTS {
            let expected = total(&all.views, event);
            same_stats(self.window.stats(event), expected)?;
            let window = &self.window;
            let numbers = if_summed!(event, |of| (window.sum(of).bits(), window.rate(of)));
            same_sum(numbers, event, expected, interval)?;
            same_stats(self.window.lifetime(event), self.oracle.lifetime(event))?;
            same_stats(self.window.late(event), self.oracle.late(event))?;
        }
        let waited = Seen::Waited;
        same_distribution(&self.window.distribution(waited), &values(&all.views, WAITED))?;
        let lifetime = self.oracle.lifetime_values(WAITED);
        same_distribution(&self.window.lifetime_distribution(waited), &lifetime)?;
        same_totals(&self.window.totals(), now, &all)?;
        same_snapshot(&self.window.snapshot(), now, all.covers, &all.views)?;
        same_bucket(&self.window.previous(), &self.oracle.previous(now))?;

        let some = |buckets: u64, length: u64| {
            let buckets = step as u64 % buckets + 1;
            self.same_last(Duration::from_nanos(buckets * length - step as u64 % length))
        };
        some(buckets, length)?;
        for tier in 0..self.oracle.tiers() {
            self.same_series(tier)?;
            let Geometry { length, buckets } = self.oracle.geometry(Some(tier));
            some(buckets, length)?;
        }
        prop_assert!(self.window.series(self.oracle.tiers()).is_none());
        Ok(())
    }
}

/// Returns the turns of the drained buckets, if they are possible.
fn turns_of<'t>(
    drained: &[BucketSnapshot<Seen>],
    way: &'t [Turn<Event<Seen>>],
) -> Option<&'t [Turn<Event<Seen>>]> {
    let had = way.get(..drained.len())?;
    let are_due = had.iter().zip(drained).all(|(turn, bucket)| is_turn_of(turn, bucket));
    // Buckets are closed when they are retired, but by epochs: all that are due are here.
    let some_are_open = windrow::diagnostics::strategy() == Strategy::Epochs;
    (are_due && (some_are_open || had.len() == way.len())).then_some(had)
}

fn is_turn_of(turn: &Turn<Event<Seen>>, bucket: &BucketSnapshot<Seen>) -> bool {
    let same = |&event: &Event<Seen>| Tally::from(bucket.stats(event)) == turn.tallies.of(event);
    turn.start == bucket.start().as_nanos()
        && turn.end == bucket.end().as_nanos()
        && EVENTS.iter().all(same)
        && has_values(&bucket.distribution(Seen::Waited), &turn.tallies.values_of(WAITED))
}
