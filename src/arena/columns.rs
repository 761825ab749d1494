//! Usage of the arena, for people.

use std::fmt::{self, Display, Formatter};

use crate::arena::{SEGMENTS, arena};
use crate::memory::column::COLUMNS;

/// The number of columns that this process has claimed, and its maximum: from [`columns`].
///
/// ```
/// let columns = windrow::diagnostics::columns();
/// println!("{columns}"); // 12 of 83886080 columns claimed
/// assert!(columns.claimed <= columns.mapped && columns.mapped <= columns.max);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Columns {
    /// The number of claimed columns.
    pub claimed: usize,
    /// The number of columns with address space: those of all segments that were ever needed.
    /// Segments are never unmapped; a page of a row takes memory from the first add to it on.
    pub mapped: usize,
    /// The maximum number of columns.
    pub max: usize,
}

/// Returns the number of claimed columns, and its maximum.
///
/// A *column* is eight bytes in the row of each core. A [`Counter`](crate::Counter),
/// [`Gauge`](crate::Gauge), [`Maximum`](crate::Maximum) or [`Minimum`](crate::Minimum) claims one,
/// a [`RationedGate`](crate::gate::RationedGate) two, a [`Histogram`](crate::Histogram) one for
/// each place of its scale and one for the sum, and a window, once or a few times, one for each
/// cell of its events (per core, one more for each `Value` and each place of a scale). A run of
/// more than 64 columns takes whole words of 64. They are given back when the metric is dropped.
///
/// The process can have 83 886 080 columns: one for each of that many counters, or those of 327 680
/// histograms of the default scale, or 56 320 windows with an event of such a histogram (per core,
/// two blocks each); where addresses have 32 bits, a tenth of that. When all are claimed, or there
/// is no memory for more, the next metric is not *striped*: all threads add to one shared cell,
/// exactly, by an atomic addition that contends (a window's add then takes ten times the time of a
/// striped one even without contention). A window tries again with each bucket that it opens, at
/// the cost of two loads for each 524 288 columns; a single metric does not.
///
/// Not a snapshot: columns that are claimed or given back meanwhile may be included or not. Costs a
/// load for each 64 mapped columns: a millisecond when all are.
///
/// ```
/// use windrow::diagnostics::columns;
///
/// let (hits, before) = (windrow::Counter::new(), columns().claimed);
/// hits.increment(); // claims a column
/// assert_eq!(columns().claimed, before + 1);
/// assert!(columns().max >= 8_388_608);
/// ```
#[must_use]
pub fn columns() -> Columns {
    let (claimed, mapped) = arena().usage();
    Columns { claimed, mapped, max: SEGMENTS * COLUMNS }
}

/// Formats the number of claimed columns and its maximum.
impl Display for Columns {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} columns claimed", self.claimed, self.max)
    }
}
