//! The maximum and the minimum of recorded values, in a mapped file.
//!
//! A cell of zero says that nothing was recorded there. But zero is a value like any other, so a
//! second column says whether zero was recorded. The cells of a minimum have the complements of its
//! values: the greatest complement is that of the least value.

use windrow::Recorded;

use crate::cells::Cells;

/// The two columns of a maximum, or of a minimum, which keeps the complements of its values.
#[derive(Clone, Copy)]
pub(crate) struct Extreme {
    pub(crate) greatest: Cells,
    /// Raised to 1 by a record of zero.
    pub(crate) zero: Cells,
}

impl Extreme {
    #[inline]
    fn record(&self, value: u64) {
        self.greatest.raise(value);
        if value == 0 {
            self.zero.raise(1);
        }
    }

    fn get(&self) -> Option<u64> {
        of_columns(self.greatest.greatest(), self.zero.greatest())
    }
}

/// Returns the greatest value by the greatest cells of the two columns; `None` if there was none.
pub(crate) fn of_columns(greatest: u64, zero: u64) -> Option<u64> {
    (greatest != 0 || zero != 0).then_some(greatest)
}

/// The greatest value that many processes have recorded, in a mapped file.
///
/// Returned by [`File::maximum`](crate::File::maximum). A copy is of the same number, and valid for
/// as long as the process lives. A value counts if [`record`](Self::record) has returned, also
/// after its process was killed.
///
/// # Cost
///
/// A record reads the cell of this processor, and writes it if the value is greater, as a
/// [`Counter`](crate::Counter) adds. [`get`](Self::get) reads two cells for each processor.
#[derive(Clone, Copy)]
pub struct Maximum {
    pub(crate) extreme: Extreme,
}

impl Maximum {
    /// Records a value: a number, or a duration as its [nanoseconds](Recorded).
    ///
    /// ```
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// let file = windrow_mapped::File::open(path)?;
    /// let largest = file.maximum("largest_body", &[])?;
    /// assert_eq!(largest.get(), None);
    /// largest.record(1_500);
    /// largest.record(40);
    /// assert_eq!(largest.get(), Some(1_500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn record(&self, value: impl Recorded) {
        self.extreme.record(value.number());
    }

    /// Returns the greatest value recorded, over all processes; `None` if there was none.
    ///
    /// It is at least each value whose record had returned when this call began. Consecutive
    /// results never fall.
    pub fn get(&self) -> Option<u64> {
        self.extreme.get()
    }
}

shown! {
    /// Shows the greatest value.
    Maximum(maximum) { value: maximum.get() }
}

/// The least value that many processes have recorded, in a mapped file.
///
/// Returned by [`File::minimum`](crate::File::minimum). Its promises and costs are those of a
/// [`Maximum`].
#[derive(Clone, Copy)]
pub struct Minimum {
    /// The greatest complement.
    pub(crate) extreme: Extreme,
}

impl Minimum {
    /// Records a value: a number, or a duration as its [nanoseconds](Recorded).
    ///
    /// ```
    /// # let directory = tempfile::tempdir_in("/dev/shm")?;
    /// # let path = directory.path().join("app.windrow");
    /// let file = windrow_mapped::File::open(path)?;
    /// let quickest = file.minimum("quickest_call", &[])?;
    /// quickest.record(1_500);
    /// quickest.record(40);
    /// assert_eq!(quickest.get(), Some(40));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn record(&self, value: impl Recorded) {
        self.extreme.record(!value.number());
    }

    /// Returns the least value recorded, over all processes; `None` if there was none.
    ///
    /// It is at most each value whose record had returned when this call began. Consecutive results
    /// never rise.
    pub fn get(&self) -> Option<u64> {
        self.extreme.get().map(|value| !value)
    }
}

shown! {
    /// Shows the least value.
    Minimum(minimum) { value: minimum.get() }
}
