//! Adding one distribution to another.
//!
//! The result has the coarser schema of both, and a range that has both ranges. What a cell has counted goes into that cell of the result
//! in which all of it is. There is such a one for each cell of a range: ranges begin and end at powers of two, as cells of all
//! schemas do. Of what was counted below a range or above, the result may have several cells. Then it is known to lie in one of
//! them only if the extremes are in one: else nobody knows where it belongs, and nothing is merged.

use super::Distribution;
use crate::error::ScaleMismatch;
use crate::histogram::scale::Scale;

impl Distribution {
    /// Adds what the other has counted to this one: as if all had been recorded in one histogram.
    ///
    /// The scales may differ. Then the result has the coarser schema of both, exactly: each cell of the coarser one is some cells of the finer
    /// one. Its range has both ranges.
    ///
    /// # Errors
    ///
    /// [`ScaleMismatch`], if one has counted values outside of its own range that lie in the range of the other: nobody knows in which cells.
    /// Then nothing was merged.
    ///
    /// ```
    /// use windrow::{Histogram, Scale};
    ///
    /// let (one, two) = (Histogram::new(), Histogram::with_scale(Scale::fixed::<5, 1_000, 1_000_000>()));
    /// one.record(2_000);
    /// two.record(3_000);
    /// two.record(2);
    /// let mut both = one.distribution();
    /// both.merge(&two.distribution())?;
    /// assert_eq!((both.count(), both.sum(), both.min(), both.max()), (3, 5_002, Some(2), Some(3_000)));
    /// assert_eq!(both.scale(), one.scale());
    /// # Ok::<(), windrow::ScaleMismatch>(())
    /// ```
    pub fn merge(&mut self, other: &Distribution) -> Result<(), ScaleMismatch> {
        let scale = self.scale.union(other.scale);
        let (mine, theirs) = (self.cells_in(scale)?, other.cells_in(scale)?);
        let extremes = match (self.is_empty(), other.is_empty()) {
            (_, true) => self.extremes,
            (true, false) => other.extremes,
            (false, false) => {
                (self.extremes.0.min(other.extremes.0), self.extremes.1.max(other.extremes.1))
            }
        };
        let mut cells = mine;
        cells.extend(theirs);
        cells.sort_by_key(|(place, _)| *place);
        let sum = self.sum.wrapping_add(other.sum);
        *self = Distribution::of_used(scale, added_up(cells), sum, extremes);
        Ok(())
    }

    /// What it has counted, by the places of `scale`, in order. A place may be there several times.
    fn cells_in(&self, scale: Scale) -> Result<Vec<(u16, u64)>, ScaleMismatch> {
        let place = |((place, count), used): (&(u16, u64), super::Used)| {
            if scale == self.scale {
                return Ok((*place, *count));
            }
            let (from, to) = used.bounds;
            let found = scale.place(from);
            if found == scale.place(to) {
                Ok((found as u16, *count))
            } else {
                Err(ScaleMismatch::Outside { count: *count, from, to })
            }
        };
        self.cells.iter().zip(self.used()).map(place).collect()
    }
}

/// Cells in order, each once.
fn added_up(cells: Vec<(u16, u64)>) -> Vec<(u16, u64)> {
    let mut added: Vec<(u16, u64)> = Vec::with_capacity(cells.len());
    for (place, count) in cells {
        match added.last_mut() {
            Some(last) if last.0 == place => last.1 = last.1.wrapping_add(count),
            _ => added.push((place, count)),
        }
    }
    added
}
