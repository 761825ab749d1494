//! What each row holds of a number.

/// What each row holds of a number that adds up: from [`Counter::by_row`](crate::Counter::by_row)
/// and [`SlidingWindow::by_row`](crate::SlidingWindow::by_row).
///
/// To see how the adds are spread over the cores: of two looks, the difference of each row is what
/// its core (or, portably, its group of threads) has added in between. Which core a row is,
/// changes: it belongs to whichever thread runs there, as
/// [`strategy`](crate::diagnostics::strategy#rows) says.
///
/// ```
/// let hits = windrow::Counter::new();
/// hits.add(5);
/// let before = hits.by_row();
/// hits.add(2);
/// let now = hits.by_row();
/// let added = now.rows().iter().zip(before.rows()).map(|(now, before)| now - before);
/// assert_eq!(added.sum::<u64>() + now.shared() - before.shared(), 2);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ByRow {
    pub(crate) rows: Vec<u64>,
    pub(crate) shared: u64,
}

impl ByRow {
    /// What each [open row](crate::diagnostics::strategy#rows) holds, the first row first. (Where
    /// threads lease rows, and some found none, what they have added is shown with the rows of the
    /// same numbers.)
    ///
    /// A later look may find more rows, and never fewer where this has any. Of a counter that
    /// nobody has added to, there is none.
    ///
    /// ```
    /// assert!(windrow::Counter::new().by_row().rows().is_empty());
    /// ```
    pub fn rows(&self) -> &[u64] {
        &self.rows
    }

    /// What was added where all cores add: by threads without a row, to a window's buckets that are
    /// no longer live or have no columns, and [late](crate::SlidingWindow::late).
    ///
    /// ```
    /// assert_eq!(windrow::Counter::from(7).by_row().shared(), 7);
    /// ```
    pub fn shared(&self) -> u64 {
        self.shared
    }

    /// Returns all of it, wrapping: with no add running, the number's `lifetime`.
    ///
    /// ```
    /// let hits = windrow::Counter::new();
    /// hits.add(3);
    /// assert_eq!(hits.by_row().sum(), hits.lifetime());
    /// ```
    pub fn sum(&self) -> u64 {
        self.rows.iter().fold(self.shared, |all, row| all.wrapping_add(*row))
    }
}
