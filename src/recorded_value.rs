//! Values that can be recorded: a number, or a duration as its nanoseconds; and their part of a
//! sum.
//!
//! # Why some values are no part of a sum
//!
//! A sum is a `u64`, modulo 2^64. A value such as 2^64 - 1, by which a program says "never", would
//! put it back by one, and a backend would take that for a restart. No clock of a process measures
//! [`MAX_SUMMAND`] nanoseconds, so a greater value counts for nothing in sums. Then a sum goes back
//! only where values that were measured have added up to 2^64. It begins near zero then, as after a
//! restart.
//!
//! # Why that costs nothing
//!
//! Every record of a value compares it with the maximum that its cells have seen. Cells that adds
//! reach on a quick path never have a maximum above `MAX_SUMMAND`. So a greater value leaves the
//! quick path, each time, by that comparison.

use std::time::Duration;

/// The greatest value that is part of a sum, 2^60 - 1: 36.5 years in nanoseconds, an exabyte in
/// bytes.
pub(crate) const MAX_SUMMAND: u64 = (1 << 60) - 1;

/// Returns the part of a value in the sum of all: the value, or zero if it is too great.
#[inline]
pub(crate) fn summand(value: u64) -> u64 {
    if value <= MAX_SUMMAND { value } else { 0 }
}

/// A value that can be recorded: a `u64`, or a [`Duration`], as its whole nanoseconds.
///
/// So one method serves sizes and times: [`Histogram::record`](crate::Histogram::record),
/// [`Maximum::record`](crate::Maximum::record) and [`Minimum::record`](crate::Minimum::record) take
/// either.
///
/// A duration of more than 584 years, which a `u64` of nanoseconds cannot hold, saturates at
/// `u64::MAX`.
///
/// # Sums
///
/// Every value is counted, and is exact as a minimum or maximum. A value of 2^60 or more (36.5
/// years in nanoseconds) is no part of any sum: no process has measured it, and it would put a sum,
/// which is modulo 2^64, back. (A mean is the sum, divided by the count of all values.) So a sum is
/// exact until the values below 2^60 add up to 2^64 (584 years in nanoseconds). Then it begins at
/// zero again, which backends take for a restart.
///
/// The trait is sealed. Convert values of other types: a `u32` by `u64::from`, a fraction by
/// choosing a unit in which it is whole.
///
/// ```
/// use std::time::Duration;
/// use windrow::Histogram;
///
/// let latency = Histogram::new(); // nanoseconds
/// latency.record(1_500);
/// latency.record(Duration::from_micros(2));
/// assert_eq!(latency.sum(), 3_500);
/// latency.record(Duration::MAX);
/// assert_eq!(latency.distribution().max(), Some(u64::MAX));
/// assert_eq!((latency.count(), latency.sum()), (3, 3_500));
/// ```
///
/// ```compile_fail,E0277
/// windrow::Histogram::new().record(0.25); // in which unit? record microseconds, or basis points
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be recorded",
    label = "a `u64` or a `Duration` is expected",
    note = "convert another integer with `u64::from`; record a fraction in a unit that makes it \
            whole, such as microseconds"
)]
pub trait Recorded: sealed::Number {}

impl Recorded for u64 {}

impl Recorded for Duration {}

mod sealed {
    use std::time::Duration;

    /// A trait that other crates cannot name, so no other type can be
    /// [`Recorded`](super::Recorded).
    pub trait Number: Copy {
        /// Returns the number that is recorded. Also for packages beside the library, which take
        /// an `impl Recorded`.
        fn number(self) -> u64;
    }

    impl Number for u64 {
        #[inline]
        fn number(self) -> u64 {
            self
        }
    }

    impl Number for Duration {
        #[inline]
        fn number(self) -> u64 {
            let nanos = u64::from(self.subsec_nanos());
            self.as_secs().saturating_mul(1_000_000_000).saturating_add(nanos)
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::sealed::Number;
    use super::*;

    #[test]
    fn a_duration_is_its_nanoseconds_and_saturates() {
        assert_eq!([0, 1, u64::MAX].map(Number::number), [0, 1, u64::MAX]);
        assert_eq!(Duration::new(3, 5).number(), 3_000_000_005);
        for nanos in [0, 999_999_999, 1_000_000_000, u64::MAX - 1, u64::MAX] {
            assert_eq!(Duration::from_nanos(nanos).number(), nanos);
        }
        let too_long = Duration::from_nanos(u64::MAX) + Duration::from_nanos(1);
        let centuries = Duration::from_secs(18_446_744_074); // a second too many
        assert_eq!([too_long, centuries, Duration::MAX].map(Number::number), [u64::MAX; 3]);
    }
}
