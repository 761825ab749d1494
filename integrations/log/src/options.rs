//! The options of a log.

use std::time::Duration;

use crate::format::Format;

/// The options of a log.
///
/// ```
/// use std::time::Duration;
/// use windrow_log::{Log, Options};
///
/// # let directory = tempfile::tempdir()?;
/// let options = Options::default().file_size(1 << 20).files(100).sync_every(Duration::ZERO);
/// let log = Log::open(directory.path(), options)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Options {
    pub(crate) format: Format,
    pub(crate) file_size: u64,
    pub(crate) files: usize,
    pub(crate) sync_every: Duration,
    pub(crate) memory: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            format: Format::Json,
            file_size: 64 << 20,
            files: 16,
            sync_every: Duration::from_secs(10),
            memory: 16 << 20,
        }
    }
}

impl Options {
    /// Sets the format of lines: [`Format::Json`] by default.
    #[must_use]
    pub fn format(mut self, format: Format) -> Options {
        self.format = format;
        self
    }

    /// Sets the greatest size of a file in bytes: 64 MiB by default. The next line begins a new
    /// file. A single line that is longer gets a file of its own. On a disk with less free space
    /// than four such files, a file may take a quarter of the free space.
    #[must_use]
    pub fn file_size(mut self, bytes: u64) -> Options {
        self.file_size = bytes;
        self
    }

    /// Sets the number of files to keep: 16 by default, and at least one. When a new file has been
    /// begun, the oldest files beyond this number are removed. Fewer are kept only if the disk is
    /// full: see [when it cannot be written](crate#when-it-cannot-be-written).
    #[must_use]
    pub fn files(mut self, files: usize) -> Options {
        self.files = files.max(1);
        self
    }

    /// Sets the longest time for which a written line may stay unsynced: 10 s by default. Each
    /// write checks it, so `Duration::ZERO` syncs each write, and `Duration::MAX` syncs only full
    /// files.
    ///
    /// Unsynced lines are lost only if the system or its power fails. The end of a process, in
    /// whatever way, loses no written line.
    #[must_use]
    pub fn sync_every(mut self, span: Duration) -> Options {
        self.sync_every = span;
        self
    }

    /// Sets the greatest total size in bytes of the lines that wait in memory while they cannot be
    /// written: 16 MiB by default. Lines beyond it are dropped, and the log records that in a line
    /// ([`Dropped`](crate::Dropped)).
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Options {
        self.memory = bytes;
        self
    }
}
