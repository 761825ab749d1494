#![doc = include_str!("../README.md")]

use hdrhistogram::{CreationError, Histogram};
use windrow::histogram::Distribution;

/// The greatest number that each reader of the formats takes.
const GREATEST: u64 = i64::MAX as u64;

/// Converts a distribution to a histogram of `hdrhistogram` that keeps `digits` significant digits,
/// 0 to 5.
///
/// All values of a cell become one number, the one that estimates the cell's values in a
/// [quantile](Distribution::quantile) too. So a value within the scale's range becomes that value,
/// give or take one and a half times the scale's [error](windrow::histogram::Scale::error_bound).
/// `hdrhistogram` has cells of its own, and answers the greatest value of a cell, which is at most
/// one part in `10^digits` greater. With three digits and the default scale, a percentile is right
/// to 4.5 %. A value outside the range becomes a number between the minimum or maximum and the
/// range. A number above `i64::MAX` becomes `i64::MAX`: the formats' numbers have a sign, and
/// Java's reader of logs refuses greater ones.
///
/// The count is the distribution's. Mean, deviation, minimum and maximum are those of the converted
/// numbers, with their error. (A distribution's own [`mean`](Distribution::mean),
/// [`min`](Distribution::min) and [`max`](Distribution::max) are more precise.)
///
/// Costs an allocation of all cells that `hdrhistogram` has up to the maximum: 221 kB for three
/// digits and a minute in nanoseconds.
///
/// # Errors
///
/// Returns [`CreationError`], as [`Histogram::new_with_bounds`] does, if `digits` is more than 5.
///
/// ```
/// let latency = windrow::Histogram::new();
/// (1..=1_000).for_each(|micros| latency.record(micros * 1_000));
/// let now = latency.distribution();
/// let hdr = windrow_hdrhistogram::histogram(&now, 3)?;
/// let p99 = hdr.value_at_quantile(0.99) as f64;
/// assert!((p99 - 990_000.0).abs() <= 990_000.0 * (now.scale().error_bound() + 0.0011));
/// assert!(windrow_hdrhistogram::histogram(&now, 6).is_err());
/// # Ok::<(), hdrhistogram::CreationError>(())
/// ```
pub fn histogram(distribution: &Distribution, digits: u8) -> Result<Histogram<u64>, CreationError> {
    let (min, max) = (distribution.min().unwrap_or(0), distribution.max().unwrap_or(0));
    let mut histogram = Histogram::new_with_bounds(1, max.clamp(2, GREATEST), digits)?;
    for (cell, count) in distribution.cells() {
        let value = middle(min.max(*cell.start()), max.min(*cell.end()));
        histogram.saturating_record_n(value, count); // one above the bound becomes the bound
    }
    Ok(histogram)
}

/// Returns the harmonic mean of two numbers, rounded: the estimate of values between them.
fn middle(least: u64, greatest: u64) -> u64 {
    let (least, greatest) = (u128::from(least), u128::from(greatest));
    let both = (least + greatest).max(1); // two zeros give zero
    (least + (least * (greatest - least) + both / 2) / both) as u64
}
