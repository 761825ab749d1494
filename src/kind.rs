//! The two kinds of event.

/// How an event is counted.
///
/// ```
/// use windrow::Kind;
///
/// assert_eq!(Kind::Count.cells(), 1);
/// assert_eq!(Kind::Value.cells(), 4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// A number that adds up: one cell.
    Count,
    /// Values, of which the count, sum, minimum and maximum are kept: four cells.
    Value,
}

impl Kind {
    /// How many cells of eight bytes an event of this kind takes in a bucket.
    ///
    /// In each row of a window's blocks a `Value` takes a fifth, beside these.
    ///
    /// ```
    /// assert_eq!(windrow::Kind::Value.cells(), 4);
    /// ```
    pub const fn cells(self) -> usize {
        match self {
            Kind::Count => 1,
            Kind::Value => 4,
        }
    }
}
