//! The error of a mapped file, which names the value and the rule that it broke.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use windrow::LimitError;
use windrow::histogram::Scale;

use crate::kind::Kind;
use crate::name_error::NameError;

mod message;
mod step;

pub use step::Step;

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
        /// The operation.
        step: Step,
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
    /// The file has a version of the layout that is older than this library knows.
    Older {
        /// The file.
        path: PathBuf,
        /// The version of the file.
        found: u32,
        /// The version that this library reads and writes.
        known: u32,
    },
    /// The file has a version of the layout that is newer than this library knows.
    Newer {
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
        /// The rule, with the text.
        error: NameError,
    },
    /// The name is registered as a metric of another kind.
    OtherKind {
        /// The name.
        name: String,
        /// The number of the kind of which it is, as in the file.
        found: u8,
        /// The kind of which it was to be.
        wanted: Kind,
    },
    /// The name is registered as a histogram with another scale.
    OtherScale {
        /// The name.
        name: String,
        /// The scale that it has.
        found: Scale,
        /// The scale that it was to have.
        wanted: Scale,
    },
    /// The file has the greatest number of names that a file can have.
    TooManyNames {
        /// The name that was to be registered.
        name: String,
        /// The maximum.
        most: u32,
    },
    /// The part of the file for names is full.
    NamesFull {
        /// The name that was to be registered.
        name: String,
        /// The length of that part, in bytes.
        bytes: u32,
    },
    /// All columns of the file are in use.
    ColumnsFull {
        /// The name that was to be registered.
        name: String,
        /// The number of columns of the file.
        columns: u32,
    },
    /// All words of the owners' slots are in use: the file has no place for one more gauge.
    GaugesFull {
        /// The name that was to be registered.
        name: String,
        /// The number of words of a slot.
        gauges: u32,
    },
    /// Each owner's slot belongs to a process that lives, so this process has no place for the
    /// values of its gauges.
    OwnersFull {
        /// The file.
        path: PathBuf,
        /// The number of slots.
        owners: u32,
    },
    /// The file has the greatest number of paces that a file can have.
    PacesFull {
        /// The name that was to be registered.
        name: String,
        /// The maximum.
        most: u32,
    },
    /// A pace cannot have these terms.
    BadTerms {
        /// The rule, with the value.
        error: LimitError,
    },
    /// The pace is registered with other terms.
    OtherTerms {
        /// The name.
        name: String,
        /// The period and the burst of the pace in the file.
        found: (Duration, u64),
        /// Those that it was to have.
        wanted: (Duration, u64),
    },
    /// The limits are registered as others: in another number.
    OtherLimits {
        /// The name.
        name: String,
        /// The number of limits in the file.
        found: u64,
        /// The number that it was to have.
        wanted: u64,
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
    pub(crate) fn failed(step: Step, path: &Path) -> impl Fn(io::Error) -> MappedError + Copy {
        move |error| MappedError::Failed { step, path: path.to_owned(), error }
    }
}

impl Error for MappedError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            MappedError::Failed { error, .. } | MappedError::NoSpace { error, .. } => Some(error),
            MappedError::BadName { error } => Some(error),
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

impl From<NameError> for MappedError {
    fn from(error: NameError) -> MappedError {
        MappedError::BadName { error }
    }
}
