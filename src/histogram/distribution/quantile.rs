//! Quantiles, to a stated error.
//!
//! # Theorem
//!
//! Let `p` be the estimate of a value `v` in the range of a distribution's scale, whose error is
//! `e`. Then `p` differs from `v` by at most `e * v` and a half.
//!
//! # Why
//!
//! `v` is in some cell, and no value is beyond the extremes. So `v` is between `a` and `b`: the
//! smallest and the largest value of the cell, or the extremes where they are narrower. Let
//! `r = 2 a b / (a + b)`. Its relative distance from `a` and from `b` is the same:
//! `(b - a) / (b + a)`. To the values between them it is nearer. In the range `b / a` is at most
//! the growth of a cell, `g`, so that distance is at most `e = (g - 1) / (g + 1)`. `p` is `r`,
//! rounded to a whole number.
//!
//! Outside of the range the same rule has the smallest possible error for the bounds of the value.
//!
//! # Ranks
//!
//! The `f64` nearest to 0.07 is greater than 0.07, and the rank among 100 values would be 8 instead
//! of 7. So `q` stands for each fraction whose nearest `f64` it is. The rank is the first one that
//! is such a part of `n`, or more: the first `r` for which `r / n`, rounded to an `f64`, is `q` at
//! least. Among fewer than 2^53 values that division is of two `f64`s, and is rounded to the
//! nearest one; and only the rank before `q * n`, rounded up, can be meant: `q` differs by less
//! than 2^-53 from what it stands for, which is less than the distance of two ranks.

use std::ops::RangeInclusive;

use super::Distribution;

impl Distribution {
    /// Estimates the `q`-quantile of all values, with `q` from 0 to 1: for 0.99 the 99th
    /// percentile.
    ///
    /// The quantile is the value with rank `q * n`, rounded up and counted from 1, among `n` values
    /// in order: for 0.5 the lower of two medians. (A `q` such as `0.07` or `7.0 / 100.0` is taken
    /// as that fraction, and not as the `f64` nearest to it: among 100 values it is the seventh.)
    /// The estimate differs from that value by at most the scale's
    /// [error](crate::histogram::Scale::error_bound), and never lies beyond the extremes. The first
    /// value, which is [`min`](Self::min), and the last one, which is [`max`](Self::max), are exact
    /// where the extremes [are](Self::has_exact_extremes). Returns `None` if there is no value, or
    /// if `q` is not a number from 0 to 1: 99 is not the 99th percentile.
    ///
    /// Recorded durations are nanoseconds: `.map(Duration::from_nanos)`. Costs a walk over the
    /// cells that were used.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// [2_000, 2_000, 2_000, 90_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let now = latency.distribution();
    /// let median = now.quantile(0.5).unwrap();
    /// assert!(median.abs_diff(2_000) as f64 <= 2_000.0 * now.scale().error_bound() + 0.5);
    /// assert_eq!((now.quantile(99.0), now.quantile(f64::NAN)), (None, None));
    /// ```
    #[doc(alias = "percentile")]
    #[doc(alias = "quantiles")]
    #[doc(alias = "quantile_duration")]
    #[doc(alias = "quantile_within")]
    #[inline]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        self.quantile_within(q).map(middle)
    }

    /// Returns bounds on the value of a [quantile](Self::quantile). The value is certainly between
    /// them, also outside of the scale's range.
    #[inline]
    fn quantile_within(&self, q: f64) -> Option<RangeInclusive<u64>> {
        let total = self.total();
        if total == 0 || !(0.0..=1.0).contains(&q) {
            return None;
        }
        let (rank, mut end) = (rank(q, total), 0_u128);
        let cell = self.cells.iter().find(|(_, count)| {
            end += u128::from(*count);
            rank <= end
        });
        cell.map(|cell| self.bounds_of(rank, total, self.used_cell(cell).bounds))
    }

    /// Returns bounds on the value with a rank, in a cell with these bounds. The first value is the
    /// minimum, and the last one the maximum. A single value is both, so it is known too, unless a
    /// record that is not counted yet has moved an extreme.
    fn bounds_of(&self, rank: u128, total: u128, (from, to): (u64, u64)) -> RangeInclusive<u64> {
        match (self.exact && total > 1, self.extremes) {
            (true, (least, _)) if rank == 1 => least..=least,
            (true, (_, greatest)) if rank == total => greatest..=greatest,
            _ => from..=to,
        }
    }
}

/// The number of bits in the fraction of an `f64`.
const BITS: u32 = f64::MANTISSA_DIGITS - 1;

/// Returns the rank, from 1 on, of the `q`-quantile of `total` values, with `q` for each fraction
/// whose nearest `f64` it is: see the top of the file.
///
/// There is at least one value, and fewer than 2^76. `q` is a number from 0 to 1.
#[inline]
fn rank(q: f64, total: u128) -> u128 {
    let rank = rounded_up(q.abs(), total);
    let is_before =
        rank > 1 && total < 1 << f64::MANTISSA_DIGITS && (rank - 1) as f64 / total as f64 >= q;
    rank - u128::from(is_before)
}

/// Returns `q * total`, rounded up, and at least one.
#[inline]
fn rounded_up(q: f64, total: u128) -> u128 {
    let (exponent, fraction) = (q.to_bits() >> BITS, q.to_bits() & ((1 << BITS) - 1));
    // `q` is the significand, divided by two to the power of BITS plus `shift`.
    let (significand, shift) = match exponent {
        0 => (fraction, 1_022),
        _ => (fraction | (1 << BITS), 1_023 - exponent),
    };
    // In two halves, because the product may have more than 128 bits. The upper half is a multiple
    // of the divisor.
    let [high, low] =
        [total >> 64, total & u128::from(u64::MAX)].map(|half| half * u128::from(significand));
    let rounded_up = (high << (64 - BITS)) + low.div_ceil(1 << BITS);
    // Divided by a power of two, and rounded up. (Of zero, which is no rank, it is one.)
    let below = rounded_up.saturating_sub(1).checked_shr(shift as u32).unwrap_or(0);
    (below + 1).min(total)
}

/// Returns the number between two whose relative distance from both is the same, rounded.
#[inline]
fn middle(bounds: RangeInclusive<u64>) -> u64 {
    let (least, greatest) = (u128::from(*bounds.start()), u128::from(*bounds.end()));
    let both = (least + greatest).max(1); // of two zeros it is zero
    (least + (least * (greatest - least) + both / 2) / both) as u64
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    #[test]
    fn the_middle_is_as_far_from_both_ends() {
        assert_eq!([middle(0..=0), middle(0..=9), middle(7..=7)], [0, 0, 7]);
        assert_eq!(middle(100..=300), 150);
        assert_eq!(middle(3..=4), 3); // 3.43
        assert_eq!(middle(u64::MAX - 2..=u64::MAX), u64::MAX - 1);
        assert_eq!(middle(1 << 63..=u64::MAX), 12_297_829_382_473_034_410);
    }
}
