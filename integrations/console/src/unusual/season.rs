//! This time of yesterday and of a week ago: what a day or a week brings is nothing unusual.

use super::minutes::Minute;
use super::what::Of;
use crate::shown::layout::PERCENTILES;

const DAY: u64 = 86_400_000;

/// The time by which an event of a day may come sooner or later than the day before.
const AROUND: u64 = 1_800_000;

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
    /// Returns whether a bucket that ends at that time may be of this time, a day or a week ago.
    pub(crate) fn contains(end: u64, now: u64) -> bool {
        [DAY, 7 * DAY]
            .into_iter()
            .any(|ago| now.checked_sub(ago).is_some_and(|then| end.abs_diff(then) < 3 * AROUND))
    }

    /// Returns the levels around `now`, a day and a week before, from coarse buckets.
    pub(crate) fn of<'b>(buckets: impl Iterator<Item = &'b Minute>, now: u64) -> Season {
        let mut season = Season::default();
        let higher = |level: &mut Option<f64>, other: f64| {
            *level = Some(level.map_or(other, |level| level.max(other)));
        };
        for bucket in buckets.filter(|bucket| is_season(bucket, now)) {
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

/// Returns whether the bucket is of this time, a day or a week ago.
fn is_season(bucket: &Minute, now: u64) -> bool {
    [DAY, 7 * DAY].into_iter().any(|ago| {
        let Some(then) = now.checked_sub(ago) else { return false };
        bucket.end + AROUND > then && bucket.start() < then + AROUND
    })
}
