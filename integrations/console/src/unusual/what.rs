//! The kinds of changes, and the numbers that are compared to find them.

/// The kind of a change. The order is that of urgency, the most urgent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum What {
    /// A larger share of operations fails. Levels are shares.
    Failing,
    /// Values are higher, by one of their percentiles. Levels are values.
    Slow,
    /// Operations come less often. Levels are operations a second.
    Quiet,
    /// A larger share of operations is refused by a limiter. Levels are shares.
    Refused,
    /// Operations come more often. Levels are operations a second.
    Busy,
}

impl What {
    pub(crate) const ALL: [What; 5] =
        [What::Failing, What::Slow, What::Quiet, What::Refused, What::Busy];
}

/// The numbers that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Of {
    Failed,
    Refused,
    /// Values above a bound.
    Above(usize),
    Rate,
}

impl Of {
    /// Returns the percentile whose bound is meant; any other number has none.
    pub(super) fn percentile(self) -> usize {
        if let Of::Above(at) = self { at } else { 0 }
    }
}
