//! The layout of a row: which numbers an event has in it, in which order. By event:
//!
//! | kind | |
//! |---|---|
//! | `Count`, `Signed` | lifetime, count |
//! | `Value` | lifetime, count, sum, minimum, maximum |
//! | `Histogram` | as `Value`, and the percentiles |
//! | `Maximum` | maximum |
//! | `Minimum` | minimum |

use windrow::Kind;

/// The number of percentiles that are shown and compared.
pub(crate) const PERCENTILES: usize = 3;

/// These percentiles, with their names.
pub(crate) const QUANTILES: [(&str, f64); PERCENTILES] =
    [("p50", 0.5), ("p90", 0.9), ("p99", 0.99)];

/// The position of the first percentile among the numbers of a distribution.
pub(crate) const FIRST_PERCENTILE: usize = 5;

/// Returns the number of an event's numbers in a row.
pub(crate) fn width(kind: Kind) -> usize {
    match kind {
        Kind::Count | Kind::Signed => 2,
        Kind::Value => 5,
        Kind::Histogram(_) => FIRST_PERCENTILE + PERCENTILES,
        Kind::Maximum | Kind::Minimum => 1,
        _ => 0, // a later kind, unknown here
    }
}

/// Returns the position of each event's first number in a row.
pub(crate) fn places(events: &[(&str, Kind)]) -> Vec<usize> {
    let mut next = 0;
    let place = |(_, kind): &(&str, Kind)| {
        next += width(*kind);
        next - width(*kind)
    };
    events.iter().map(place).collect()
}

/// Returns whether an event of this kind has a count that never goes back: its first number.
pub(crate) fn only_grows(kind: Kind) -> bool {
    matches!(kind, Kind::Count | Kind::Value | Kind::Histogram(_))
}
