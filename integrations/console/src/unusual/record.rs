//! The counts of a series: of its last minute by the second, and of its last two hours by the
//! minute.

use std::collections::VecDeque;

use super::change::{Of, What};
use super::clumps::Clumps;
use super::counts::{Counts, Hits, Sum, sum};
use super::evidence::slices_changed;
use super::recent::Recent;
use crate::shown::layout::PERCENTILES;

/// The number of minutes that are kept.
pub(super) const KEPT: usize = 120;

/// The numbers of a minute, or of another short span.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Minute {
    /// Its end, in milliseconds of the window's clock.
    pub(crate) end: u64,
    pub(crate) seconds: f32,
    pub(crate) counts: Counts,
    /// The median, the 90th and the 99th percentile of the values; zero if there are none.
    pub(crate) percentiles: [f32; PERCENTILES],
    /// The kinds of the changes that it belongs to, a bit each.
    pub(crate) changed: u8,
    /// The clumps of the values above each bound.
    pub(crate) clumps: [Clumps; PERCENTILES],
}

impl Minute {
    pub(super) fn start(&self) -> u64 {
        self.end.saturating_sub((f64::from(self.seconds) * 1e3) as u64)
    }

    pub(super) fn is_usual(&self, what: What) -> bool {
        self.changed & bit(what) == 0
    }

    pub(super) fn rate(&self) -> f64 {
        if self.seconds > 0.0 { f64::from(self.counts.all) / f64::from(self.seconds) } else { 0.0 }
    }

    pub(super) fn hits(&self, of: Of) -> Hits {
        self.counts.hits(of, f64::from(self.seconds))
    }
}

fn bit(what: What) -> u8 {
    1 << what as u8
}

/// The minutes, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Minutes {
    ring: VecDeque<Minute>,
}

impl Minutes {
    pub(super) fn push(&mut self, minute: Minute) {
        if self.ring.len() == KEPT {
            self.ring.pop_front();
        }
        self.ring.push_back(minute);
    }

    /// Returns the minutes, the newest first.
    pub(super) fn newest(&self) -> impl Iterator<Item = &Minute> + Clone {
        self.ring.iter().rev()
    }

    /// Counts the minutes that end after `since` to a change.
    pub(super) fn mark(&mut self, what: What, since: u64) {
        let changed = self.ring.iter_mut().rev().take_while(|minute| minute.end > since);
        changed.for_each(|minute| minute.changed |= bit(what));
    }

    /// Counts no minute to a change of this kind any more.
    pub(super) fn unmark(&mut self, what: What) {
        self.ring.iter_mut().for_each(|minute| minute.changed &= !bit(what));
    }

    /// Forgets the counts above the bounds, because these have changed.
    pub(super) fn forget_above(&mut self) {
        self.ring.iter_mut().for_each(|minute| minute.counts.above = [0; PERCENTILES]);
    }

    /// Forgets the clumps of the values above a bound, because it has become lower.
    pub(super) fn forget_clumps(&mut self, at: usize) {
        self.ring.iter_mut().for_each(|minute| minute.clumps[at] = Clumps::default());
    }

    /// Returns the sum over the newest minutes that cover `seconds`, as far as they reach; and the
    /// seconds that they cover.
    pub(super) fn sum(&self, of: Of, seconds: f64) -> Sum {
        let covered = self.newest_of(seconds).map(|minute| f64::from(minute.seconds)).sum();
        (sum(self.newest_of(seconds).map(|minute| minute.hits(of))), covered)
    }

    /// Returns the sum over these minutes without the one that has most hits.
    pub(super) fn rest(&self, of: Of, seconds: f64) -> Hits {
        let ((hits, trials), _) = self.sum(of, seconds);
        let counts = self.newest_of(seconds).map(|minute| minute.hits(of));
        let most = counts.max_by(|one, other| one.0.total_cmp(&other.0)).unwrap_or_default();
        (hits - most.0, trials - most.1)
    }

    /// Returns the newest minutes that cover `seconds`.
    fn newest_of(&self, seconds: f64) -> impl Iterator<Item = &Minute> {
        let mut covered = 0.0;
        self.newest().take_while(move |minute| {
            let is_of = covered < seconds;
            covered += f64::from(minute.seconds);
            is_of
        })
    }
}

/// The counts, of which the newest are in both.
#[derive(Debug, Default)]
pub(super) struct Record {
    pub(super) minutes: Minutes,
    pub(super) recent: Recent,
    /// The percentiles of the last interval, or minute.
    pub(super) percentiles: [f32; PERCENTILES],
}

impl Record {
    /// Returns the sum over the newest seconds: from the looks, or otherwise from the minutes.
    pub(super) fn newest(&self, of: Of, seconds: f64) -> Hits {
        let span = (seconds <= 60.0).then(|| self.recent.span(seconds as usize)).flatten();
        span.map_or_else(|| self.minutes.sum(of, seconds), |span| span.sum(of)).0
    }

    /// Returns the time at which these numbers have come from one level to another: by the second,
    /// or otherwise by the minute. `span` is the span that has shown it, in seconds.
    pub(super) fn beginning(&self, of: Of, [from, to]: [f64; 2], span: f64, now: u64) -> u64 {
        let from = from.max(to / 1e4).max(1e-9);
        let by_second = || self.recent.slices(of);
        let oldest = by_second().last().map_or(now, |(_, at)| at);
        let by_minute = || {
            let older = self.minutes.newest().skip_while(|minute| minute.end > oldest);
            older.map(|minute| (minute.hits(of), minute.start()))
        };
        let all = || by_second().chain(by_minute());
        let changed = slices_changed(all().map(|(counts, _)| counts), from, to.max(1e-9));
        let begun = changed.checked_sub(1).and_then(|last| all().nth(last));
        begun.map_or(now.saturating_sub((span * 1e3) as u64), |(_, at)| at)
    }
}
