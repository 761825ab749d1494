#![doc = include_str!("../README.md")]

use hdrhistogram::{CreationError, Histogram};
use windrow::histogram::Distribution;

/// Returns a distribution as a histogram of `hdrhistogram`, which keeps so many significant
/// `digits`: 0 to 5.
///
/// Each cell's values are there as one number, that which stands for the cell in a
/// [percentile](Distribution::quantile) too. So of a value in the scale's range, what is there is
/// that value give or take the scale's [error](windrow::histogram::Scale::error_bound) and a half.
/// `hdrhistogram` has cells of its own, and answers the greatest value of one: that is more by one
/// part in `10^digits` at most. With three digits and the default scale a percentile is right to
/// 4.5 %. Outside of the range it is between the least and the greatest value and the range, as
/// [`Distribution::quantile_within`] says.
///
/// The count is the distribution's. Mean and deviation are those of the numbers, and so as right as
/// these are; the least and the greatest value too. (A distribution's own
/// [`mean`](Distribution::mean), [`min`](Distribution::min) and [`max`](Distribution::max) are
/// better known.)
///
/// Costs an allocation of all cells that `hdrhistogram` has up to the greatest value: of three
/// digits and a minute in nanoseconds, 221 kB.
///
/// # Errors
///
/// [`CreationError`], as [`Histogram::new_with_bounds`]: there are more than 5 digits.
///
/// ```
/// let latency = windrow::Histogram::new();
/// (1..=1_000).for_each(|micros| latency.record(micros * 1_000));
/// let now = latency.distribution();
/// let hdr = windrow_hdrhistogram::histogram(&now, 3)?;
/// let p99 = hdr.value_at_quantile(0.99) as f64;
/// assert!((p99 - 990_000.0).abs() <= 990_000.0 * (now.error_bound() + 0.0011));
/// assert!(windrow_hdrhistogram::histogram(&now, 6).is_err());
/// # Ok::<(), hdrhistogram::CreationError>(())
/// ```
pub fn histogram(distribution: &Distribution, digits: u8) -> Result<Histogram<u64>, CreationError> {
    let (min, max) = (distribution.min().unwrap_or(0), distribution.max().unwrap_or(0));
    let mut histogram = Histogram::new_with_bounds(1, max.max(2), digits)?;
    for (cell, count) in distribution.cells() {
        let value = middle(min.max(*cell.start()), max.min(*cell.end()));
        histogram.saturating_record_n(value, count); // none is above the bound
    }
    Ok(histogram)
}

/// Returns the number between two whose relative distance from both is the same, rounded: what
/// stands for values between them.
fn middle(least: u64, greatest: u64) -> u64 {
    let (least, greatest) = (u128::from(least), u128::from(greatest));
    let both = (least + greatest).max(1); // of two zeros it is zero
    (least + (least * (greatest - least) + both / 2) / both) as u64
}
