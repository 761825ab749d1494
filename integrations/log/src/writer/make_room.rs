//! Freeing space on a full disk: the oldest file is removed, so that the log goes on.
//!
//! A file takes at most a quarter of the disk space for the log, so removing one loses a quarter of
//! the history, and not all of it. But other programs may also fill the disk. Then each write
//! removes at most one file, as long as it still cannot write. The last file stays while lines can
//! wait in memory.

use std::io::ErrorKind;

use super::Writer;
use crate::disk::{Disk, Found};
use crate::error::{LogError, Step};

/// The least size of a file when space is short.
const SMALLEST: u64 = 4 << 10;

/// The least number of files on a disk that the log alone fills.
const SHARES: u64 = 4;

impl<D: Disk> Writer<D> {
    /// Takes a step; if the disk is full, removes the oldest file and takes it again.
    pub(super) fn with_room<T>(
        &mut self,
        step: impl Fn(&mut Self) -> Result<T, LogError>,
    ) -> Result<T, LogError> {
        match step(self) {
            Err(error) if is_full(&error) => {
                self.make_room(error)?;
                step(self)
            }
            result => result,
        }
    }

    /// Returns the greatest size of the next file in bytes.
    pub(super) fn size(&self, all: &[Found]) -> u64 {
        let own: u64 = all.iter().filter_map(|found| found.length).sum();
        let share = |room: u64| (room.saturating_add(own) / SHARES).max(SMALLEST);
        let size = self.options.file_size;
        self.disk.room(&self.directory).map_or(size, |room| size.min(share(room)))
    }

    /// Removes the oldest file that has lines; the only such file just before lines would be
    /// dropped. If that is the current file, the next step begins another. If no file can be
    /// removed, the error stands.
    fn make_room(&mut self, full: LogError) -> Result<(), LogError> {
        let Some(mut all) = self.lock.as_ref().and_then(|_| self.list().ok()) else {
            return Err(full);
        };
        let present = self.file.as_ref().map(|file| (file.segment, file.has_lines));
        all.retain(|found| found.length > Some(0) && present != Some((found.segment, false)));
        let present = present.map(|(segment, _)| segment);
        let may_go = |found: &&Found| match all.len() {
            1 => self.pending.is_half_full() && found.length > Some(SMALLEST),
            _ => Some(found.segment) != present,
        };
        let Some(oldest) = all.iter().find(may_go) else { return Err(full) };
        self.remove(oldest.segment)?;
        self.removed += 1;
        if Some(oldest.segment) == present {
            self.forget();
        }
        Ok(())
    }
}

/// Returns whether the disk is full. A failed sync does not count, since it is not retried: what it
/// may have lost stays lost.
fn is_full(error: &LogError) -> bool {
    matches!(error, LogError::Failed { step, error, .. } if *step != Step::Sync
        && matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded))
}
