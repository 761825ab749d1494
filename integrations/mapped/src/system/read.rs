//! Reading a file by `pread(2)`, which no other process can turn into a signal.

use std::fs::File;
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::path::Path;

use crate::error::MappedError;
use crate::layout::header::{BYTES, Header};

/// Reads and checks the header of a file of this length.
pub(crate) fn header(file: &File, path: &Path, length: u64) -> Result<Header, MappedError> {
    let mut bytes = [0; BYTES];
    let bytes = &mut bytes[..BYTES.min(length as usize)];
    exactly(file, path, 0, bytes)?;
    Header::parse(bytes, length, path)
}

/// Fills `into` from a place of the file. An error if the file ends before.
pub(crate) fn exactly(
    file: &File,
    path: &Path,
    place: u64,
    into: &mut [u8],
) -> Result<(), MappedError> {
    file.read_exact_at(into, place).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => MappedError::CutOff {
            path: path.to_owned(),
            length: file.metadata().map_or(0, |found| found.len()),
            expected: place + into.len() as u64,
        },
        _ => MappedError::failed("read", path)(error),
    })
}
