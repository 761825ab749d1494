//! Numbers, as OTLP has them: integers with a sign, and doubles.

use crate::protobuf::put_eight;

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    Double(f64),
    Int(i64),
}

impl Number {
    /// Returns an integer up to 2^63 - 1, and above that the nearest double.
    pub(crate) fn of(number: u64) -> Number {
        i64::try_from(number).map_or(Number::Double(number as f64), Number::Int)
    }

    /// Appends the number as a field of the tag `double` or `int`.
    pub(crate) fn put(self, double: u8, int: u8, to: &mut Vec<u8>) {
        match self {
            Number::Double(number) => put_eight(double, number.to_le_bytes(), to),
            Number::Int(number) => put_eight(int, number.to_le_bytes(), to),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_beyond_those_of_otlp_are_doubles() {
        assert_eq!(Number::of(i64::MAX.cast_unsigned()), Number::Int(i64::MAX));
        assert_eq!(Number::of(u64::MAX), Number::Double(u64::MAX as f64));
    }
}
