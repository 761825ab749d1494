//! Opening a file, and the checks of the users that could change it.
//!
//! A user that may write to a file may also cut it off, and then a process that has it mapped is
//! killed by SIGBUS. So a file is mapped only if no other user may do that: it belongs to this
//! process's user, and its mode lets no other user write. No process can cut off a sealed file.
//!
//! A path that ends at a link is refused: a name in a folder that all users may write to, as
//! `/dev/shm`, could be a link to a file of this user that is for something else.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

use rustix::fs::{SealFlags, fcntl_add_seals, fcntl_get_seals, fstatfs};
use rustix::process::geteuid;

use crate::error::MappedError;

/// The seals of a file whose length no process can change.
const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

/// Opens a file for reading, or for both.
pub(crate) fn open(path: &Path, write: bool) -> Result<File, MappedError> {
    let mut options = OpenOptions::new();
    // Not blocking: a pipe would wait for its other end.
    options.read(true).write(write).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK);
    options.open(path).map_err(|error| match error.raw_os_error() {
        Some(libc::ELOOP) => MappedError::IsLink { path: path.to_owned() },
        Some(libc::EISDIR | libc::ENXIO) => MappedError::NotRegular { path: path.to_owned() },
        _ => MappedError::failed("open", path)(error),
    })
}

/// Returns the length of a file, which must be a regular one.
pub(crate) fn length(file: &File, path: &Path) -> Result<u64, MappedError> {
    Ok(regular(file, path)?.len())
}

/// Checks that no other user can cut the file off. Returns its length.
pub(crate) fn check_owner(file: &File, path: &Path) -> Result<u64, MappedError> {
    let found = regular(file, path)?;
    if is_sealed(file) {
        return Ok(found.len());
    }
    let user = geteuid().as_raw();
    if found.uid() != user {
        return Err(MappedError::ForeignOwner { path: path.to_owned(), owner: found.uid(), user });
    }
    if found.mode() & 0o022 != 0 {
        let mode = found.mode() & 0o777;
        return Err(MappedError::OthersMayWrite { path: path.to_owned(), mode });
    }
    Ok(found.len())
}

/// Checks that the file is on a file system of one kernel, on which claimed memory stays claimed.
///
/// Two machines that share a file system over the network, or a host and its virtual machine, each
/// have a copy of the pages and processors of the same numbers. Btrfs writes changed pages to new
/// places, and xfs those that the file shares with a copy of it. So a claim does not hold there: a
/// full disk would be a signal.
pub(crate) fn check_file_system(file: &File, path: &Path) -> Result<(), MappedError> {
    let found =
        fstatfs(file).map_err(|error| MappedError::failed("inspect", path)(error.into()))?;
    // The type of the number differs between C libraries; the number has 32 bits.
    #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss)]
    let found = found.f_type as u64 & 0xffff_ffff;
    if is_fit(found) {
        Ok(())
    } else {
        Err(MappedError::UnfitFileSystem { path: path.to_owned(), found })
    }
}

/// Returns whether files may be on a file system with this number: tmpfs or ext4.
fn is_fit(found: u64) -> bool {
    matches!(found, 0x0102_1994 | 0xef53)
}

/// Seals a file of memory, so that no process can change its length, or take the seals off.
pub(crate) fn seal(file: &File, path: &Path) -> Result<(), MappedError> {
    let sealed = fcntl_add_seals(file, SEALS);
    sealed.map_err(|error| MappedError::failed("seal", path)(error.into()))
}

/// Returns whether no process can change the file's length.
fn is_sealed(file: &File) -> bool {
    // (An error where the file cannot have seals.)
    fcntl_get_seals(file).is_ok_and(|seals| seals.contains(SEALS))
}

fn regular(file: &File, path: &Path) -> Result<fs::Metadata, MappedError> {
    match file.metadata() {
        Ok(found) if found.is_file() => Ok(found),
        Ok(_) => Err(MappedError::NotRegular { path: path.to_owned() }),
        Err(error) => Err(MappedError::failed("inspect", path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_systems_whose_copies_share_pages_are_unfit() {
        assert!(is_fit(0x0102_1994) && is_fit(0xef53));
        let [btrfs, xfs] = [0x9123_683e, 0x5846_5342];
        assert!(!is_fit(btrfs) && !is_fit(xfs));
    }
}
