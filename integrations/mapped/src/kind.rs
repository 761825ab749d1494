//! The kinds of metrics in a file.

use windrow::histogram::Scale;

use crate::layout::scale;

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
    /// A distribution of values, with the cells of a scale: [`Histogram`](crate::Histogram).
    Histogram(Scale),
    /// A level that goes up and down, of each process: [`Gauge`](crate::Gauge).
    Gauge,
    /// The number of operations in progress, of each process: [`InFlight`](crate::InFlight).
    InFlight,
    /// A limit, which has no value for readers: [`Pace`](crate::Pace).
    Pace,
    /// Several limits, which have no value for readers: [`Paces`](crate::Paces).
    Paces,
}

impl Kind {
    /// Returns the kind with a number and a detail. `None` if this version does not know it, or if
    /// the kind has another number of columns.
    pub(crate) fn of(number: u8, columns: u32, detail: u64) -> Option<Kind> {
        let kind = match number {
            1 => Kind::Counter,
            2 => Kind::Maximum,
            3 => Kind::Minimum,
            4 => Kind::Histogram(scale::of(detail)?),
            5 => Kind::Gauge,
            6 => Kind::InFlight,
            16 => Kind::Pace,
            17 => Kind::Paces,
            _ => return None,
        };
        (kind.columns() == columns).then_some(kind)
    }

    /// Returns whether this version knows the kind with a number.
    pub(crate) const fn is_known(number: u8) -> bool {
        matches!(number, 1..=6 | 16 | 17)
    }

    /// Returns the number of the kind in the file.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Kind::Counter => 1,
            Kind::Maximum => 2,
            Kind::Minimum => 3,
            Kind::Histogram(_) => 4,
            Kind::Gauge => 5,
            Kind::InFlight => 6,
            Kind::Pace => 16,
            Kind::Paces => 17,
        }
    }

    /// Returns whether entries with this number of a kind have a word in the owners' slots, and no
    /// column.
    pub(crate) const fn has_word(number: u8) -> bool {
        number == Kind::Gauge.number() || number == Kind::InFlight.number()
    }

    /// Returns the number of columns of a metric of this kind.
    pub(crate) const fn columns(self) -> u32 {
        match self {
            Kind::Counter => 1,
            Kind::Maximum | Kind::Minimum => 2, // see `extreme`
            Kind::Histogram(scale) => scale.cells() as u32 + 3, // see `histogram`
            Kind::Gauge | Kind::InFlight | Kind::Pace | Kind::Paces => 0, // words of their own
        }
    }

    /// Returns whether columns have extremes, and not sums.
    pub(crate) const fn is_extreme(self) -> bool {
        matches!(self, Kind::Maximum | Kind::Minimum)
    }
}
