//! Finds what is unusual in a series: from past numbers to changes, without any reading or time of
//! its own.
//!
//! # The question
//!
//! A level (the share of failures or refusals, a percentile, a rate) has changed if two things
//! hold. Its distance is that of a change: a factor beyond the range in which the series usually
//! is. And its counts are evidence: chance alone would bring them seldom enough for the wanted
//! number of false changes a day. The first follows from the series' own past, and only the factor
//! is a number of [`Settings`]; the second makes low counts harmless.
//!
//! # Percentiles
//!
//! A 99th percentile is above a bound if more than a hundredth of the values is. So it is tested as
//! a share: that of the values above a [bound](Watch::bounds) that the past gives.
//!
//! # Clumps
//!
//! Evidence counts independent operations. If they fail, come or are slow together, a change needs
//! more of it, by the factor between the variance of past counts and that of independent ones. For
//! shares and rates it is the variance from minute to minute; for values, that within each minute,
//! because a burst of slow seconds may be in each of them.
//!
//! # Spans
//!
//! Shares and rates of the last seconds show what is new and large; those of the last minutes, what
//! is rare or small. The change must be there without the two seconds, or the minute, that have
//! most of it: these may be one pause, or one client.

#[cfg(test)]
mod tests;

use super::change::{Of, What};
use super::changes::Changes;
use super::counts::Seen;
use super::evidence::{HITS, Settings};
use super::judge::{Found, judge};
use super::levels::{Levels, MINUTES};
use super::recent::{Look, Span};
use super::record::{Minute, Record};
use crate::shown::layout::PERCENTILES;

/// The spans of recent seconds that are compared with the past.
const SECONDS: [usize; 4] = [6, 15, 30, 60];

/// The longest time between two looks, in milliseconds, that can stand for a minute.
const LONGEST: u64 = 300_000;

/// The watch over one series.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The milliseconds by which its minutes end sooner than those of the clock.
    phase: u64,
    pub(super) record: Record,
    pub(super) levels: Levels,
    pub(super) changes: Changes,
    /// The time from which the past is known, in milliseconds of the window's clock.
    pub(super) known_since: Option<u64>,
    /// The counts at the end of the last minute.
    minute: Look,
}

impl Watch {
    /// Returns the watch over the series of this number. Minutes of different series end at
    /// different seconds, so that not all learn in the same second.
    pub(crate) fn new(number: u64, settings: Settings) -> Watch {
        let phase = number % 60 * 7_000 % 60_000;
        let mut watch = Watch { phase, ..Watch::default() };
        watch.levels.settings = settings;
        watch
    }

    /// Returns the values above which [`Seen`] and [`Minute`] count values; `None` while there
    /// is no usual percentile.
    pub(crate) fn bounds(&self) -> Option<[u64; PERCENTILES]> {
        self.levels.bounds()
    }

    /// Takes a minute of the past. Minutes come in their order.
    pub(crate) fn minute(&mut self, minute: Minute) {
        self.known_since = self.known_since.or(Some(minute.start()));
        self.record.minutes.push(minute);
        if minute.counts.values > 0 {
            self.record.percentiles = minute.percentiles;
        }
        for change in &self.changes.on {
            self.record.minutes.mark(change.what, change.since);
        }
        self.follow(minute.end, |watch, what| {
            let minutes = &watch.record.minutes;
            MINUTES.iter().find_map(|seconds| {
                // What belongs to a change that has ended is no new one.
                let ended = watch.changes.ended_of(what);
                let is_after = minute.end >= ended + (seconds * 1e3) as u64;
                let sum = |of| {
                    let sum = minutes.sum(of, *seconds);
                    (is_after && sum.1 >= *seconds).then_some(sum)
                };
                judge(&watch.levels, what, sum, |of| minutes.rest(of, *seconds))
            })
        });
        self.changes.end_old(&mut self.record.minutes, minute.end);
        self.changes.set_courses(&self.record.minutes);
        self.levels.usual.learn(&self.record.minutes);
        if !self.changes.is_on(What::Slow) {
            self.levels.set_bounds(&mut self.record);
        }
    }

    /// Takes the numbers of this moment. There may be one a second; those that come sooner are left
    /// out.
    pub(crate) fn look(&mut self, seen: &Seen) {
        let last = self.record.recent.looks.back().map(|last| last.at);
        if last.is_some_and(|last| seen.at < last + 900) {
            if last.is_some_and(|last| seen.at < last) {
                self.record.recent.clear(); // the clock was set back
            }
            return;
        }
        if last.is_none_or(|last| seen.at > last + LONGEST) {
            self.record.recent.clear();
            self.minute = self.record.recent.push(seen.at, seen.counts);
            return;
        }
        if seen.interval > 0 {
            self.record.percentiles = seen.percentiles;
        }
        let look = self.record.recent.push(seen.at, seen.counts);
        if self.minute_of(look.at) != self.minute_of(self.minute.at) {
            let minute = self.minute_until(&look);
            self.minute = look;
            self.minute(minute);
        }
        let spans = SECONDS.map(|seconds| (seconds, self.record.recent.span(seconds)));
        // Most series have no hits, and rates need long spans anyway.
        let longest = spans[SECONDS.len() - 1].1;
        let has_hits = |of| longest.is_none_or(|span| span.sum(of).0.0 >= HITS);
        let is_turn = self.record.recent.count.is_multiple_of(3);
        self.follow(look.at, |watch, what| {
            let is_worth = match what {
                What::Quiet | What::Busy => is_turn,
                What::Failing => has_hits(Of::Failed),
                What::Refused => has_hits(Of::Refused),
                What::Slow => has_hits(Of::Above(0)),
            };
            spans.iter().filter(|_| is_worth).find_map(|(seconds, span)| {
                let sum = |of| span.map(|span| span.sum(of));
                judge(&watch.levels, what, sum, |of| watch.record.recent.rest(of, *seconds))
            })
        });
    }

    /// Begins the changes that `find` finds, of those kinds of which none goes on, and brings all
    /// up to date.
    fn follow(&mut self, now: u64, find: impl Fn(&Watch, What) -> Option<Found>) {
        for what in What::ALL {
            if !self.changes.is_on(what)
                && let Some(found) = find(self, what)
            {
                self.changes.begin(found, &self.levels, &mut self.record, now);
            }
        }
        self.changes.follow(&self.levels, &self.record, now);
    }

    /// Returns the number of the minute that contains a time.
    fn minute_of(&self, at: u64) -> u64 {
        (at + self.phase) / 60_000
    }

    /// Returns the minute between the last one and a look.
    fn minute_until(&self, look: &Look) -> Minute {
        let Span { mut counts, seconds } = look.since(&self.minute);
        counts.all = counts.all.max(counts.failed);
        counts.values = counts.values.max(counts.above[0]);
        Minute {
            end: look.at,
            seconds: seconds as f32,
            counts,
            percentiles: self.record.percentiles,
            changed: 0,
            clumps: std::array::from_fn(|at| self.record.recent.clumps(at, self.minute.at)),
        }
    }
}
