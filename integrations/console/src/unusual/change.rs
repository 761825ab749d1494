//! A change of a series: its kind, its beginning, its levels, and its course; and the numbers that
//! are compared to find it.

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

/// The course of a change over its last minutes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// It is younger than three minutes.
    New,
    Worse,
    Steady,
    Better,
}

/// A change that goes on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) what: What,
    /// Its beginning, in milliseconds of the window's clock.
    pub(crate) since: u64,
    /// The level of the past.
    pub(crate) from: f64,
    /// The level of the last minute.
    pub(crate) to: f64,
    pub(crate) course: Course,
    /// True if `from` is the rate of this hour yesterday.
    pub(crate) yesterday: bool,
    /// The span that has shown it, in seconds: only as long a span can show its end.
    pub(super) span: f64,
    /// The numbers that have shown it.
    pub(super) of: Of,
    /// The time since which the last span shows nothing of it.
    pub(super) calm: Option<u64>,
}

impl Change {
    /// Returns how urgent it is: by its kind, and then by its size.
    pub(crate) fn weight(&self) -> f64 {
        let kind = What::ALL.len() - self.what as usize;
        kind as f64 * 10.0 + self.factor().log2().min(9.9)
    }

    /// Returns which percentile has changed, if values are slow.
    pub(crate) fn percentile(&self) -> usize {
        self.of.percentile()
    }

    /// Returns the factor between the past level and the current one; at most a thousand.
    pub(crate) fn factor(&self) -> f64 {
        let (low, high) = (self.from.min(self.to), self.from.max(self.to));
        if low > 0.0 { (high / low).min(1e3) } else { 1e3 }
    }
}
