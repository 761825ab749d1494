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

mod change;
mod clumps;
mod course;
mod evidence;
mod judge;
mod minutes;
#[cfg(test)]
mod real;
mod recent;
#[cfg(test)]
mod replay;
mod season;
#[cfg(test)]
mod tests;
mod usual;

pub(crate) use change::{Change, Course, What};
pub(crate) use minutes::Minute;
pub(crate) use season::Season;

use minutes::{Minutes, Of};
use recent::{Look, Recent};
use usual::Usual;

/// The number of percentiles that are compared: the median, the 90th and the 99th.
pub(crate) const PERCENTILES: usize = 3;

/// The spans of recent seconds that are compared with the past.
const SECONDS: [usize; 4] = [6, 15, 30, 60];

/// The spans in seconds that are compared at the end of a minute.
const MINUTES: [f64; 3] = [120.0, 300.0, 900.0];

/// The longest time between two looks, in milliseconds, that can stand for a minute.
const LONGEST: u64 = 300_000;

/// The number of spans that overlap and yet count as independent, for each that follows another.
const OVERLAP: f64 = 4.0;

/// The two numbers that a user can set.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settings {
    /// The least factor of a change, beyond the usual range.
    pub(crate) factor: f64,
    /// The number of false changes of a series a day that are acceptable.
    pub(crate) false_a_day: f64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { factor: 2.0, false_a_day: 0.2 }
    }
}

impl Settings {
    /// Returns the evidence that a change over a span needs: chance brings it in one of the spans
    /// of the days in which one false change is acceptable.
    fn evidence(&self, seconds: f64) -> f64 {
        let spans = OVERLAP * 86_400.0 / seconds.max(1.0) * What::ALL.len() as f64;
        (spans / self.false_a_day.max(1e-9)).ln().max(1.0)
    }
}

/// The numbers of a series at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seen {
    /// The time in milliseconds of the window's clock.
    pub(crate) at: u64,
    /// All-time counts: of operations, and of those that failed or were refused.
    pub(crate) all: u64,
    pub(crate) failed: u64,
    pub(crate) refused: u64,
    /// The all-time count of values.
    pub(crate) values: u64,
    /// The all-time counts of values above each bound, modulo 2^32.
    pub(crate) above: [u32; PERCENTILES],
    /// The values of the interval: their count, and their percentiles.
    pub(crate) interval: u32,
    pub(crate) percentiles: [f32; PERCENTILES],
}

/// The watch over one series.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// The milliseconds by which its minutes end sooner than those of the clock.
    phase: u64,
    minutes: Minutes,
    recent: Recent,
    usual: Usual,
    season: Season,
    /// The values above which values are counted; zero while they are not known.
    bounds: [u64; PERCENTILES],
    known_since: Option<u64>,
    /// The counts at the end of the last minute.
    minute: Look,
    /// The percentiles of the last interval, or minute.
    percentiles: [f32; PERCENTILES],
    changes: Vec<Change>,
    /// The changes that have ended last, of each kind: their beginning and their end.
    ended: [Option<(u64, u64)>; What::ALL.len()],
}

impl Watch {
    /// Returns the watch over the series of this number. Minutes of different series end at
    /// different seconds, so that not all learn in the same second.
    pub(crate) fn new(number: u64) -> Watch {
        Watch { phase: number % 60 * 7_000 % 60_000, ..Watch::default() }
    }

    /// Returns the changes that go on.
    pub(crate) fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Returns the end of the last change that has ended, in milliseconds of the window's clock.
    pub(crate) fn ended(&self) -> Option<u64> {
        self.ended.iter().flatten().map(|(_, end)| *end).max()
    }

    /// Returns whether there is past enough to compare with.
    pub(crate) fn is_ready(&self) -> bool {
        self.usual.failed.is_some() || self.usual.rate.is_some()
    }

    /// Returns the values above which [`Seen`] and [`Minute`] count values; `None` while there
    /// is no usual percentile.
    pub(crate) fn bounds(&self) -> Option<[u64; PERCENTILES]> {
        (self.bounds != [0; PERCENTILES]).then_some(self.bounds)
    }

    /// Returns the time from which the past is known, in milliseconds of the window's clock.
    pub(crate) fn known_since(&self) -> Option<u64> {
        self.known_since
    }

    /// Takes the levels of this time of yesterday and of a week ago. They change slowly: a new one
    /// each quarter of an hour is enough.
    pub(crate) fn set_season(&mut self, season: Season) {
        self.season = season;
    }

    /// Takes a minute of the past. Minutes come in their order.
    pub(crate) fn minute(&mut self, settings: &Settings, minute: Minute) {
        self.known_since = self.known_since.or(Some(minute.start()));
        self.minutes.push(minute);
        if minute.values > 0 {
            self.percentiles = minute.percentiles;
        }
        for change in &self.changes {
            self.minutes.mark(change.what, change.since);
        }
        for what in What::ALL {
            let found = MINUTES.iter().find_map(|seconds| {
                // What belongs to a change that has ended is no new one.
                let ended = self.ended[what as usize].map_or(0, |(_, end)| end);
                let is_after = minute.end >= ended + (seconds * 1e3) as u64;
                let sum = |of| {
                    let sum = self.minutes.sum(of, *seconds);
                    (is_after && sum.1 >= *seconds).then_some(sum)
                };
                self.judge(settings, what, sum, |of| self.minutes.rest(of, *seconds))
            });
            if let Some(found) = found {
                self.begin(what, found, minute.end);
            }
        }
        self.follow(settings, minute.end);
        self.end_old(minute.end);
        self.set_courses();
        self.usual.learn(&self.minutes);
        self.set_bounds(settings);
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
        let Some(last) = self.recent.last().copied() else {
            self.minute = look;
            self.recent.push(look, seen.above);
            return;
        };
        if look.at < last.at + 900 {
            if look.at < last.at {
                self.recent.clear(); // the clock was set back
            }
            return;
        }
        if look.at > last.at + LONGEST {
            self.recent.clear();
            self.minute = look;
            self.recent.push(look, seen.above);
            return;
        }
        if seen.interval > 0 {
            self.percentiles = seen.percentiles;
        }
        self.recent.count_above(&mut look, seen.above);
        self.recent.push(look, seen.above);
        if self.minute_of(look.at) != self.minute_of(self.minute.at) {
            let minute = self.minute_until(&look);
            self.minute = look;
            self.minute(settings, minute);
        }
        let spans = SECONDS.map(|seconds| (seconds, self.recent.span(seconds)));
        // Most series have no hits, and rates need long spans anyway.
        let longest = spans[SECONDS.len() - 1].1;
        let is_turn = self.recent.count().is_multiple_of(3);
        let is_worth = |what| match what {
            What::Quiet | What::Busy => is_turn,
            What::Failing => longest.is_none_or(|span| span.has_hits(Of::Failed)),
            What::Refused => longest.is_none_or(|span| span.has_hits(Of::Refused)),
            What::Slow => longest.is_none_or(|span| span.has_hits(Of::Above(0))),
        };
        let found = What::ALL.map(|what| {
            spans.iter().filter(|_| is_worth(what)).find_map(|(seconds, span)| {
                let sum = |of| span.map(|span| span.sum(of));
                self.judge(settings, what, sum, |of| self.recent.rest(of, *seconds))
            })
        });
        for (what, found) in What::ALL.into_iter().zip(found) {
            if let Some(found) = found {
                self.begin(what, found, look.at);
            }
        }
        self.follow(settings, look.at);
    }

    /// Returns the number of the minute that contains a time.
    fn minute_of(&self, at: u64) -> u64 {
        (at + self.phase) / 60_000
    }

    fn is_on(&self, what: What) -> bool {
        self.changes.iter().any(|change| change.what == what)
    }

    /// Returns the minute between the last one and a look.
    fn minute_until(&self, look: &Look) -> Minute {
        let since = |of| look.since(&self.minute, of);
        let [(failed, all), (refused, _), (_, values)] =
            [Of::Failed, Of::Refused, Of::Above(0)].map(since);
        Minute {
            end: look.at,
            seconds: recent::seconds(self.minute.at, look.at) as f32,
            all: all as u32,
            failed: failed as u32,
            refused: refused as u32,
            values: values as u32,
            above: std::array::from_fn(|at| since(Of::Above(at)).0 as u32),
            percentiles: self.percentiles,
            changed: 0,
            clumps: std::array::from_fn(|at| self.recent.clumps(at, self.minute.at)),
        }
    }
}
