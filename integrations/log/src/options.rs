//! How a log is kept.

use std::time::Duration;

use crate::format::Format;

/// How a log is kept.
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
    /// Returns how lines are written: [`Format::Json`] by default.
    #[must_use]
    pub fn format(mut self, format: Format) -> Options {
        self.format = format;
        self
    }

    /// Returns how many bytes a file has at most: 64 MiB by default. The next line begins a new
    /// file. A line that is longer by itself has a file of its own. On a disk that has room for
    /// less than four such files, a file has a quarter of the room.
    #[must_use]
    pub fn file_size(mut self, bytes: u64) -> Options {
        self.file_size = bytes;
        self
    }

    /// Returns how many files are kept: 16 by default, and never fewer than one. When a new file
    /// was begun, the oldest beyond them are removed. Fewer are kept only if the disk is full: see
    /// [when it cannot be written](crate#when-it-cannot-be-written).
    #[must_use]
    pub fn files(mut self, files: usize) -> Options {
        self.files = files.max(1);
        self
    }

    /// Returns how long a line may have been written and not be brought to the disk: 10 s by
    /// default. Looked at in each write. So `Duration::ZERO` syncs each write, and `Duration::MAX`
    /// only files that are full.
    ///
    /// This matters where the system fails, or the power. A process that ends, in whatever way,
    /// takes nothing with it that was written.
    #[must_use]
    pub fn sync_every(mut self, span: Duration) -> Options {
        self.sync_every = span;
        self
    }

    /// Returns how many bytes of lines wait in memory at most, while they cannot be written: 16 MiB
    /// by default. Those that find no room are dropped, and the log says so
    /// ([`Dropped`](crate::Dropped)).
    #[must_use]
    pub fn memory(mut self, bytes: usize) -> Options {
        self.memory = bytes;
        self
    }
}
