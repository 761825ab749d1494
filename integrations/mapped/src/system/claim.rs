//! Claiming memory for a part of a file before it is used.
//!
//! A page of a mapped file gets its memory at the first write, and where there is none, the process
//! is killed by SIGBUS. `fallocate` gives a page its memory before, or an error.

use std::fs::File;
use std::io;
use std::path::Path;

use rustix::fs::{FallocateFlags, fallocate};
use rustix::io::{Errno, retry_on_intr};

use crate::error::MappedError;
use crate::failpoint;

/// Claims memory for a part of a file.
///
/// (`posix_fallocate` writes into the file where the file system cannot claim: that could lose
/// adds.)
pub(crate) fn claim(file: &File, path: &Path, from: u64, bytes: u64) -> Result<(), MappedError> {
    let claimed = if failpoint::is_full() {
        Err(Errno::NOSPC)
    } else {
        // No mode: the length grows, if it has to, and no byte changes.
        retry_on_intr(|| fallocate(file, FallocateFlags::empty(), from, bytes))
    };
    claimed.map_err(|error| refused("claim memory for", path, bytes, error.into()))
}

/// Returns the error of an operation that needs this number of bytes of the file system.
pub(crate) fn refused(
    step: &'static str,
    path: &Path,
    bytes: u64,
    error: io::Error,
) -> MappedError {
    let path = path.to_owned();
    match error.raw_os_error() {
        Some(libc::ENOSPC | libc::EDQUOT | libc::EFBIG | libc::ENOMEM) => {
            MappedError::NoSpace { path, bytes, error }
        }
        _ => MappedError::Failed { step, path, error },
    }
}
