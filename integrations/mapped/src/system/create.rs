//! Creating a file, which is whole before it has a name.

use std::ffi::CString;
use std::fs::{File, OpenOptions, Permissions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

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

/// Creates a file. Returns false if the path has led to another one meanwhile.
///
/// The file has no name until it is whole, so no name ever leads to half a header. If the process
/// is killed before it is linked, the kernel frees it.
pub(crate) fn create(path: &Path, header: Header) -> Result<bool, MappedError> {
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
    let linked = link(&file, path);
    failpoint::reach(Point::Linked);
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(failed("give its name to", error)),
    }
}

/// Creates a file of memory, which has no name, and whose length no process can change.
pub(crate) fn create_sealed(header: Header) -> Result<File, MappedError> {
    let path = Path::new(SEALED);
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name ends with a zero.
    let descriptor = unsafe { libc::memfd_create(c"windrow".as_ptr(), flags) };
    if descriptor < 0 {
        return Err(MappedError::failed("create", path)(io::Error::last_os_error()));
    }
    // SAFETY: it was opened above, and nothing else has it.
    let file = unsafe { File::from_raw_fd(descriptor) };
    write(&file, path, header)?;
    seal(&file, path)?;
    Ok(file)
}

fn write(file: &File, path: &Path, header: Header) -> Result<(), MappedError> {
    let failed = |step, error| refused(step, path, PAGE, error);
    let length = header.shape.length();
    if length > longest().map_err(|error| failed("set the length of", error))? {
        let error = io::Error::from_raw_os_error(libc::EFBIG);
        return Err(refused("set the length of", path, length, error));
    }
    file.set_len(length).map_err(|error| failed("set the length of", error))?;
    claim(file, path, 0, PAGE)?;
    file.write_all_at(&header.bytes(), 0).map_err(|error| failed("write the header of", error))
}

/// Returns the length to which this process may extend a file. To go beyond it would be a signal,
/// SIGXFSZ, before it is an error.
fn longest() -> io::Result<u64> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: it writes to the local.
    if unsafe { libc::getrlimit(libc::RLIMIT_FSIZE, &raw mut limit) } == 0 {
        Ok(limit.rlim_cur) // the greatest number, if there is no limit
    } else {
        Err(io::Error::last_os_error())
    }
}

/// Gives an unnamed file its name.
fn link(file: &File, path: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(path.as_os_str().as_bytes())?;
    let here = libc::AT_FDCWD;
    // SAFETY: both names end with a zero. (The first one is a link to the file: it is followed.)
    let result =
        unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), libc::AT_SYMLINK_FOLLOW) };
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
