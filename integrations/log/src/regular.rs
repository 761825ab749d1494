//! Opening regular files only: a name in a log's directory may lead to a pipe, which would block
//! the thread that opens it, or by a link to a file of another program.

use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;

/// The error for a path that leads to anything other than a regular file.
#[derive(Debug)]
struct NotRegular(&'static str);

impl Display for NotRegular {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "it is {}; a log's files are regular files", self.0)
    }
}

impl Error for NotRegular {}

fn not_regular(is: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidInput, NotRegular(is))
}

/// Returns whether the error says that [`open`] found anything other than a regular file.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn Error + Send + Sync>::is::<NotRegular>)
}

/// Opens a regular file, by no symbolic link, and without waiting.
#[cfg(unix)]
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    use std::os::unix::fs::{FileTypeExt, OpenOptionsExt};

    use rustix::fs::OFlags;
    use rustix::io::Errno;

    // NONBLOCK changes nothing for a regular file.
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits();
    let file = match options.custom_flags(flags.cast_signed()).open(path) {
        Err(error) => {
            let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
            // FreeBSD reports a symbolic link as EMLINK.
            return Err(match error.kind() {
                _ if is(Errno::LOOP) || is(Errno::MLINK) => not_regular("a symbolic link"),
                ErrorKind::IsADirectory => not_regular("a directory"),
                _ if is(Errno::NXIO) => not_regular("a pipe or a socket"),
                _ => error,
            });
        }
        Ok(file) => file,
    };
    let kind = file.metadata()?.file_type();
    match () {
        () if kind.is_file() => Ok(file),
        () if kind.is_dir() => Err(not_regular("a directory")),
        () if kind.is_fifo() => Err(not_regular("a pipe")),
        () => Err(not_regular("a device")),
    }
}

/// Opens a regular file, by no symbolic link that is there when it looks.
#[cfg(not(unix))]
pub(crate) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    match std::fs::symlink_metadata(path) {
        Ok(there) if !there.is_file() => Err(not_regular("a link, a directory or a device")),
        _ => options.open(path),
    }
}
