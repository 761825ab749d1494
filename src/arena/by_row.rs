//! A number's parts in each row.

/// A sum in its parts, one for each core's row: from [`Counter::by_row`](crate::Counter::by_row);
/// of a window, from `AnyWindow::by_row` of the exporters' module.
///
/// The parts show how adds are spread over the cores. From one reading to the next, a row's part
/// grows by the adds that the row's core has made between the two readings (in the portable
/// strategy: the adds of the row's threads). A row's core may change, as
/// [`strategy`](crate::diagnostics::strategy#rows) says. If no add is running, the parts add up to
/// the number's `lifetime`, wrapping.
///
/// ```
/// let hits = windrow::Counter::new();
/// hits.add(5);
/// let before = hits.by_row();
/// hits.add(2);
/// let now = hits.by_row();
/// let added = now.rows.iter().zip(&before.rows).map(|(now, before)| now - before);
/// assert_eq!(added.sum::<u64>() + now.shared - before.shared, 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ByRow {
    /// The part in each [open row](crate::diagnostics::strategy#rows), in the order of rows. (If
    /// threads lease rows, or cores without a row share some, each shared row is added to the row
    /// of the same number.)
    ///
    /// A later reading may have more rows, never fewer. A counter without adds has none.
    pub rows: Vec<u64>,
    /// The part in shared cells: adds by threads without a row, adds to a window's buckets that are
    /// no longer live or have no columns, and [late](crate::SlidingWindow::late) adds.
    pub shared: u64,
}
