//! The header of a file: the first 128 bytes.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 8 | `windrowM` |
//! | 8 | 4 | version, 1 |
//! | 12 | 4 | unit of the parts, 4096 |
//! | 16 | 4 | plain rows |
//! | 20 | 4 | locked rows |
//! | 24 | 4 | columns |
//! | 28 | 4 | bytes of the table |
//! | 32 | 8 | length of the file |
//! | 40 | 4 | owners: slots for the gauges of a process |
//! | 44 | 4 | words of a slot for gauges |
//! | 48 | 16 | boot id of the kernel under which it was created; zero: not known |
//! | 64 | 8 | end: bytes of the table that are in use (low half), columns in use (high half) |
//! | 72 | 56 | zero |

use std::path::Path;

use super::{PAGE, Shape};
use crate::error::MappedError;

/// The length of a header, in bytes.
pub(crate) const BYTES: usize = 128;

/// The place of the [`End`].
pub(crate) const END: u64 = 64;

const MAGIC: u64 = u64::from_le_bytes(*b"windrowM");
const VERSION: u32 = 1;

/// The contents of a header that never change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) shape: Shape,
    /// The boot id; zero if it was not known.
    pub(crate) boot: u128,
}

impl Header {
    /// Returns the header's bytes, in a file without names.
    pub(crate) fn bytes(self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
        put(0, &MAGIC.to_le_bytes());
        let Shape { plain, locked, columns, table, owners, gauges } = self.shape;
        let numbers = [VERSION, PAGE as u32, plain, locked, columns, table];
        for (at, number) in (8..).step_by(4).zip(numbers) {
            put(at, &number.to_le_bytes());
        }
        put(32, &self.shape.length().to_le_bytes());
        put(40, &owners.to_le_bytes());
        put(44, &gauges.to_le_bytes());
        put(48, &self.boot.to_le_bytes());
        bytes
    }

    /// Reads and checks a header. `read` are the bytes that the file has of it, and `length` is the
    /// file's length.
    pub(crate) fn parse(read: &[u8], length: u64, path: &Path) -> Result<Header, MappedError> {
        let cut_off =
            |expected| Err(MappedError::CutOff { path: path.to_owned(), length, expected });
        if read.len() >= 8 && long(read, 0) != MAGIC {
            return Err(MappedError::Foreign { path: path.to_owned() });
        }
        let Some(bytes) = read.first_chunk::<BYTES>() else {
            return cut_off(BYTES as u64);
        };
        let found = word(bytes, 8);
        if found != VERSION {
            return Err(MappedError::OtherVersion { path: path.to_owned(), found, known: VERSION });
        }
        let damaged = |offset, value, rule| Err(MappedError::damaged(path, offset, value, rule));
        let unit = word(bytes, 12).into();
        if unit != PAGE {
            return damaged(12, unit, "the unit of the parts must be 4096");
        }
        let [plain, locked, columns, table, owners, gauges] =
            [16, 20, 24, 28, 40, 44].map(|at| word(bytes, at));
        let shape = Shape { plain, locked, columns, table, owners, gauges };
        if !shape.is_possible() {
            let rule = "rows, columns, table and slots must be within their limits";
            return damaged(16, plain.into(), rule);
        }
        let expected = shape.length();
        let said = long(bytes, 32);
        if said != expected {
            return damaged(32, said, "the length must be that of the parts");
        }
        if length < expected {
            return cut_off(expected);
        }
        if length > expected {
            return damaged(32, length, "the file must not be longer than its header says");
        }
        let boot = u128::from(long(bytes, 48)) | u128::from(long(bytes, 56)) << 64;
        Ok(Header { shape, boot })
    }
}

/// The word that publishes entries: the bytes and the columns that are in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct End {
    pub(crate) bytes: u32,
    pub(crate) columns: u32,
}

impl End {
    pub(crate) fn of(word: u64) -> End {
        End { bytes: word as u32, columns: (word >> 32) as u32 }
    }

    pub(crate) fn word(self) -> u64 {
        u64::from(self.bytes) | u64::from(self.columns) << 32
    }
}

/// Returns the number of four bytes at a place.
pub(super) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn long(bytes: &[u8], at: usize) -> u64 {
    u64::from(word(bytes, at)) | u64::from(word(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: Header = Header {
        shape: Shape { plain: 2, locked: 4, columns: 512, table: 4096, owners: 64, gauges: 63 },
        boot: 0x0123_4567_89ab_cdef,
    };

    fn parse(bytes: &[u8], length: u64) -> Result<Header, MappedError> {
        Header::parse(bytes, length, Path::new("f"))
    }

    #[test]
    fn a_header_comes_back() {
        let bytes = HEADER.bytes();
        assert_eq!(&bytes[..8], b"windrowM");
        assert_eq!(parse(&bytes, HEADER.shape.length()).unwrap(), HEADER);
    }

    #[test]
    fn each_refusal_has_its_error() {
        let length = HEADER.shape.length();
        let with = |at: usize, byte: u8| {
            let mut bytes = HEADER.bytes();
            bytes[at] = byte;
            parse(&bytes, length).unwrap_err()
        };
        assert!(matches!(with(0, b'W'), MappedError::Foreign { .. }));
        assert!(matches!(with(8, 0), MappedError::OtherVersion { found: 0, known: 1, .. }));
        assert!(matches!(with(8, 2), MappedError::OtherVersion { found: 2, known: 1, .. }));
        assert!(matches!(with(12, 1), MappedError::Damaged { offset: 12, .. }));
        assert!(matches!(with(16, 0), MappedError::Damaged { offset: 16, .. }));
        assert!(matches!(with(16, 3), MappedError::Damaged { offset: 32, .. }));
        assert!(matches!(with(40, 0), MappedError::Damaged { offset: 16, .. }));
        assert!(matches!(with(44, 64), MappedError::Damaged { offset: 16, .. }));
        assert!(matches!(with(41, 1), MappedError::Damaged { offset: 32, .. }));
        assert!(matches!(with(32, 1), MappedError::Damaged { offset: 32, .. }));
        let bytes = HEADER.bytes();
        let short = parse(&bytes, length - 1).unwrap_err();
        assert!(matches!(short, MappedError::CutOff { expected, .. } if expected == length));
        let long = parse(&bytes, length + 1).unwrap_err();
        assert!(matches!(long, MappedError::Damaged { value, .. } if value == length + 1));
        for cut in [0, 7, 127] {
            let error = parse(&bytes[..cut], cut as u64).unwrap_err();
            assert!(matches!(error, MappedError::CutOff { expected: 128, .. }));
        }
        assert!(matches!(parse(b"#!/bin/sh", 9).unwrap_err(), MappedError::Foreign { .. }));
    }
}
