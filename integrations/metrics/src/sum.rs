//! A sum of `f64` values in whole numbers, which add up in any order to the same.
//!
//! A value is rounded to a multiple of 10^-12 and written with three digits: whole units,
//! millionths, and millionths of those. All have the value's sign. Each digit has a counter, which
//! holds a signed number modulo 2^64. The digits of 2^43 records fit without a carry: no counter
//! ever has to tell another that it wrapped, and a read during records misses at most the values
//! being recorded.
//!
//! The digits are decimal because values are: a `Duration` is nanoseconds, and so comes out
//! exactly.

use windrow::Counter;

/// The base of the two digits behind the point. Below 2^20.
const BASE: f64 = 1e6;

/// The largest value that can be added: 2^53. Beyond it, an `f64` does not even tell whole numbers
/// apart.
pub(crate) const LARGEST: f64 = 9_007_199_254_740_992.0;

/// 1.5 times 2^52: an `f64` of this size has no bits behind the point, so adding it rounds a small
/// number.
const NO_FRACTION: f64 = 6_755_399_441_055_744.0;

/// The sum of many values.
#[derive(Default)]
pub(crate) struct ExactSum {
    whole: Counter,
    first: Counter,
    second: Counter,
}

impl ExactSum {
    /// Adds `value`, between [`-LARGEST`](LARGEST) and `LARGEST`, `times` times.
    #[inline]
    pub(crate) fn add(&self, value: f64, times: u64) {
        // Casts drop the fraction, and cost an instruction where `trunc` may cost a call.
        let whole = value as i64;
        let rest = (value - whole as f64) * BASE;
        let first = rest as i64;
        let second = ((rest - first as f64) * BASE + NO_FRACTION) - NO_FRACTION;
        let digits = [(&self.whole, whole), (&self.first, first), (&self.second, second as i64)];
        for (counter, digit) in digits {
            if digit != 0 {
                counter.add(digit.cast_unsigned().wrapping_mul(times));
            }
        }
    }

    pub(crate) fn get(&self) -> f64 {
        const UNIT: i128 = 1_000_000_000_000;
        let digit = |counter: &Counter| i128::from(counter.lifetime().cast_signed());
        let behind = digit(&self.first) * 1_000_000 + digit(&self.second);
        let sum = digit(&self.whole) * UNIT + behind;
        (sum / UNIT) as f64 + (sum % UNIT) as f64 / UNIT as f64
    }
}

#[allow(clippy::float_cmp, reason = "exact is what these sums are")]
#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimals_add_up_exactly() {
        let sum = ExactSum::default();
        for value in [0.1, 0.2, 12.0, 0.005, -3.25, LARGEST, -LARGEST, 1e-12, -0.0] {
            sum.add(value, 1);
        }
        assert_eq!(sum.get(), 9.055_000_000_001);
    }

    #[test]
    fn many_of_one_value_are_that_many_times_it() {
        let sum = ExactSum::default();
        sum.add(-2.25, 4_000_000_000);
        assert_eq!(sum.get(), -9e9);
        sum.add(1.0 - f64::EPSILON, 1 << 43);
        assert_eq!(sum.get(), (1_u64 << 43) as f64 - 9e9);
    }

    /// Half of the last digit, and the rounding of a multiplication by a million.
    const ERROR: f64 = 0.501e-12;

    proptest! {
        #[test]
        fn each_record_is_off_by_half_a_last_digit_at_most(value in -1e3..1e3_f64, small in -1e-6..1e-6_f64) {
            for value in [value, small] {
                let sum = ExactSum::default();
                sum.add(value, 1);
                // The resolution of an `f64` of this size comes on top.
                let error = ERROR + value.abs() * f64::EPSILON;
                prop_assert!((sum.get() - value).abs() <= error, "{} for {value}", sum.get());
            }
        }

        #[test]
        fn durations_add_up_to_the_nanosecond(nanos in prop::collection::vec(0..1_000_000_000_000_u64, 1..50)) {
            let sum = ExactSum::default();
            let durations = nanos.into_iter().map(Duration::from_nanos);
            let total: Duration = durations.inspect(|time| sum.add(time.as_secs_f64(), 1)).sum();
            prop_assert_eq!(Duration::from_secs_f64(sum.get()), total);
        }

        #[test]
        fn the_order_of_values_does_not_matter(mut values in prop::collection::vec(-1e9..1e9_f64, 1..50)) {
            let (one, other) = (ExactSum::default(), ExactSum::default());
            for value in &values {
                one.add(*value, 1);
            }
            values.sort_by(f64::total_cmp);
            for value in &values {
                other.add(*value, 1);
            }
            prop_assert_eq!(one.get(), other.get());
        }
    }
}
