//! The levels that the numbers of a series are compared with: the usual ones, with what the season
//! brings, and the bounds of values that follow from them.

use super::change::{Of, What};
use super::counts::sum;
use super::evidence::Settings;
use super::record::{Minute, Minutes, Record};
use crate::shown::layout::PERCENTILES;

/// The spans in seconds that are compared at the end of a minute.
pub(super) const MINUTES: [f64; 3] = [120.0, 300.0, 900.0];

/// The least clumps of values that count: fewer may be the noise of so few spans.
const LEAST_CLUMPS: f64 = 2.0;

/// The least distance of two bounds of which the later replaces the earlier.
const DRIFT: f64 = 1.15;

/// The number of minutes with operations that a level needs. A younger series has no level.
const NEEDED: usize = 15;

/// The number of minutes that a usual rate needs, and from which its level is taken: traffic
/// follows the time of the day.
const LATEST: usize = 30;

/// The number of newest minutes that teach nothing yet: they may turn out to be a change.
const UNKNOWN: usize = 2;

/// The part of the minutes whose levels are in the usual range.
const USUALLY: f64 = 0.975;

/// The shares of values above the percentiles that are compared.
pub(super) const ABOVE: [f64; PERCENTILES] = [0.5, 0.1, 0.01];

const DAY: u64 = 86_400_000;

/// The time by which an event of a day may come sooner or later than the day before.
const AROUND: u64 = 1_800_000;

/// The known levels of a series.
#[derive(Debug, Default)]
pub(super) struct Levels {
    pub(super) settings: Settings,
    pub(super) usual: Usual,
    pub(super) season: Season,
    /// The values above which values are counted; zero while they are not known.
    bounds: [u64; PERCENTILES],
}

impl Levels {
    /// Returns whether there is past enough to compare with.
    pub(super) fn is_ready(&self) -> bool {
        self.usual.failed.is_some() || self.usual.rate.is_some()
    }

    /// Returns the values above which values are counted; `None` while there is no usual
    /// percentile.
    pub(super) fn bounds(&self) -> Option<[u64; PERCENTILES]> {
        (self.bounds != [0; PERCENTILES]).then_some(self.bounds)
    }

    /// Returns the usual level, with a range that contains what the season brings.
    pub(super) fn of(&self, of: Of) -> Option<Level> {
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

    /// Returns the clumps of the values above a bound, over a span.
    pub(super) fn clumps(&self, at: usize, span: f64) -> f64 {
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

    /// Sets the bounds anew, if the usual percentiles have moved. What the record has counted above
    /// the old ones is forgotten.
    pub(super) fn set_bounds(&mut self, record: &mut Record) {
        let levels = [0, 1, 2].map(|at| self.of(Of::Above(at)));
        let [Some(median), Some(ninety), Some(highest)] = levels else { return };
        let levels = [median, ninety, highest];
        let bounds = levels.map(|level| (level.high * self.settings.factor).max(1.0));
        let has_moved = bounds.iter().zip(self.bounds).any(|(bound, old)| {
            let old = old as f64;
            *bound > old * DRIFT || *bound * DRIFT < old
        });
        if has_moved {
            for (at, bound) in bounds.iter().enumerate() {
                // Of the values that are above the lower bound alone, nothing is known.
                if *bound * DRIFT < self.bounds[at] as f64 {
                    self.usual.clumps[at] = None;
                    record.minutes.forget_clumps(at);
                }
            }
            self.bounds = bounds.map(|bound| bound as u64);
            record.minutes.forget_above();
            record.recent.forget_above();
        }
    }
}

/// The usual levels, as far as they are known.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usual {
    pub(super) failed: Option<Level>,
    pub(super) refused: Option<Level>,
    /// The levels of the percentiles.
    pub(super) percentiles: [Option<Level>; PERCENTILES],
    /// The clumps of the values above each bound.
    pub(super) clumps: [Option<f64>; PERCENTILES],
    pub(super) rate: Option<Level>,
}

/// A usual level, with the range in which it usually is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) middle: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// The variance of counts as a multiple of their expected variance; at least 1. Operations
    /// that come, or fail, together make it greater.
    pub(super) clumps: f64,
}

impl Usual {
    /// Computes the levels anew; those for which too few minutes are usual stay as they are.
    pub(super) fn learn(&mut self, minutes: &Minutes) {
        self.failed = share(usual(minutes, What::Failing), Of::Failed).or(self.failed);
        self.refused = share(usual(minutes, What::Refused), Of::Refused).or(self.refused);
        for (at, level) in self.percentiles.iter_mut().enumerate() {
            *level = percentile(usual(minutes, What::Slow), at).or(*level);
        }
        for (at, clumps) in self.clumps.iter_mut().enumerate() {
            *clumps = together(usual(minutes, What::Slow), at).or(*clumps);
        }
        let both = |minute: &&Minute| minute.is_usual(What::Busy);
        // A series that never had operations has no rate yet; one that had some may have none.
        let rate = rate(usual(minutes, What::Quiet).filter(both));
        self.rate = rate.filter(|rate| rate.middle > 0.0 || self.rate.is_some()).or(self.rate);
    }
}

/// Returns the minutes, the newest first, that do not belong to a change of this kind.
fn usual(minutes: &Minutes, what: What) -> impl Iterator<Item = &Minute> + Clone {
    minutes.newest().skip(UNKNOWN).filter(move |minute| minute.is_usual(what))
}

/// Returns the level of a share: of all minutes together. Its high end is that of nineteen in
/// twenty minutes, and at least what so few hits leave possible.
fn share<'m>(minutes: impl Iterator<Item = &'m Minute> + Clone, of: Of) -> Option<Level> {
    let counts = minutes.map(|minute| minute.hits(of)).filter(|(_, trials)| *trials > 0.0);
    if counts.clone().count() < NEEDED {
        return None;
    }
    let (hits, trials) = sum(counts.clone());
    let level = hits / trials;
    // The end of the interval in which the share of a Poisson count lies nineteen times in twenty.
    let possible = ((hits + 2.0 + 2.0 * (hits + 1.0).sqrt()) / trials).min(1.0);
    let mut shares: Vec<f64> = counts.clone().map(|(hits, trials)| hits / trials).collect();
    let high = quantile(&mut shares, USUALLY).max(possible);
    let squares = counts.map(|(hits, trials)| {
        let variance = trials * level * (1.0 - level);
        if variance > 0.0 { (hits - trials * level).powi(2) / variance } else { 1.0 }
    });
    let clumps = trimmed_mean(squares.collect()).max(1.0);
    Some(Level { middle: level, low: 0.0, high, clumps })
}

/// Returns the level of a percentile: the median of the minutes. Its high end is that of nineteen
/// in twenty minutes.
fn percentile<'m>(minutes: impl Iterator<Item = &'m Minute>, at: usize) -> Option<Level> {
    let with_values = minutes.filter(|minute| minute.counts.values > 0);
    let mut values: Vec<f64> =
        with_values.map(|minute| f64::from(minute.percentiles[at])).collect();
    if values.len() < NEEDED {
        return None;
    }
    let [high, level] = [USUALLY, 0.5].map(|part| quantile(&mut values, part));
    Some(Level { middle: level, low: 0.0, high, clumps: 1.0 })
}

/// Returns the clumps of the values above a bound: the mean of the minutes that have such values.
fn together<'m>(minutes: impl Iterator<Item = &'m Minute>, at: usize) -> Option<f64> {
    let known: Vec<f64> = minutes.filter_map(|minute| minute.clumps[at].ratio()).collect();
    (known.len() >= NEEDED).then(|| trimmed_mean(known))
}

/// Returns the level of the rate: the median of the last half an hour. Its range is that of the
/// last half an hour downwards, and of two hours upwards.
fn rate<'m>(minutes: impl Iterator<Item = &'m Minute> + Clone) -> Option<Level> {
    let mut rates: Vec<f64> = minutes.clone().take(LATEST).map(Minute::rate).collect();
    if rates.len() < LATEST {
        return None;
    }
    let low = rates.iter().copied().fold(f64::INFINITY, f64::min);
    let high = minutes.clone().map(Minute::rate).fold(0.0, f64::max);
    let level = quantile(&mut rates, 0.5);
    if level <= 0.0 {
        // Any traffic is usual then.
        return Some(Level { middle: 0.0, low: 0.0, high: f64::INFINITY, clumps: 1.0 });
    }
    // From one minute to the next, so that the course of the day is no variance.
    let next = minutes.clone().skip(1);
    let squares = minutes.zip(next).filter_map(|(one, other)| {
        let (one, other) = (f64::from(one.counts.all), f64::from(other.counts.all));
        (one + other > 0.0).then(|| (one - other).powi(2) / (one + other))
    });
    let clumps = trimmed_mean(squares.collect()).max(1.0);
    Some(Level { middle: level, low, high, clumps })
}

/// Returns a quantile of the numbers, in whatever order they are.
pub(super) fn quantile(numbers: &mut [f64], part: f64) -> f64 {
    let Some(last) = numbers.len().checked_sub(1) else { return 0.0 };
    let at = (last as f64 * part).round() as usize;
    *numbers.select_nth_unstable_by(at, f64::total_cmp).1
}

/// Returns the mean of the numbers without the greatest of each twenty.
fn trimmed_mean(mut numbers: Vec<f64>) -> f64 {
    let kept = numbers.len() - numbers.len() / 20;
    if kept == 0 {
        return 0.0;
    }
    numbers.select_nth_unstable_by(kept - 1, f64::total_cmp);
    numbers[..kept].iter().sum::<f64>() / kept as f64
}

/// The levels of the same time, a day and a week ago.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Season {
    pub(super) failed: Option<f64>,
    pub(super) refused: Option<f64>,
    pub(super) percentiles: [Option<f64>; PERCENTILES],
    /// The least and the greatest rate, in operations a second.
    pub(super) rates: Option<(f64, f64)>,
    /// The rate of the bucket of exactly this time, yesterday.
    pub(super) yesterday: Option<f64>,
}

impl Season {
    /// Returns whether a bucket is of this time, a day or a week ago.
    pub(super) fn contains(start: u64, end: u64, now: u64) -> bool {
        [DAY, 7 * DAY]
            .into_iter()
            .filter_map(|ago| now.checked_sub(ago))
            .any(|then| end + AROUND > then && start < then + AROUND)
    }

    /// Returns the levels around `now`, a day and a week before, from coarse buckets.
    pub(crate) fn of<'b>(buckets: impl Iterator<Item = &'b Minute>, now: u64) -> Season {
        let mut season = Season::default();
        let higher = |level: &mut Option<f64>, other: f64| {
            *level = Some(level.map_or(other, |level| level.max(other)));
        };
        for bucket in buckets.filter(|of| Season::contains(of.start(), of.end, now)) {
            let (rate, share) = (bucket.rate(), |(hits, trials)| hits / f64::max(trials, 1.0));
            let (low, high) = season.rates.unwrap_or((rate, rate));
            season.rates = Some((low.min(rate), high.max(rate)));
            if now.checked_sub(DAY).is_some_and(|then| (bucket.start()..bucket.end).contains(&then))
            {
                season.yesterday = Some(rate);
            }
            higher(&mut season.failed, share(bucket.hits(Of::Failed)));
            higher(&mut season.refused, share(bucket.hits(Of::Refused)));
            if bucket.counts.values > 0 {
                for (level, percentile) in season.percentiles.iter_mut().zip(bucket.percentiles) {
                    higher(level, f64::from(percentile));
                }
            }
        }
        season
    }
}
