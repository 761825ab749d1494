//! Scales: the range of a histogram's values, and its cells.
//!
//! [`table`] has the cells of all schemas. A scale takes the cells of a range.
//!
//! # Ranges
//!
//! A scale's range begins and ends at powers of two. So the cells of a coarser schema are whole
//! cells of a finer one, in any range of either, and what lies outside of a range is outside of
//! whole cells.

use std::fmt::{self, Debug, Formatter};

use crate::error::ScaleError;
use crate::histogram::scale::table::{
    CELL, FINEST, QUICK_END, QUICK_FIRST, begin, finest_border, finest_cell, quick_bits,
};

mod table;
#[cfg(all(test, not(any(loom, shuttle))))]
mod tests;

/// The cells of a [`Histogram`](crate::Histogram): their width and their range.
///
/// Cells are exponential: the end of each is the same multiple of its beginning. With *schema* `s`,
/// from 0 to 5, there are `2^s` of them in an octave (from a value to its double), and they end at
/// `2^(i / 2^s)`: these are the buckets of Prometheus' native histograms and of OpenTelemetry's
/// exponential ones.
///
/// | schema | cells in an octave | error at most | cells for 1 to 2^30 |
/// |---|---|---|---|
/// | 0 | 1 | 33 % | 31 |
/// | 1 | 2 | 17 % | 62 |
/// | 2 | 4 | 8.6 % | 124 |
/// | 3 | 8 | 4.3 % | 248 |
/// | 4 | 16 | 2.2 % | 496 |
/// | 5 | 32 | 1.1 % | 992 |
///
/// Values in the *range* have cells of their own. The range is widened to powers of two. Values
/// below it, zero included, are counted in one further cell, and values above it in another. A
/// histogram takes 8 bytes a core for each cell, rounded up to half a kilobyte where it has more
/// than 61: see [its cost](crate::Histogram#cost).
///
/// Values are whole numbers in any unit. The [default](Self::DEFAULT) is meant for nanoseconds.
///
/// ```
/// use windrow::{Histogram, histogram::Scale};
///
/// // An invalid scale does not compile.
/// static BODY: Histogram = Histogram::with_scale(Scale::fixed::<4, 1, { 1 << 30 }>());
///
/// BODY.record(1_500);
/// assert_eq!(BODY.distribution().scale(), Scale::new(4, 1, 1 << 30)?);
/// # Ok::<(), windrow::histogram::ScaleError>(())
/// ```
///
/// ```compile_fail
/// # use windrow::{Histogram, histogram::Scale};
/// // there is no schema 6
/// static BODY: Histogram = Histogram::with_scale(Scale::fixed::<6, 1, 1024>());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scale {
    schema: u8,
    /// The range's first octave, and the octave after its last. They are numbered as in [`begin`].
    first: u8,
    end: u8,
    /// Maps [quick bits](quick_bits) to a place: this is added, wrapping, and then `shift` bits are
    /// shifted out. Where the result is less than `quick`, it is the value's place.
    bias: u64,
    shift: u8,
    quick: u16,
}

impl Scale {
    /// Schema 3, from a microsecond to a minute in nanoseconds (as powers of two: 513 ns to 68.7
    /// s), in 216 cells.
    ///
    /// ```
    /// use windrow::histogram::Scale;
    ///
    /// assert_eq!((Scale::DEFAULT.min(), Scale::DEFAULT.max()), (513, 1 << 36));
    /// assert_eq!(Scale::DEFAULT, Scale::default());
    /// ```
    pub const DEFAULT: Scale = Scale::fixed::<3, 1_000, 60_000_000_000>();

    /// Schema 3, from a nanosecond to an hour in nanoseconds (as powers of two: 1 ns to 73.3
    /// minutes), in 344 cells: for durations that may be shorter than a microsecond, or longer than
    /// a minute.
    ///
    /// An estimate is off by at most 4.3 %, as with the [default](Self::DEFAULT). A histogram takes
    /// 3 kB a core, where the default takes 2 kB.
    ///
    /// ```
    /// use windrow::{Histogram, histogram::Scale};
    ///
    /// static BATCHES: Histogram = Histogram::with_scale(Scale::DURATIONS);
    ///
    /// assert_eq!((Scale::DURATIONS.min(), Scale::DURATIONS.max()), (1, 1 << 42));
    /// BATCHES.record(std::time::Duration::from_nanos(1));
    /// BATCHES.record(std::time::Duration::from_secs(3_600));
    /// let all = BATCHES.distribution();
    /// assert_eq!(all.cells().count(), 2); // each in a cell of the range, or beside it
    /// ```
    pub const DURATIONS: Scale = Scale::fixed::<3, 1, 3_600_000_000_000>();

    /// Returns a scale with `2^schema` cells in each octave (see [`Scale`]). Its range contains the
    /// values from `min` to `max`, and is widened to powers of two on both sides.
    ///
    /// # Errors
    ///
    /// [`ScaleError`] if `schema` is above 5, or `min` is zero or above `max`.
    ///
    /// ```
    /// use windrow::histogram::{Scale, ScaleError};
    ///
    /// let scale = Scale::new(3, 1_000, 2_000)?;
    /// assert_eq!((scale.min(), scale.max(), scale.cells()), (513, 2_048, 16));
    /// assert_eq!(Scale::new(9, 1, 10), Err(ScaleError::Schema { schema: 9 }));
    /// # Ok::<(), ScaleError>(())
    /// ```
    #[inline]
    pub const fn new(schema: u8, min: u64, max: u64) -> Result<Scale, ScaleError> {
        if schema > FINEST {
            return Err(ScaleError::Schema { schema });
        }
        if min == 0 {
            return Err(ScaleError::ZeroMin);
        }
        if min > max {
            return Err(ScaleError::EmptyRange { min, max });
        }
        let first = 64 - (min - 1).leading_zeros();
        let end = 65 - (max - 1).leading_zeros();
        Ok(Scale::of_octaves(schema, first as u8, end as u8))
    }

    /// Returns a scale as [`new`](Self::new) does, of constants, for statics: an invalid scale does
    /// not compile.
    ///
    /// ```
    /// use windrow::histogram::Scale;
    ///
    /// const BYTES: Scale = Scale::fixed::<2, 1, { 1 << 20 }>();
    /// assert_eq!(BYTES, Scale::new(2, 1, 1 << 20)?);
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    pub const fn fixed<const SCHEMA: u8, const MIN: u64, const MAX: u64>() -> Scale {
        const {
            match Scale::new(SCHEMA, MIN, MAX) {
                Ok(scale) => scale,
                Err(ScaleError::Schema { .. }) => panic!("a schema must be 0 to 5"),
                Err(_) => panic!("`MIN` must be at least 1 and at most `MAX`"),
            }
        }
    }

    /// Returns the scale whose range is the octaves from `first` up to, not including, `end`.
    const fn of_octaves(schema: u8, first: u8, end: u8) -> Scale {
        // A place is the number of cells of schema 5 since the first octave, divided by the number
        // of them in one cell of this schema, rounded up.
        let up = (1_u64 << (FINEST - schema)) - 1;
        let before = QUICK_FIRST + ((first as u64) << FINEST);
        let bias = up.wrapping_sub(before) << CELL;
        let shift = CELL as u8 + FINEST - schema;
        // All places up to the range's last, or those of cells that end before `QUICK_END`.
        let quick = if end < QUICK_END {
            (((end - first) as u16) << schema) + 1
        } else {
            (QUICK_END.saturating_sub(first) as u16) << schema
        };
        Scale { schema, first, end, bias, shift, quick }
    }

    /// Returns the schema: an octave has `2^schema` cells.
    ///
    /// ```
    /// assert_eq!(windrow::histogram::Scale::DEFAULT.schema(), 3);
    /// ```
    pub const fn schema(self) -> u8 {
        self.schema
    }

    /// Returns the least value in the range.
    ///
    /// ```
    /// assert_eq!(windrow::histogram::Scale::new(3, 1_000, 60_000)?.min(), 513);
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    pub const fn min(self) -> u64 {
        self.below() + 1
    }

    /// Returns the greatest value in the range.
    ///
    /// ```
    /// assert_eq!(windrow::histogram::Scale::new(3, 1_000, 60_000)?.max(), 65_536);
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    pub const fn max(self) -> u64 {
        begin(self.end)
    }

    /// Returns the greatest value below the range.
    const fn below(self) -> u64 {
        begin(self.first)
    }

    /// Returns the number of cells in the range. (There are two further cells for values outside of
    /// it.)
    ///
    /// ```
    /// // two octaves of eight
    /// assert_eq!(windrow::histogram::Scale::new(3, 1_025, 4_096)?.cells(), 16);
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    pub const fn cells(self) -> usize {
        ((self.end - self.first) as usize) << self.schema
    }

    /// Returns the relative error of an estimate of a value in the range: 0.043 for schema 3.
    ///
    /// (Estimates are also rounded to whole numbers, by at most a half.)
    ///
    /// ```
    /// assert!(windrow::histogram::Scale::DEFAULT.error_bound() < 0.0433);
    /// ```
    #[inline]
    pub fn error_bound(self) -> f64 {
        // (g - 1) / (g + 1), where a cell grows by g = 2^(1 / 2^schema), in a form without
        // cancellation.
        (std::f64::consts::LN_2 / f64::from(2_u32 << self.schema)).tanh()
    }

    /// Returns the powers of two at which cells of the range end: from the one before its first
    /// cell, if there is one, to the end of its last.
    ///
    /// (2^64 - 1 takes the place of 2^64.) For exporters, which show fewer buckets than there are
    /// cells: see [`Distribution::buckets`].
    ///
    /// [`Distribution::buckets`]: crate::histogram::Distribution::buckets
    ///
    /// ```
    /// use windrow::histogram::Scale;
    ///
    /// assert!(Scale::new(3, 1_000, 3_000)?.octaves().eq([512, 1_024, 2_048, 4_096]));
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    pub fn octaves(self) -> impl Iterator<Item = u64> {
        (self.first..=self.end).map(begin).filter(|end| *end > 0)
    }

    /// Returns the number of cells, the two outside of the range included: that of the
    /// [places](Self::place).
    pub(crate) const fn places(self) -> usize {
        self.cells() + 2
    }

    /// Returns the place of the cell in which `value` is counted: 0 below the range, then the
    /// range's [cells](Self::cells), and the last place above it.
    ///
    /// It is for programs that keep counts of their own: see
    /// [`from_counts`](crate::histogram::Distribution::from_counts).
    ///
    /// ```
    /// use windrow::histogram::Scale;
    ///
    /// let scale = Scale::new(0, 2, 8)?; // cells for 2, for 3 and 4, and for 5 to 8
    /// assert_eq!([1, 2, 3, 4, 8, 9].map(|value| scale.place(value)), [0, 1, 2, 2, 3, 4]);
    /// # Ok::<(), windrow::histogram::ScaleError>(())
    /// ```
    #[inline]
    pub const fn place(self, value: u64) -> usize {
        // Below the range, the sum has wrapped, and is beyond all places; except that a value of
        // the cell that ends below the range has place 0, as it should.
        let place = quick_bits(value).wrapping_add(self.bias) >> self.shift;
        if place < self.quick as u64 {
            return place as usize;
        }
        otherwise();
        if value <= self.below() {
            return 0; // zero, too
        }
        if value > self.max() {
            return self.cells() + 1;
        }
        let cell = finest_cell(value) - ((self.first as u32) << FINEST);
        cell.div_ceil(1 << (FINEST - self.schema)) as usize
    }

    /// Returns the number of the range's octaves, and two more for the values outside of it.
    pub(crate) const fn octave_count(self) -> usize {
        (self.end - self.first) as usize + 2
    }

    /// Returns the index of the octave of the cell at `place`: 0 below the range.
    #[inline]
    pub(crate) const fn octave(self, place: usize) -> usize {
        (place + (1 << self.schema) - 1) >> self.schema
    }

    /// Returns the greatest value in the cells up to that at `place`.
    const fn border(self, place: usize) -> u64 {
        finest_border(((self.first as usize) << FINEST) + (place << (FINEST - self.schema)))
    }

    /// Returns the smallest and the largest value of the cell at `place`. (A cell without a whole
    /// number has a smallest value above the largest.)
    pub(super) const fn bounds(self, place: usize) -> (u64, u64) {
        if place == 0 {
            (0, self.below())
        } else if place > self.cells() {
            (self.max().saturating_add(1), u64::MAX)
        } else {
            (self.border(place - 1) + 1, self.border(place))
        }
    }

    /// Returns the number of the cell at `place`, in the range, as [`table`] numbers them.
    pub(super) fn number(self, place: u16) -> i32 {
        ((i32::from(self.first) - 1) << self.schema) + i32::from(place)
    }

    /// Returns the extremes of values whose first and last used place are known. The extremes given
    /// may include values that are not counted: drained ones, or those being recorded. Then the
    /// places bound them.
    #[inline]
    pub(crate) fn within(self, used: (usize, usize), (least, greatest): (u64, u64)) -> (u64, u64) {
        let of = |place, value: u64| {
            let (from, to) = self.bounds(place);
            value.max(from).min(to)
        };
        let (least, greatest) = (of(used.0, least), of(used.1, greatest));
        (least.min(greatest), greatest) // of one place, where a read was overtaken too often
    }

    /// Returns the scale with the same range, and this schema if it is coarser.
    #[inline]
    pub(super) fn coarsened(self, schema: u8) -> Scale {
        Scale::of_octaves(self.schema.min(schema), self.first, self.end)
    }

    /// Returns the scale with the coarser schema of both, and a range that contains both ranges.
    #[inline]
    pub(super) fn union(self, other: Scale) -> Scale {
        let (first, end) = (self.first.min(other.first), self.end.max(other.end));
        Scale::of_octaves(self.schema.min(other.schema), first, end)
    }
}

/// Says that a branch is not the usual one, so that the usual one needs no jump.
#[cold]
#[inline]
const fn otherwise() {}

/// Shows the schema and the range.
impl Debug for Scale {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Scale");
        shown
            .field("schema", &self.schema)
            .field("range", &(self.min()..=self.max()))
            .finish_non_exhaustive()
    }
}

/// Returns [`Scale::DEFAULT`].
impl Default for Scale {
    fn default() -> Scale {
        Scale::DEFAULT
    }
}
