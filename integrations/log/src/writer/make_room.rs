//! A full disk: the oldest file goes, so that the log goes on.
//!
//! A file has at most a quarter of what the disk has for the log. So what is removed is a quarter
//! of the history, and not all of it. But a disk may also be full of what others write to it. Then
//! each write removes one file at most, as long as nothing can be written after it. The last file
//! there is stays while there is room in memory: lines wait there.

use std::io::ErrorKind;

use super::Writer;
use crate::disk::{Disk, Found};
use crate::error::{LogError, Step};

/// No file is made smaller than that because there is little room.
const SMALLEST: u64 = 4 << 10;

/// How many files there are at least where the log alone fills a disk.
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

    /// Returns how many bytes the next file may have.
    pub(super) fn size(&self, all: &[Found]) -> u64 {
        let own: u64 = all.iter().filter_map(|found| found.length).sum();
        let share = |room: u64| (room.saturating_add(own) / SHARES).max(SMALLEST);
        let size = self.options.file_size;
        self.disk.room(&self.directory).map_or(size, |room| size.min(share(room)))
    }

    /// Removes the oldest file of those with lines; the only one, before lines would be dropped. If
    /// that is the one that is written to, the next step begins another. If nothing can be removed,
    /// the error stands.
    fn make_room(&mut self, full: LogError) -> Result<(), LogError> {
        let Some(mut all) = self.lock.as_ref().and_then(|_| self.list().ok()) else {
            return Err(full);
        };
        let present = self.file.as_ref().map(|file| (file.segment, file.has_lines()));
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

/// A sync is not tried again: what it may have lost stays lost.
fn is_full(error: &LogError) -> bool {
    match error {
        LogError::Failed { step, error, .. } if *step != Step::Sync => {
            matches!(error.kind(), ErrorKind::StorageFull | ErrorKind::QuotaExceeded)
        }
        _ => false,
    }
}
