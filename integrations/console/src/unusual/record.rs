//! The counts of a series: of its last minute by the second, and of its last two hours by the
//! minute.

use super::evidence::slices_changed;
use super::minutes::{Minutes, Sum};
use super::recent::Recent;
use super::what::Of;
use crate::shown::layout::PERCENTILES;

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
    pub(super) fn newest(&self, of: Of, seconds: f64) -> Sum {
        let span = (seconds <= 60.0).then(|| self.recent.span(seconds as usize)).flatten();
        span.map_or_else(|| self.minutes.sum(of, seconds), |span| span.sum(of))
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
