//! Creating a file, which is whole before it has a name.

use std::fs::{File, OpenOptions, Permissions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, MemfdFlags, linkat, memfd_create};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::claim::{claim, refused};
use super::open::{check_file_system, seal};
use crate::error::MappedError;
use crate::failpoint::{self, Point};
use crate::layout::PAGE;
use crate::layout::header::Header;

/// The name that errors have for a file of memory.
pub(crate) const SEALED: &str = "(a sealed file of memory)";

/// The rights of the file: to its user alone.
const MODE: u32 = 0o600;

/// Creates a file, unless the path has led to another one meanwhile.
///
/// The file has no name until it is whole, so no name ever leads to half a header. If the process
/// is killed before it is linked, the kernel frees it.
pub(crate) fn create(path: &Path, header: Header) -> Result<(), MappedError> {
    // What may be missing is an inode, or a place in the folder.
    let failed = |step, error| refused(step, path, PAGE, error);
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    // As a path: a folder may be written to without the right to list it.
    let opened =
        OpenOptions::new().read(true).custom_flags(libc::O_PATH | libc::O_DIRECTORY).open(folder);
    let opened = opened.map_err(|error| failed("create", error))?;
    check_file_system(&opened, path)?;
    let mut options = OpenOptions::new();
    options.read(true).write(true).custom_flags(libc::O_TMPFILE).mode(MODE);
    let file = options.open(folder).map_err(|error| failed("create", error))?;
    write(&file, path, header)?;
    // The mask of the process may have taken rights away.
    let mode = Permissions::from_mode(MODE);
    file.set_permissions(mode).map_err(|error| failed("create", error))?;
    failpoint::reach(Point::Created);
    let unnamed = format!("/proc/self/fd/{}", file.as_raw_fd()); // a link, which is followed
    let linked = linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW);
    failpoint::reach(Point::Linked);
    match linked {
        Ok(()) | Err(Errno::EXIST) => Ok(()),
        Err(error) => Err(failed("give its name to", error.into())),
    }
}

/// Creates a file of memory, which has no name, and whose length no process can change.
pub(crate) fn create_sealed(header: Header) -> Result<File, MappedError> {
    let path = Path::new(SEALED);
    let created = memfd_create("windrow", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING);
    let failed = MappedError::failed("create", path);
    let file = File::from(created.map_err(|error| failed(error.into()))?);
    write(&file, path, header)?;
    seal(&file, path)?;
    Ok(file)
}

fn write(file: &File, path: &Path, header: Header) -> Result<(), MappedError> {
    let failed = |step, error| refused(step, path, PAGE, error);
    let length = header.shape.length();
    // To extend a file beyond this would be a signal, SIGXFSZ, before it is an error.
    if getrlimit(Resource::Fsize).current.is_some_and(|longest| length > longest) {
        return Err(refused("set the length of", path, length, Errno::FBIG.into()));
    }
    file.set_len(length).map_err(|error| failed("set the length of", error))?;
    claim(file, path, 0, PAGE)?;
    file.write_all_at(&header.bytes(), 0).map_err(|error| failed("write the header of", error))
}
