//! Numbers as they are read.

/// A number of a series, or `Nothing` where there is none yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    None,
    Unsigned(u64),
    Signed(i64),
    /// A finite number.
    Real(f64),
}

impl Number {
    /// Returns whether it is absent or zero.
    pub(crate) fn is_nothing(self) -> bool {
        match self {
            Number::None | Number::Unsigned(0) | Number::Signed(0) => true,
            Number::Unsigned(_) | Number::Signed(_) => false,
            Number::Real(number) => number == 0.0,
        }
    }

    /// Returns the nearest real number; `None` if it is absent.
    pub(crate) fn as_f64(self) -> Option<f64> {
        match self {
            Number::None => None,
            Number::Unsigned(number) => Some(number as f64),
            Number::Signed(number) => Some(number as f64),
            Number::Real(number) => Some(number),
        }
    }

    /// Returns a number of the program's own, which is absent if it is not finite.
    pub(crate) fn real(number: f64) -> Number {
        if number.is_finite() { Number::Real(number) } else { Number::None }
    }
}

impl From<Option<u64>> for Number {
    fn from(number: Option<u64>) -> Number {
        number.map_or(Number::None, Number::Unsigned)
    }
}

impl From<Number> for serde_json::Value {
    fn from(number: Number) -> serde_json::Value {
        match number {
            Number::None => serde_json::Value::Null,
            Number::Unsigned(number) => number.into(),
            Number::Signed(number) => number.into(),
            Number::Real(number) => number.into(),
        }
    }
}

impl From<u64> for Number {
    fn from(number: u64) -> Number {
        Number::Unsigned(number)
    }
}
