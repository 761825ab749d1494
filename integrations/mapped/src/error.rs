//! The error of a mapped file, which names the value and the rule that it broke.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windrow::LimitError;

use crate::kind::Kind;

mod message;

/// The error of creating, opening or reading a mapped file, or of registering a name in it.
///
/// Counters that the program already has go on counting.
///
/// ```
/// use windrow_mapped::{File, MappedError};
///
/// # let directory = tempfile::tempdir_in("/dev/shm")?;
/// # let directory = directory.path();
/// std::os::unix::fs::symlink("elsewhere", directory.join("link"))?;
/// let error = File::open(directory.join("link")).unwrap_err();
/// assert!(matches!(error, MappedError::IsLink { .. }));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub enum MappedError {
    /// The system refused an operation.
    Failed {
        /// The operation, such as `open`.
        step: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        error: io::Error,
    },
    /// The file system has no memory left for the file: a full tmpfs or disk, or a quota. Or the
    /// process may not make a file so long (`RLIMIT_FSIZE`).
    NoSpace {
        /// The file.
        path: PathBuf,
        /// The number of bytes that were to be claimed.
        bytes: u64,
        /// The system's error.
        error: io::Error,
    },
    /// The path ends at a symbolic link, which is not followed.
    IsLink {
        /// The link.
        path: PathBuf,
    },
    /// The path leads to a directory, a device, a socket or a pipe.
    NotRegular {
        /// The path.
        path: PathBuf,
    },
    /// The file belongs to another user, which could cut it off under the program.
    ForeignOwner {
        /// The file.
        path: PathBuf,
        /// The number of the file's user.
        owner: u32,
        /// The number of this process's user.
        user: u32,
    },
    /// The mode lets other users write to the file.
    OthersMayWrite {
        /// The file.
        path: PathBuf,
        /// The lowest nine bits of its mode.
        mode: u32,
    },
    /// The file system is neither tmpfs nor ext4.
    UnfitFileSystem {
        /// The file.
        path: PathBuf,
        /// The number of its file system, as `statfs(2)` returns it.
        found: u64,
    },
    /// The file is none of windrow's.
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// The file has a version of the layout that this library does not know.
    OtherVersion {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
        /// The version that this library reads and writes.
        known: u32,
    },
    /// The file is shorter than its header says, or than a header.
    CutOff {
        /// The file.
        path: PathBuf,
        /// The length of the file, in bytes.
        length: u64,
        /// The least length that it should have, in bytes.
        expected: u64,
    },
    /// The file has a value that this version never writes.
    Damaged {
        /// The file.
        path: PathBuf,
        /// The place of the value, in bytes from the beginning.
        offset: u64,
        /// The value.
        value: u64,
        /// The rule for it.
        rule: &'static str,
    },
    /// The metrics of the file have more cells than a reader reads of a file that does not have the
    /// memory for them.
    TooSparse {
        /// The file.
        path: PathBuf,
        /// The bytes of the cells, by whole pages.
        bytes: u64,
        /// The greatest number of bytes that are read: 1 GiB, or the file's memory if that is more.
        most: u64,
    },
    /// Another process holds the lock of the names for too long: it was stopped while it
    /// registered, or it has forked in this moment and died.
    LockedTooLong {
        /// The file.
        path: PathBuf,
        /// The time for which this process has waited.
        waited: Duration,
    },
    /// The program has closed the descriptor of the file, and it may be that of another file by
    /// now: many programs close all descriptors in a forked child.
    LostDescriptor {
        /// The file.
        path: PathBuf,
    },
    /// The name, or a label, breaks a rule.
    BadName {
        /// The name, or a label's name or value.
        text: String,
        /// The rule.
        rule: &'static str,
    },
    /// The name is registered as a metric of another kind, or as a histogram with another scale.
    OtherKind {
        /// The name.
        name: String,
        /// The kind of which it is; `None` if this version does not know it.
        found: Option<Kind>,
        /// The kind of which it was to be.
        wanted: Kind,
    },
    /// A part of the file has no place left.
    Full {
        /// The name that was to be registered.
        name: String,
        /// The part: `names`, `bytes for names`, `columns`, `words for gauges` or `paces`.
        part: &'static str,
        /// The maximum.
        most: u32,
    },
    /// Each owner's slot belongs to a process that lives, so this process has no place for the
    /// values of its gauges.
    OwnersFull {
        /// The file.
        path: PathBuf,
        /// The number of slots.
        owners: u32,
    },
    /// A pace cannot have these terms.
    BadTerms {
        /// The rule, with the value.
        error: LimitError,
    },
    /// The limits are registered with other terms, or in another number.
    OtherTerms {
        /// The name.
        name: String,
        /// The period and the burst of each limit in the file.
        found: Vec<(Duration, u64)>,
        /// Those that it was to have.
        wanted: Vec<(Duration, u64)>,
    },
    /// The processor exchanges no sixteen bytes at once, which several limits need. All of x86-64
    /// do since about 2006, and all of arm64.
    NoWideExchange {
        /// The name.
        name: String,
    },
    /// The monotonic clock of this process is set off from the machine's by its time namespace.
    ShiftedClock {
        /// The difference, in nanoseconds.
        nanoseconds: i128,
    },
    /// The process cannot find out whether its monotonic clock is the machine's.
    UnknownClock {
        /// The reason.
        reason: &'static str,
    },
    /// A setting of the builder is out of its range.
    BadSetting {
        /// The name of the setting.
        setting: &'static str,
        /// The value.
        value: u64,
        /// The least value that it can have.
        min: u64,
        /// The greatest value that it can have.
        max: u64,
    },
}

impl MappedError {
    /// Returns the error of a step with a file.
    pub(crate) fn failed(
        step: &'static str,
        path: &Path,
    ) -> impl Fn(io::Error) -> MappedError + Copy {
        move |error| MappedError::Failed { step, path: path.to_owned(), error }
    }

    /// Returns the error of a value at a place.
    pub(crate) fn damaged(path: &Path, offset: u64, value: u64, rule: &'static str) -> MappedError {
        MappedError::Damaged { path: path.to_owned(), offset, value, rule }
    }
}

impl Error for MappedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            MappedError::Failed { error, .. } | MappedError::NoSpace { error, .. } => Some(error),
            MappedError::BadTerms { error } => Some(error),
            _ => None,
        }
    }
}

impl From<LimitError> for MappedError {
    fn from(error: LimitError) -> MappedError {
        MappedError::BadTerms { error }
    }
}
