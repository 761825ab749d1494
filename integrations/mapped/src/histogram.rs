//! A histogram in a mapped file: a column for the sum of all values, then one for each place of its
//! scale.

use windrow::Recorded;
use windrow::histogram::{Distribution, Scale};

use crate::cells::Cells;
use crate::kind::Kind;
use crate::layout::SEGMENT;

/// The greatest value that is part of a sum, as in a `windrow::Histogram`. A greater value, by
/// which a program says "never", would put the sum back.
const MOST_SUMMAND: u64 = (1 << 60) - 1;

/// A latency histogram in a mapped file, to which many processes record.
///
/// Returned by [`File::histogram`](crate::File::histogram). A copy is of the same histogram. It has
/// the cells of a [`Scale`], as a `windrow::Histogram`: values outside of the scale's range are
/// counted in two further cells, and values of 2^60 or more are no part of the sum.
///
/// # Promise
///
/// A record is two adds, each with the promises of a [`Counter`](crate::Counter): to the sum, and
/// to the cell of its value. The count is the sum of the cells. A reader may see one of the two
/// adds without the other, so its sum may be ahead of its count or behind it, by the values of
/// records in progress. A thread that is killed in a record may have added to the sum alone, for
/// ever.
///
/// # Cost
///
/// It takes a column for each [place](Scale::place) of the scale, and one more: with the default
/// scale 219 columns, which are 1.8 kB for each processor.
#[derive(Clone, Copy)]
pub struct Histogram {
    scale: Scale,
    sum: Cells,
    /// Those of the first place, and of the places behind it up to `border`.
    first: Cells,
    /// Those of the place `border`, which lies in the next segment, and of the places behind it.
    behind: Cells,
    border: usize,
}

impl Histogram {
    /// Makes a histogram with the columns from `column` on, whose cells `cells` returns.
    pub(crate) fn new(scale: Scale, column: u32, cells: impl Fn(u32) -> Cells) -> Histogram {
        let [first, end] = [1, Kind::Histogram(scale).columns()].map(|next| column + next);
        // The first column of the next segment. A histogram has fewer columns than a segment.
        let next = (first / SEGMENT + 1) * SEGMENT;
        let behind = if next < end { next } else { first };
        let border = (next - first) as usize;
        let [sum, first, behind] = [column, first, behind].map(cells);
        Histogram { scale, sum, first, behind, border }
    }

    /// Records a value: a number, or a duration as its [nanoseconds](Recorded).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_mapped::Scale;
    ///
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// let file = windrow_mapped::File::open(&path)?;
    /// let latency = file.histogram("latency", Scale::DEFAULT, &[("route", "cart")])?;
    /// latency.record(Duration::from_micros(1_250));
    /// latency.record(2_000_000);
    /// let values = latency.distribution();
    /// assert_eq!((values.count(), values.sum()), (2, 3_250_000));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn record(&self, value: impl Recorded) {
        let value = value.number();
        if value <= MOST_SUMMAND {
            self.sum.add(value);
        }
        self.cells(self.scale.place(value)).add(1);
    }

    /// Returns the scale.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Returns the values that all processes have recorded. The extremes are bounds in the cells
    /// that were used.
    ///
    /// The count of each cell is at least that of the records that had returned when this call
    /// began.
    pub fn distribution(&self) -> Distribution {
        let places = 0..self.scale.cells() + 2;
        let counts: Vec<u64> = places.map(|place| self.cells(place).sum()).collect();
        Distribution::from_counts(self.scale, &counts, self.sum.sum())
    }

    /// Returns the cells of a place.
    #[inline]
    fn cells(&self, place: usize) -> Cells {
        debug_assert!(place < self.scale.cells() + 2);
        // SAFETY: a scale has no place behind its last, and `new` has the cells of all, each side
        // by side with those of its neighbours in the segment.
        unsafe {
            match place.checked_sub(self.border) {
                None => self.first.right(place),
                Some(distance) => self.behind.right(distance),
            }
        }
    }
}

shown! {
    /// Shows the values.
    Histogram(histogram) { values: histogram.distribution() }
}
