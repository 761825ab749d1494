//! The kinds of metrics in a file.

/// The kind of a metric in a mapped file.
///
/// A file may have metrics of kinds that this version does not know. Readers pass them over, and
/// their names are taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A sum that only grows: [`Counter`](crate::Counter).
    Counter,
    /// The greatest value recorded: [`Maximum`](crate::Maximum).
    Maximum,
    /// The least value recorded: [`Minimum`](crate::Minimum).
    Minimum,
    /// A limit, which has no value for readers: [`Pace`](crate::Pace).
    Pace,
}

impl Kind {
    /// Returns the kind with a number, if this version knows it.
    pub(crate) const fn of(number: u8) -> Option<Kind> {
        match number {
            1 => Some(Kind::Counter),
            2 => Some(Kind::Maximum),
            3 => Some(Kind::Minimum),
            16 => Some(Kind::Pace),
            _ => None,
        }
    }

    /// Returns the number of the kind in the file.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Kind::Counter => 1,
            Kind::Maximum => 2,
            Kind::Minimum => 3,
            Kind::Pace => 16,
        }
    }

    /// Returns the number of columns of a metric of this kind.
    pub(crate) const fn columns(self) -> u32 {
        match self {
            Kind::Counter => 1,
            Kind::Maximum | Kind::Minimum => 2, // see `extreme`
            Kind::Pace => 0,                    // words of its own
        }
    }

    /// Returns whether columns have extremes, and not sums.
    pub(crate) const fn is_extreme(self) -> bool {
        matches!(self, Kind::Maximum | Kind::Minimum)
    }
}
