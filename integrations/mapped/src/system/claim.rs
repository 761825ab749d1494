//! Claiming memory for a part of a file before it is used.
//!
//! A page of a mapped file gets its memory at the first write, and where there is none, the process
//! is killed by SIGBUS. `fallocate` gives a page its memory before, or an error.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::path::Path;

use crate::error::MappedError;
use crate::failpoint;

/// Claims memory for a part of a file.
///
/// (`posix_fallocate` writes into the file where the file system cannot claim: that could lose
/// adds.)
pub(crate) fn claim(file: &File, path: &Path, from: u64, bytes: u64) -> Result<(), MappedError> {
    let refused = |error| refused("claim memory for", path, bytes, error);
    if failpoint::is_full() {
        return Err(refused(io::Error::from_raw_os_error(libc::ENOSPC)));
    }
    // A file has at most 2^42 bytes.
    let [from, bytes] = [from, bytes].map(|number| number.cast_signed() as libc::off_t);
    loop {
        // SAFETY: the descriptor is open. No mode: the length grows, if it has to, and no byte
        // changes.
        if unsafe { libc::fallocate(file.as_raw_fd(), 0, from, bytes) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(refused(error));
        }
    }
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
