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

use super::change::Change;
use super::changes::Changes;
use super::judge::judge;
use super::levels::{Levels, MINUTES};
use super::minutes::Minute;
use super::recent::{Look, seconds};
use super::record::Record;
use super::season::Season;
use super::seen::Seen;
use super::settings::Settings;
use super::what::{Of, What};
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
    changes: Changes,
    known_since: Option<u64>,
    /// The counts at the end of the last minute.
    minute: Look,
}

impl Watch {
    /// Returns the watch over the series of this number. Minutes of different series end at
    /// different seconds, so that not all learn in the same second.
    pub(crate) fn new(number: u64) -> Watch {
        Watch { phase: number % 60 * 7_000 % 60_000, ..Watch::default() }
    }

    /// Returns the changes that go on.
    pub(crate) fn changes(&self) -> &[Change] {
        self.changes.on()
    }

    /// Returns the end of the last change that has ended, in milliseconds of the window's clock.
    pub(crate) fn ended(&self) -> Option<u64> {
        self.changes.ended()
    }

    /// Returns whether there is past enough to compare with.
    pub(crate) fn is_ready(&self) -> bool {
        self.levels.is_ready()
    }

    /// Returns the values above which [`Seen`] and [`Minute`] count values; `None` while there
    /// is no usual percentile.
    pub(crate) fn bounds(&self) -> Option<[u64; PERCENTILES]> {
        self.levels.bounds()
    }

    /// Returns the time from which the past is known, in milliseconds of the window's clock.
    pub(crate) fn known_since(&self) -> Option<u64> {
        self.known_since
    }

    /// Takes the levels of this time of yesterday and of a week ago. They change slowly: a new one
    /// each quarter of an hour is enough.
    pub(crate) fn set_season(&mut self, season: Season) {
        self.levels.season = season;
    }

    /// Takes a minute of the past. Minutes come in their order.
    pub(crate) fn minute(&mut self, settings: &Settings, minute: Minute) {
        self.known_since = self.known_since.or(Some(minute.start()));
        self.record.minutes.push(minute);
        if minute.values > 0 {
            self.record.percentiles = minute.percentiles;
        }
        for change in self.changes.on() {
            self.record.minutes.mark(change.what, change.since);
        }
        for what in What::ALL {
            if self.changes.is_on(what) {
                continue;
            }
            let minutes = &self.record.minutes;
            let found = MINUTES.iter().find_map(|seconds| {
                // What belongs to a change that has ended is no new one.
                let ended = self.changes.ended_of(what);
                let is_after = minute.end >= ended + (seconds * 1e3) as u64;
                let sum = |of| {
                    let sum = minutes.sum(of, *seconds);
                    (is_after && sum.1 >= *seconds).then_some(sum)
                };
                judge(&self.levels, settings, what, sum, |of| minutes.rest(of, *seconds))
            });
            if let Some(found) = found {
                self.changes.begin(what, found, &self.levels, &mut self.record, minute.end);
            }
        }
        self.changes.follow(settings, &self.levels, &self.record, minute.end);
        self.changes.end_old(&mut self.record.minutes, minute.end);
        self.changes.set_courses(&self.record.minutes);
        self.levels.usual.learn(&self.record.minutes);
        if !self.changes.is_on(What::Slow) {
            self.levels.set_bounds(settings, &mut self.record);
        }
    }

    /// Takes the numbers of this moment. There may be one a second; those that come sooner are left
    /// out.
    pub(crate) fn look(&mut self, settings: &Settings, seen: &Seen) {
        let mut look = Look {
            at: seen.at,
            all: seen.all as u32,
            failed: seen.failed as u32,
            refused: seen.refused as u32,
            values: seen.values as u32,
            above: [0; PERCENTILES],
        };
        let Some(last) = self.record.recent.last().copied() else {
            self.minute = look;
            self.record.recent.push(look, seen.above);
            return;
        };
        if look.at < last.at + 900 {
            if look.at < last.at {
                self.record.recent.clear(); // the clock was set back
            }
            return;
        }
        if look.at > last.at + LONGEST {
            self.record.recent.clear();
            self.minute = look;
            self.record.recent.push(look, seen.above);
            return;
        }
        if seen.interval > 0 {
            self.record.percentiles = seen.percentiles;
        }
        self.record.recent.count_above(&mut look, seen.above);
        self.record.recent.push(look, seen.above);
        if self.minute_of(look.at) != self.minute_of(self.minute.at) {
            let minute = self.minute_until(&look);
            self.minute = look;
            self.minute(settings, minute);
        }
        let recent = &self.record.recent;
        let spans = SECONDS.map(|seconds| (seconds, recent.span(seconds)));
        // Most series have no hits, and rates need long spans anyway.
        let longest = spans[SECONDS.len() - 1].1;
        let is_turn = recent.count().is_multiple_of(3);
        let is_worth = |what| match what {
            What::Quiet | What::Busy => is_turn,
            What::Failing => longest.is_none_or(|span| span.has_hits(Of::Failed)),
            What::Refused => longest.is_none_or(|span| span.has_hits(Of::Refused)),
            What::Slow => longest.is_none_or(|span| span.has_hits(Of::Above(0))),
        };
        let found = What::ALL.map(|what| {
            if self.changes.is_on(what) || !is_worth(what) {
                return None;
            }
            spans.iter().find_map(|(seconds, span)| {
                let sum = |of| span.map(|span| span.sum(of));
                judge(&self.levels, settings, what, sum, |of| recent.rest(of, *seconds))
            })
        });
        for (what, found) in What::ALL.into_iter().zip(found) {
            if let Some(found) = found {
                self.changes.begin(what, found, &self.levels, &mut self.record, look.at);
            }
        }
        self.changes.follow(settings, &self.levels, &self.record, look.at);
    }

    /// Returns the number of the minute that contains a time.
    fn minute_of(&self, at: u64) -> u64 {
        (at + self.phase) / 60_000
    }

    /// Returns the minute between the last one and a look.
    fn minute_until(&self, look: &Look) -> Minute {
        let since = |of| look.since(&self.minute, of);
        let [(failed, all), (refused, _), (_, values)] =
            [Of::Failed, Of::Refused, Of::Above(0)].map(since);
        Minute {
            end: look.at,
            seconds: seconds(self.minute.at, look.at) as f32,
            all: all as u32,
            failed: failed as u32,
            refused: refused as u32,
            values: values as u32,
            above: std::array::from_fn(|at| since(Of::Above(at)).0 as u32),
            percentiles: self.record.percentiles,
            changed: 0,
            clumps: std::array::from_fn(|at| self.record.recent.clumps(at, self.minute.at)),
        }
    }
}
