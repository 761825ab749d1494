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
}

impl Kind {
    /// Returns the kind with a number, if this version knows it.
    pub(crate) const fn of(number: u8) -> Option<Kind> {
        match number {
            1 => Some(Kind::Counter),
            _ => None,
        }
    }

    /// Returns the number of the kind in the file.
    pub(crate) const fn number(self) -> u8 {
        match self {
            Kind::Counter => 1,
        }
    }

    /// Returns the number of columns of a metric of this kind.
    pub(crate) const fn columns(self) -> u32 {
        match self {
            Kind::Counter => 1,
        }
    }
}
