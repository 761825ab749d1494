//! Levels of each process: gauges, and operations in progress.

use super::File;
use crate::error::MappedError;
use crate::gauge::{Gauge, InFlight, Part};
use crate::kind::Kind;

/// # Levels of each process
impl File {
    /// Returns the gauge with this name and these labels, as [`counter`](Self::counter) does. It
    /// takes no column, but a word in the slot of each process.
    ///
    /// # Errors
    ///
    /// The errors of [`counter`](Self::counter); and
    ///
    /// * [`MappedError::Full`]: also if the file has no words left.
    /// * [`MappedError::OwnersFull`], [`Failed`](MappedError::Failed): this process needs a slot
    ///   for its first gauge, and gets none. A process that ends leaves its slot to the next one.
    ///   The name is registered.
    pub fn gauge(&self, name: &str, labels: &[(&str, &str)]) -> Result<Gauge, MappedError> {
        Ok(Gauge { part: self.part(name, labels, Kind::Gauge)? })
    }

    /// Returns the number of operations in progress with this name and these labels, as
    /// [`gauge`](Self::gauge) does.
    ///
    /// # Errors
    ///
    /// The errors of [`gauge`](Self::gauge).
    pub fn in_flight(&self, name: &str, labels: &[(&str, &str)]) -> Result<InFlight, MappedError> {
        Ok(InFlight { part: self.part(name, labels, Kind::InFlight)? })
    }

    /// Takes a slot for the gauges of this process, if it has none.
    ///
    /// The first gauge does so by itself, and in a forked child the first use of one. This is for a
    /// child that needs to know whether its gauges are seen, and for another try if they are not.
    /// What was added without a slot stays unseen.
    ///
    /// # Errors
    ///
    /// [`MappedError::OwnersFull`], [`NoSpace`](MappedError::NoSpace),
    /// [`LockedTooLong`](MappedError::LockedTooLong), and [`Failed`](MappedError::Failed) if the
    /// system refuses an operation.
    pub fn take_slot(&self) -> Result<(), MappedError> {
        self.shared.slot().map(drop)
    }

    fn part(self, name: &str, labels: &[(&str, &str)], kind: Kind) -> Result<Part, MappedError> {
        let (_, word) = self.register(name, labels, kind)?;
        Ok(Part { slot: self.shared.slot()?, word })
    }
}
