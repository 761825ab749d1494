//! A window and an oracle that are told the same things and asked the same questions.

use std::time::Duration;

use proptest::prelude::*;
use windrow::clock::Manual;
use windrow::{
    BucketSnapshot, Clock, OutOfRange, SlidingWindow, Snapshot, Strategy, Timestamp, Totals,
};

use super::model::{Oracle, Refused, Turn, View, total};
use super::ops::{Geometry, Op, Time};
use super::seen::{EVENTS, Seen};
use crate::ledger::Tally;

type Checked = Result<(), TestCaseError>;

/// The two, and the clock that both go by.
pub struct Pair {
    clock: Manual,
    window: SlidingWindow<Seen, Manual>,
    oracle: Oracle<Seen>,
}

impl Pair {
    /// Builds a window, and its oracle, on a clock that shows `begin`.
    pub fn new(geometry: Geometry, begin: u64) -> Pair {
        let clock = Manual::default();
        clock.set(Timestamp::from_nanos(begin));
        let window = SlidingWindow::<Seen>::builder()
            .interval(geometry.interval())
            .buckets(geometry.buckets as usize)
            .clock(clock.clone())
            .build()
            .expect("a valid geometry");
        let oracle = Oracle::new(geometry.interval(), geometry.buckets as usize, begin)
            .expect("a valid geometry");
        Pair { clock, window, oracle }
    }

    fn now(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    fn resolve(&self, time: Time) -> Timestamp {
        let (length, interval) = (self.oracle.length(), self.oracle.interval());
        Timestamp::from_nanos(time.resolve(self.now(), self.oracle.newest(), length, interval))
    }

    /// Takes a step with both.
    ///
    /// # Errors
    ///
    /// If they answer differently.
    pub fn apply(&mut self, op: &Op) -> Checked {
        match *op {
            Op::Add(index, n) => {
                self.window.add(EVENTS[index], n);
                self.oracle.add(self.now(), EVENTS[index], tally(EVENTS[index], n));
            }
            Op::Record(index, value) => {
                self.window.record(EVENTS[index], value);
                self.oracle.add(self.now(), EVENTS[index], tally(EVENTS[index], value));
            }
            Op::AddAt(time, index, n) => {
                let at = self.resolve(time);
                let answer = self.window.add_at(at, EVENTS[index], n);
                self.same_refusal(answer, at, index, n)?;
            }
            Op::RecordAt(time, index, value) => {
                let at = self.resolve(time);
                let answer = self.window.record_at(at, EVENTS[index], value);
                self.same_refusal(answer, at, index, value)?;
            }
            Op::Set(time) => self.clock.set(self.resolve(time)),
            Op::Advance(by) => self.clock.advance(by),
            Op::Reconfigure(geometry) => {
                let buckets = geometry.buckets as usize;
                prop_assert_eq!(self.window.reconfigure(geometry.interval(), buckets), Ok(()));
                prop_assert!(self.oracle.reconfigure(geometry.interval(), buckets));
            }
            Op::TryReconfigure(interval, buckets) => {
                let answer = self.window.reconfigure(interval, buckets);
                prop_assert_eq!(answer.is_ok(), self.oracle.reconfigure(interval, buckets));
            }
            Op::Last(span) => self.same_last(span)?,
            Op::LastBuckets(buckets, by) => {
                let length = self.oracle.length();
                let span = buckets.saturating_mul(length).saturating_add_signed(by);
                self.same_last(Duration::from_nanos(span))?;
            }
            Op::Drain => self.same_drain()?,
            Op::Renew(geometry) => *self = Pair::new(geometry, self.now()),
        }
        Ok(())
    }

    /// Each bucket in its turn, with all that was counted in it before.
    fn same_drain(&self) -> Checked {
        let mut drained = Vec::new();
        let count = self.window.drain_closed(|bucket| drained.push(bucket));
        prop_assert_eq!(count, drained.len());
        prop_assert!(drained.iter().all(BucketSnapshot::is_closed));
        let ways = self.oracle.turns();
        let had = ways.iter().filter_map(|way| self.turns_of(&drained, way));
        let had = had.max_by_key(Vec::len); // the more are accounted for
        prop_assert!(had.is_some(), "{:?} have no turns in {:?}", drained, ways);
        for turn in had.into_iter().flatten() {
            self.oracle.has_had(turn);
        }
        Ok(())
    }

    /// The turns of what was handed out, if this is how it can have been.
    ///
    /// Whether empty buckets from before a change were merged cannot be told, so they may be there
    /// or not.
    fn turns_of<'t>(
        &self,
        drained: &[BucketSnapshot<Seen>],
        way: &'t [Turn<Seen>],
    ) -> Option<Vec<&'t Turn<Seen>>> {
        let (mut rest, mut had) = (way.iter(), Vec::new());
        for bucket in drained {
            let due = rest
                .clone()
                .find(|turn| !self.oracle.is_old_and_empty(turn) || is_turn_of(turn, bucket));
            if let Some(turn) = due.filter(|turn| is_turn_of(turn, bucket)) {
                rest.find(|next| std::ptr::eq(*next, turn));
                had.push(turn);
            } else if !is_empty(bucket) {
                return None;
            }
        }
        // Buckets are closed when they are retired, per core: all that are due are here.
        let some_are_open = windrow::strategy() != Strategy::PerCore;
        (some_are_open || rest.all(|turn| self.oracle.is_old_and_empty(turn))).then_some(had)
    }

    fn same_refusal(
        &self,
        answer: Result<(), OutOfRange>,
        at: Timestamp,
        index: usize,
        n: u64,
    ) -> Checked {
        let event = EVENTS[index];
        let expected = self.oracle.add_at(self.now(), at.as_nanos(), event, tally(event, n));
        let answer = answer.map_err(|error| match error {
            OutOfRange::AfterNow { at: named, now } => {
                assert_eq!((named, now), (at, self.clock.now()), "the error names the times");
                Refused::AfterNow
            }
            OutOfRange::BeforeRing { at: named, oldest } => {
                assert_eq!(named, at, "the error names the time");
                Refused::BeforeRing { oldest: oldest.as_nanos() }
            }
            other => panic!("no such refusal is known: {other}"),
        });
        prop_assert_eq!(answer, expected);
        Ok(())
    }

    fn same_last(&self, span: Duration) -> Checked {
        let answer = self.window.last(span);
        let (length, interval) = (self.oracle.length(), self.oracle.interval());
        let valid = !span.is_zero() && span <= Duration::from_nanos(interval);
        prop_assert_eq!(answer.is_ok(), valid, "last({:?})", span);
        prop_assert_eq!(self.window.over(span).is_ok(), valid, "over({:?})", span);
        if let Ok(answer) = answer {
            let nanos = u64::try_from(span.as_nanos()).expect("a span within the interval");
            let buckets = nanos.div_ceil(length);
            self.same_snapshot(&answer, buckets)?;
            self.same_over(span, buckets)?;
        }
        Ok(())
    }

    /// A span of so many buckets, as it is, without its newest bucket, and as it was at earlier times.
    fn same_over(&self, span: Duration, buckets: u64) -> Checked {
        let over = self.window.over(span).expect("a valid span");
        let (now, length) = (self.now(), self.oracle.length());
        let covers = Duration::from_nanos(buckets * length);
        let newest = self.oracle.newest_buckets(now, buckets);
        prop_assert_eq!(over.covers(), covers);
        for event in EVENTS {
            let expected = total(&newest, event);
            same_stats(over.stats(event), expected)?;
            prop_assert_eq!(over.sum(event), expected.sum);
            same_number(over.rate(event), rate(expected.count, covers))?;
        }
        same_totals(&over.totals(), now, covers, &newest)?;

        let complete = buckets.min(self.oracle.buckets() - 1);
        let before = (now - now % length).checked_sub(1);
        let expected = before.map_or(Vec::new(), |at| self.oracle.newest_buckets(at, complete));
        same_totals(&over.complete(), now, Duration::from_nanos(complete * length), &expected)?;

        // In the newest bucket, and ever farther back, until the span has left the ring.
        for back in 0..=self.oracle.buckets() {
            let Some(at) = now.checked_sub(back * length) else { break };
            let from = (at - at % length).saturating_sub((buckets - 1) * length);
            let answer = over.totals_at(Timestamp::from_nanos(at));
            match (answer, self.oracle.admits(now, from)) {
                (Ok(totals), Ok(())) => {
                    same_totals(&totals, at, covers, &self.oracle.newest_buckets(at, buckets))?;
                }
                (Err(error), Err(Refused::BeforeRing { oldest })) => {
                    let [at, from, oldest] = [at, from, oldest].map(Timestamp::from_nanos);
                    prop_assert_eq!(error, OutOfRange::SpanBeforeRing { at, from, oldest });
                    break;
                }
                (answer, expected) => {
                    prop_assert!(false, "{:?} is not {:?}", answer, expected);
                }
            }
        }
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

        let all = self.oracle.newest_buckets(now, buckets);
        for event in EVENTS {
            let expected = total(&all, event);
            same_stats(self.window.stats(event), expected)?;
            prop_assert_eq!(self.window.sum(event), expected.sum);
            same_number(self.window.rate(event), rate(expected.count, interval))?;
            same_stats(self.window.lifetime(event), self.oracle.lifetime(event))?;
            same_stats(self.window.late(event), self.oracle.late(event))?;
        }
        same_totals(&self.window.totals(), now, interval, &all)?;
        self.same_snapshot(&self.window.snapshot(), buckets)?;
        same_bucket(&self.window.previous(), &self.oracle.previous(now))?;

        let some = step as u64 % buckets + 1;
        self.same_last(Duration::from_nanos(some * length - step as u64 % length))
    }

    fn same_snapshot(&self, answer: &Snapshot<Seen>, buckets: u64) -> Checked {
        let interval = Duration::from_nanos(buckets * self.oracle.length());
        let expected = self.oracle.newest_buckets(self.now(), buckets);
        prop_assert_eq!(answer.at(), self.clock.now());
        prop_assert_eq!(answer.interval(), interval);
        prop_assert_eq!(answer.buckets().len(), expected.len());
        for (bucket, view) in answer.buckets().iter().zip(&expected) {
            same_bucket(bucket, view)?;
        }
        for event in EVENTS {
            let expected = total(&expected, event);
            same_stats(answer.stats(event), expected)?;
            prop_assert_eq!(answer.sum(event), expected.sum);
            same_number(answer.rate(event), rate(expected.count, interval))?;
        }
        Ok(())
    }
}

fn is_turn_of(turn: &Turn<Seen>, bucket: &BucketSnapshot<Seen>) -> bool {
    let same = |&event: &Seen| Tally::from(bucket.stats(event)) == turn.tallies.of(event);
    turn.start == bucket.start().as_nanos()
        && turn.end == bucket.end().as_nanos()
        && EVENTS.iter().all(same)
}

fn is_empty(bucket: &BucketSnapshot<Seen>) -> bool {
    bucket.is_empty()
}

fn tally(event: Seen, n: u64) -> Tally {
    event.tally(n)
}

fn rate(count: u64, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { count as f64 / span.as_secs_f64() }
}

fn same_totals(
    answer: &Totals<Seen>,
    at: u64,
    covers: Duration,
    expected: &[View<Seen>],
) -> Checked {
    prop_assert_eq!((answer.at().as_nanos(), answer.interval()), (at, covers));
    for event in EVENTS {
        let expected = total(expected, event);
        same_stats(answer.stats(event), expected)?;
        same_number(answer.rate(event), rate(expected.count, covers))?;
    }
    Ok(())
}

fn same_bucket(answer: &BucketSnapshot<Seen>, expected: &View<Seen>) -> Checked {
    prop_assert_eq!(answer.start().as_nanos(), expected.start);
    prop_assert_eq!(answer.end().as_nanos(), expected.end);
    for event in EVENTS {
        let tally = expected.tallies.of(event);
        prop_assert_eq!(Tally::from(answer.stats(event)), tally, "bucket {}", expected.start);
        prop_assert_eq!(answer.sum(event), tally.sum);
    }
    if let Some(closed) = expected.closed {
        prop_assert_eq!(answer.is_closed(), closed, "bucket {}", expected.start);
    }
    Ok(())
}

fn same_stats(answer: windrow::Stats, expected: Tally) -> Checked {
    prop_assert_eq!(Tally::from(answer), expected);
    match (answer.mean(), expected.mean()) {
        (Some(answer), Some(expected)) => same_number(answer, expected),
        (answer, expected) => {
            prop_assert_eq!(answer, expected, "the mean of {:?}", expected);
            Ok(())
        }
    }
}

/// Equal but for the order of rounding.
fn same_number(answer: f64, expected: f64) -> Checked {
    let close = (answer - expected).abs() <= expected.abs() * 1e-12;
    prop_assert!(close, "{} is not {}", answer, expected);
    Ok(())
}
