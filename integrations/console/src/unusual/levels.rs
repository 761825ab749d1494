//! The levels that the numbers of a series are compared with: the usual ones, with what the season
//! brings, and the bounds of values that follow from them.

use super::record::Record;
use super::season::Season;
use super::settings::Settings;
use super::usual::{Level, Usual};
use super::what::Of;
use crate::shown::layout::PERCENTILES;

/// The spans in seconds that are compared at the end of a minute.
pub(super) const MINUTES: [f64; 3] = [120.0, 300.0, 900.0];

/// The least clumps of values that count: fewer may be the noise of so few spans.
const LEAST_CLUMPS: f64 = 2.0;

/// The least distance of two bounds of which the later replaces the earlier.
const DRIFT: f64 = 1.15;

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
