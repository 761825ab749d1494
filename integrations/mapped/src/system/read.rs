//! Reading a file by `pread(2)`, which no other process can turn into a signal.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::MappedError;
use crate::layout::header::{BYTES, Header};

/// Reads and checks the header of a file of this length.
pub(crate) fn header(file: &File, path: &Path, length: u64) -> Result<Header, MappedError> {
    let mut bytes = [0; BYTES];
    let read = up_to(file, path, 0, &mut bytes)?;
    Header::parse(&bytes[..read], length, path)
}

/// Fills `into` from a place of the file. An error if the file ends before.
pub(crate) fn exactly(
    file: &File,
    path: &Path,
    place: u64,
    into: &mut [u8],
) -> Result<(), MappedError> {
    let expected = place + into.len() as u64;
    match up_to(file, path, place, into)? {
        read if read == into.len() => Ok(()),
        read => {
            let length = place + read as u64;
            Err(MappedError::CutOff { path: path.to_owned(), length, expected })
        }
    }
}

/// Reads into `into` until it is full or the file ends, and returns the number of bytes read.
fn up_to(file: &File, path: &Path, place: u64, into: &mut [u8]) -> Result<usize, MappedError> {
    let mut done = 0;
    while done < into.len() {
        match file.read_at(&mut into[done..], place + done as u64) {
            Ok(0) => break,
            Ok(read) => done += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(MappedError::failed("read", path)(error)),
        }
    }
    Ok(done)
}
