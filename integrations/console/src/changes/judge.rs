//! The beginning and the end of changes.

use super::evidence::{of_count, of_share, slices_changed};
use super::minutes::Of;
use super::usual::{ABOVE, Level};
use super::{Change, Course, MINUTES, PERCENTILES, Season, Settings, Watch, What};

/// The least number of hits of a change.
pub(super) const HITS: f64 = 4.0;

/// The least span in seconds that shows a change of a rate: operations come in clumps.
const LEAST: f64 = 10.0;

/// The least clumps of values that count: fewer may be the noise of so few spans.
const LEAST_CLUMPS: f64 = 2.0;

/// The time in milliseconds for which nothing must be left of a change before it has ended; and in
/// which a change that begins again is still the one before.
const CALM: u64 = 60_000;
const AGAIN: u64 = 300_000;

/// The ages, in milliseconds, at which a change is usual: that of any, and that of more traffic,
/// which a morning brings.
const OLD: u64 = 86_400_000;
const HOUR: u64 = 3_600_000;

/// The least distance of two bounds of which the later replaces the earlier.
const DRIFT: f64 = 1.15;

/// A sum over a span: hits and trials, and the seconds that it covers.
pub(super) type Sum = ((f64, f64), f64);

/// A change that a span shows.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) of: Of,
    /// The levels of the compared numbers: shares, or rates.
    from: f64,
    to: f64,
    /// In seconds.
    span: f64,
}

impl Watch {
    /// Returns the change of this kind that a span shows, if it shows one that is not known yet.
    /// `rest` has the hits and trials of a share without the seconds or the minute with most hits.
    pub(super) fn judge(
        &self,
        settings: &Settings,
        what: What,
        sum: impl Fn(Of) -> Option<Sum>,
        rest: impl Fn(Of) -> (f64, f64),
    ) -> Option<Found> {
        if self.is_on(what) {
            return None;
        }
        let of_share = |of, from, usual: f64, far: f64, clumps: f64| {
            let ((hits, trials), span) = sum(of)?;
            if hits < HITS {
                return None;
            }
            let is_shown = |(hits, trials): (f64, f64), part: f64| {
                hits > far * trials
                    && of_share(hits, trials, usual) > settings.evidence(span) * clumps * part
            };
            let is_it = is_shown((hits, trials), 1.0) && is_shown(rest(of), 0.5);
            is_it.then(|| Found { of, from, to: hits / trials, span })
        };
        let share = |of| {
            let level = self.level_of(of)?;
            let far = settings.factor * level.high;
            // A share that is usually this high cannot grow by the factor.
            if far >= 1.0 {
                return None;
            }
            of_share(of, level.middle, level.high, far, level.clumps)
        };
        match what {
            What::Failing => share(Of::Failed),
            What::Refused => share(Of::Refused),
            What::Slow => {
                self.bounds()?;
                let above = |at: usize| {
                    let (of, part) = (Of::Above(at), ABOVE[at]);
                    of_share(of, part / 2.0, part, part, self.clumps(at, sum(of)?.1))
                };
                (0..ABOVE.len()).rev().find_map(above)
            }
            What::Quiet | What::Busy => self.judge_rate(settings, what, sum(Of::Rate)?),
        }
    }

    /// Returns the clumps of the values above a bound, over a span.
    fn clumps(&self, at: usize, span: f64) -> f64 {
        let is_common = || {
            let next = self.usual.percentiles.get(at + 1).copied().flatten();
            next.is_some_and(|next| next.middle > self.bounds[at] as f64)
        };
        match self.usual.clumps[at] {
            Some(clumps) if clumps < LEAST_CLUMPS => 1.0,
            Some(clumps) => clumps,
            // Values that are often there may come together: seconds show nothing.
            None if span < MINUTES[0] && is_common() => f64::INFINITY,
            None => 1.0,
        }
    }

    fn judge_rate(&self, settings: &Settings, what: What, sum: Sum) -> Option<Found> {
        let level = self.level_of(Of::Rate)?;
        let ((count, seconds), span) = sum;
        if seconds < LEAST {
            return None;
        }
        let (is_far, expected) = if what == What::Quiet {
            // Against the end of the range, if that is nearer than the level.
            let expected = level.middle.min(level.low * settings.factor);
            (count * settings.factor < level.low * seconds, expected)
        } else {
            let is_far = count >= HITS && count > settings.factor * level.high * seconds;
            (is_far, level.high)
        };
        let needed = settings.evidence(span) * level.clumps;
        let is_it = is_far && of_count(count, expected * seconds) > needed;
        is_it.then(|| Found { of: Of::Rate, from: level.middle, to: count / seconds, span })
    }

    /// Returns the usual level, with a range that contains what the season brings.
    fn level_of(&self, of: Of) -> Option<Level> {
        let Season { failed, refused, percentiles, rates, .. } = self.season;
        let (level, high) = match of {
            Of::Failed => (self.usual.failed, failed),
            Of::Refused => (self.usual.refused, refused),
            Of::Above(at) => (self.usual.percentiles[at], percentiles[at]),
            Of::Rate => (self.usual.rate, rates.map(|(_, high)| high)),
        };
        let mut level = level?;
        level.high = level.high.max(high.unwrap_or(0.0));
        level.low = level.low.min(rates.map_or(f64::INFINITY, |(low, _)| low));
        Some(level)
    }

    pub(super) fn begin(&mut self, what: What, found: Found, now: u64) {
        let again = self.ended[what as usize].filter(|(_, end)| now < end + AGAIN);
        let since = again.map_or_else(|| self.beginning(found, now), |(since, _)| since);
        if again.is_some() {
            self.ended[what as usize] = None;
        }
        self.minutes.mark(what, since);
        let from = match what {
            What::Slow => self.usual.percentiles[found.of.percentile()].map_or(0.0, |of| of.middle),
            _ => found.from,
        };
        // Yesterday, if that shows it as well.
        let yesterday = self.season.yesterday.filter(|rate| match what {
            What::Quiet => *rate > found.to * 2.0,
            What::Busy => *rate * 2.0 < found.to,
            _ => false,
        });
        let from = yesterday.unwrap_or(from);
        let change = Change {
            what,
            since,
            from,
            to: found.to,
            course: Course::New,
            yesterday: yesterday.is_some(),
            span: found.span,
            of: found.of,
            calm: None,
        };
        self.changes.push(change);
        self.changes.sort_by_key(|change| change.what);
    }

    /// Returns the time at which the found change has begun: by the second, or otherwise by the
    /// minute.
    fn beginning(&self, Found { of, from, to, span, .. }: Found, now: u64) -> u64 {
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

    /// Brings the changes up to date, and ends those of which nothing is left.
    pub(super) fn follow(&mut self, settings: &Settings, now: u64) {
        if self.changes.is_empty() {
            return;
        }
        let mut changes = std::mem::take(&mut self.changes);
        changes.retain_mut(|change| {
            self.set_level(change, now.saturating_sub(change.since));
            let is_calm = self.is_calm(settings, change);
            change.calm = is_calm.then(|| change.calm.unwrap_or(now));
            let ends = change.calm.is_some_and(|calm| now >= calm + CALM);
            if ends {
                self.ended[change.what as usize] = change.calm.map(|calm| (change.since, calm));
            }
            !ends
        });
        self.changes = changes;
    }

    /// Ends the changes that are so old that they are usual. Their minutes are to be learned before
    /// the next look, or it would find them anew.
    pub(super) fn end_old(&mut self, now: u64) {
        let mut changes = std::mem::take(&mut self.changes);
        changes.retain(|change| {
            let usual = if change.what == What::Busy { HOUR } else { OLD };
            let is_old = now.saturating_sub(change.since) > usual;
            if is_old {
                self.minutes.unmark(change.what);
            }
            !is_old
        });
        self.changes = changes;
    }

    /// Returns the sum over the newest seconds: from the looks, or otherwise from the minutes.
    fn newest(&self, of: Of, seconds: f64) -> Sum {
        let span = (seconds <= 60.0).then(|| self.recent.span(seconds as usize)).flatten();
        let looks = span.map(|span| span.sum(of));
        looks.unwrap_or_else(|| self.minutes.sum(of, seconds))
    }

    fn set_level(&self, change: &mut Change, age: u64) {
        if change.what == What::Slow {
            change.to = f64::from(self.percentiles[change.of.percentile()]);
            return;
        }
        // Only what belongs to it.
        let seconds = (age as f64 / 1e3).clamp(6.0, change.span.max(60.0));
        let ((hits, trials), _) = self.newest(change.of, seconds);
        if trials > 0.0 {
            change.to = hits / trials;
        }
    }

    /// Returns whether the last span shows nothing of a change. Without operations, it shows none.
    fn is_calm(&self, settings: &Settings, change: &Change) -> bool {
        let Some(level) = self.level_of(change.of) else { return false };
        let ((hits, trials), _) = self.newest(change.of, change.span.max(60.0));
        if trials <= 0.0 {
            return true;
        }
        let (now, half) = (hits / trials, settings.factor.sqrt());
        match change.what {
            What::Failing | What::Refused | What::Busy => now < level.high * half,
            What::Slow => (0..ABOVE.len()).all(|at| {
                let ((hits, trials), _) = self.newest(Of::Above(at), change.span.max(60.0));
                hits <= ABOVE[at] * trials
            }),
            What::Quiet => now * half > level.low,
        }
    }

    /// Sets the bounds anew, if the usual percentiles have moved.
    pub(super) fn set_bounds(&mut self, settings: &Settings) {
        let levels: [Option<Level>; PERCENTILES] =
            std::array::from_fn(|at| self.level_of(Of::Above(at)));
        let [Some(_), Some(_), Some(_)] = levels else { return };
        let bounds =
            levels.map(|level| level.map_or(1.0, |level| (level.high * settings.factor).max(1.0)));
        let has_moved = bounds.iter().zip(self.bounds).any(|(bound, old)| {
            let old = old as f64;
            *bound > old * DRIFT || *bound * DRIFT < old
        });
        let is_slow = self.is_on(What::Slow);
        if has_moved && !is_slow {
            for (at, bound) in bounds.iter().enumerate() {
                // Of the values that are above the lower bound alone, nothing is known.
                if *bound * DRIFT < self.bounds[at] as f64 {
                    self.usual.clumps[at] = None;
                    self.minutes.forget_clumps(at);
                }
            }
            self.bounds = bounds.map(|bound| bound as u64);
            self.minutes.forget_above();
            self.recent.forget_above();
        }
    }
}
