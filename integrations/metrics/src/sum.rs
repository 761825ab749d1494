//! A sum of `f64` values in whole numbers, which add up in any order to the same.
//!
//! A value is rounded to a multiple of 2^-40 and written with three digits: whole units, 2^-20 and 2^-40. The last two
//! are below 2^20, and all have the value's sign. Each digit has a counter, which holds a signed number modulo 2^64. The
//! digits of 2^43 records fit without a carry: no counter ever has to tell another that it wrapped, and a read beside
//! records misses at most what is being recorded.

use windrow::Counter;

/// The base of the two digits behind the point: 2^20.
const BASE: f64 = 1_048_576.0;

/// The largest value that can be added: 2^53. Beyond it, an `f64` does not even tell whole numbers apart.
pub(crate) const LARGEST: f64 = 9_007_199_254_740_992.0;

/// 1.5 times 2^52: an `f64` of this size has no bits behind the point, so adding it rounds a small number.
const NO_FRACTION: f64 = 6_755_399_441_055_744.0;

/// The sum of many values.
#[derive(Default)]
pub(crate) struct ExactSum {
    whole: Counter,
    first: Counter,
    second: Counter,
}

impl ExactSum {
    /// Adds `value`, between [`-LARGEST`](LARGEST) and `LARGEST`, as many `times`.
    #[inline]
    pub(crate) fn add(&self, value: f64, times: u64) {
        // Casts cut off what is behind the point, and cost an instruction where `trunc` may cost a call. All is exact:
        // taking the whole part away, and multiplying by a power of two, lose no bits.
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
        let digit = |counter: &Counter| i128::from(counter.lifetime().cast_signed());
        let whole = (digit(&self.whole) << 40) + (digit(&self.first) << 20) + digit(&self.second);
        whole as f64 / (BASE * BASE)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn whole_numbers_and_binary_fractions_add_up_exactly() {
        let sum = ExactSum::default();
        for value in [12.0, 0.5, -3.25, LARGEST, -LARGEST, 1.0 / BASE, -0.0] {
            sum.add(value, 1);
        }
        assert_eq!(sum.get(), 9.25 + 1.0 / BASE);
    }

    #[test]
    fn many_of_one_value_are_that_many_times_it() {
        let sum = ExactSum::default();
        sum.add(-2.25, 4_000_000_000);
        assert_eq!(sum.get(), -9e9);
    }

    /// Half of the last digit.
    const ERROR: f64 = 0.5 / (BASE * BASE);

    proptest! {
        #[test]
        fn each_record_is_off_by_half_a_last_digit_at_most(value in -1e3..1e3_f64) {
            let sum = ExactSum::default();
            sum.add(value, 1);
            prop_assert!((sum.get() - value).abs() <= ERROR, "{} for {value}", sum.get());
        }

        #[test]
        fn the_order_of_values_does_not_matter(mut values in prop::collection::vec(-1e9..1e9_f64, 1..50)) {
            let (one, other) = (ExactSum::default(), ExactSum::default());
            values.iter().for_each(|value| one.add(*value, 1));
            values.sort_by(f64::total_cmp);
            values.iter().for_each(|value| other.add(*value, 1));
            prop_assert_eq!(one.get(), other.get());
        }
    }
}
