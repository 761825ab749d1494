//! Numbers as they are read.

/// A number of a series, or `None` where there is none yet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Number {
    None,
    Whole(i128),
    /// A finite number.
    Real(f64),
}

impl Number {
    pub(crate) fn whole(number: impl Into<i128>) -> Number {
        Number::Whole(number.into())
    }

    /// Returns a number of the program's own, which is absent if it is not finite.
    pub(crate) fn real(number: f64) -> Number {
        if number.is_finite() { Number::Real(number) } else { Number::None }
    }

    /// Returns whether it is absent or zero.
    pub(crate) fn is_nothing(self) -> bool {
        self.as_f64().is_none_or(|number| number == 0.0)
    }

    /// Returns the nearest real number; `None` if it is absent.
    pub(crate) fn as_f64(self) -> Option<f64> {
        match self {
            Number::None => None,
            Number::Whole(number) => Some(number as f64),
            Number::Real(number) => Some(number),
        }
    }
}

impl From<Option<u64>> for Number {
    fn from(number: Option<u64>) -> Number {
        number.map_or(Number::None, Number::whole)
    }
}
