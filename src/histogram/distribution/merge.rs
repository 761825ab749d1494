//! Adding one distribution to another, and taking an earlier one away.
//!
//! The result of two distributions with values has the coarser schema of both, and a range that
//! contains both ranges. The count of a cell goes into the cell of the result that contains it.
//! There is such a cell for each cell in a range, because ranges begin and end at powers of two, as
//! cells of all schemas do. But the values counted below or above a range may belong to several
//! cells of the result. Their cell is known only if both extremes lie in one of these; otherwise
//! nothing is merged.
//!
//! The scale of a distribution without values is irrelevant, so the other one's scale is taken.
//! Such a distribution is neutral on both sides, so a sum of many does not depend on its first
//! term.

use super::Distribution;
use crate::error::ScaleError;
use crate::histogram::scale::Scale;

impl Distribution {
    /// Adds the other distribution's counts to this one, as if all values had been recorded in one
    /// histogram.
    ///
    /// A distribution without values is neutral, with any scale, on both sides of a merge. So a sum
    /// may begin with [`default`](Distribution::default).
    ///
    /// The scales of two distributions with values may differ. Then the result has the coarser
    /// schema of both, without a loss: each cell of the coarser schema consists of whole cells of
    /// the finer one. Its range contains both ranges. (To choose a coarser schema, see
    /// [`coarsened`](Self::coarsened).) The extremes of the result are
    /// [exact](Self::has_exact_extremes) if those of both are.
    ///
    /// # Errors
    ///
    /// [`ScaleError`], if one distribution has counted values outside of its own range that
    /// may lie in the range of the other, because their cells are unknown. Then this distribution
    /// stays as it was.
    ///
    /// ```
    /// use windrow::{Histogram, histogram::Scale};
    ///
    /// let one = Histogram::new();
    /// let two = Histogram::with_scale(Scale::fixed::<5, 1_000, 1_000_000>());
    /// one.record(2_000);
    /// two.record(3_000);
    /// two.record(2);
    /// let mut both = one.distribution();
    /// both.merge(&two.distribution())?;
    /// assert_eq!((both.count(), both.sum()), (3, 5_002));
    /// assert_eq!((both.min(), both.max()), (Some(2), Some(3_000)));
    /// assert_eq!(both.scale(), one.distribution().scale());
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    #[inline]
    pub fn merge(&mut self, other: &Distribution) -> Result<(), ScaleError> {
        let sum = self.sum.wrapping_add(other.sum);
        if other.is_empty() && !self.is_empty() {
            self.sum = sum; // it may include a record that was being made
            return Ok(());
        }
        if self.is_empty() {
            *self = Distribution { sum, ..other.clone() };
            return Ok(());
        }
        let scale = self.scale.union(other.scale);
        let mut cells = self.cells_in(scale)?;
        cells.extend(other.cells_in(scale)?);
        cells.sort_by_key(|(place, _)| *place);
        let (mine, theirs) = (self.extremes, other.extremes);
        let extremes = (mine.0.min(theirs.0), mine.1.max(theirs.1));
        let exact = self.exact && other.exact;
        *self = Distribution::of_used(scale, added_up(cells), sum, extremes, exact);
        Ok(())
    }

    /// Returns the difference between this distribution and an earlier one: for two readings of one
    /// histogram, the values recorded in between.
    ///
    /// The scales may differ, as in [`merge`](Self::merge). The extremes are only bounds within
    /// their cells, so they are not [exact](Self::has_exact_extremes), unless the earlier
    /// distribution or the difference is empty. If `earlier` has a greater count in any cell, it is
    /// not an earlier reading of the same values, because the source was restarted. Then this whole
    /// distribution is returned.
    ///
    /// # Errors
    ///
    /// [`ScaleError`], in the cases in which `merge` returns it.
    ///
    /// ```
    /// let latency = windrow::Histogram::new();
    /// latency.record(2_000);
    /// let before = latency.lifetime();
    /// latency.record(2_000);
    /// latency.record(9_000);
    /// let since = latency.lifetime().since(&before)?;
    /// assert_eq!((since.count(), since.sum()), (2, 11_000));
    /// assert_eq!(before.since(&latency.lifetime())?, before); // the other way round
    /// assert!(since.max().is_some_and(|max| (8_600..=9_400).contains(&max)));
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    #[doc(alias = "minus")]
    #[doc(alias = "subtract")]
    #[inline]
    pub fn since(&self, earlier: &Distribution) -> Result<Distribution, ScaleError> {
        let scale = if earlier.is_empty() { self.scale } else { self.scale.union(earlier.scale) };
        let mut cells = added_up(self.cells_in(scale)?);
        let before = added_up(earlier.cells_in(scale)?);
        for (place, earlier) in before {
            let now = cells.binary_search_by_key(&place, |(place, _)| *place);
            match now.ok().and_then(|at| Some((at, cells[at].1.checked_sub(earlier)?))) {
                Some((at, count)) => cells[at].1 = count,
                None => return Ok(self.clone()),
            }
        }
        cells.retain(|(_, count)| *count > 0);
        if cells.is_empty() {
            return Ok(Distribution::of_used(scale, cells, 0, (0, 0), true));
        }
        let sum = self.sum.wrapping_sub(earlier.sum);
        Ok(Distribution::of_used(
            scale,
            cells,
            sum,
            self.extremes,
            earlier.is_empty() && self.exact,
        ))
    }

    /// Returns the same values in the cells of a coarser schema, with the same range; unchanged if
    /// `schema` is not coarser.
    ///
    /// The result is as if a histogram of that scale had recorded the values: fewer cells, with a
    /// larger [error](Scale::error_bound). Count, sum and extremes stay. Costs an allocation.
    ///
    /// ```
    /// use windrow::Histogram;
    ///
    /// let latency = Histogram::new(); // schema 3
    /// [1_100, 1_200, 1_500, 2_000].iter().for_each(|nanos| latency.record(*nanos));
    /// let fine = latency.distribution();
    /// let coarse = fine.coarsened(0);
    /// assert_eq!((fine.cells().count(), coarse.cells().count()), (4, 1));
    /// assert_eq!((coarse.scale().schema(), coarse.count(), coarse.max()), (0, 4, Some(2_000)));
    /// assert_eq!(fine.coarsened(3), fine);
    /// ```
    #[must_use]
    #[inline]
    pub fn coarsened(&self, schema: u8) -> Distribution {
        let scale = self.scale.coarsened(schema);
        let place = |(place, count): &(u16, u64)| {
            let (_, greatest) = self.scale.bounds(usize::from(*place));
            (scale.place(greatest) as u16, *count)
        };
        let cells = added_up(self.cells.iter().map(place));
        Distribution::of_used(scale, cells, self.sum, self.extremes, self.exact)
    }

    /// Returns the counts by the places of `scale`, in order. A place may occur several times.
    #[inline]
    fn cells_in(&self, scale: Scale) -> Result<Vec<(u16, u64)>, ScaleError> {
        let place = |((place, count), used): (&(u16, u64), super::Used)| {
            if scale == self.scale {
                return Ok((*place, *count));
            }
            let (from, to) = used.bounds;
            let found = scale.place(from);
            if found == scale.place(to) {
                Ok((found as u16, *count))
            } else {
                Err(ScaleError::Outside { count: *count, from, to })
            }
        };
        self.cells.iter().zip(self.used()).map(place).collect()
    }
}

/// Adds up the counts of equal places, which are in order.
#[inline]
fn added_up(cells: impl IntoIterator<Item = (u16, u64)>) -> Vec<(u16, u64)> {
    let mut added: Vec<(u16, u64)> = Vec::new();
    for (place, count) in cells {
        match added.last_mut() {
            Some(last) if last.0 == place => last.1 = last.1.saturating_add(count),
            _ => added.push((place, count)),
        }
    }
    added
}
