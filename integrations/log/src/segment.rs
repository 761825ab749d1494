//! The names of a log's files: `windrow-0000000001.jsonl`. They sort by their numbers, and so in
//! the order in which they were begun.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::format::Kinds;

/// The name of the file that a log locks.
pub(crate) const LOCK: &str = "lock";

/// One file of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Segment {
    pub(crate) number: u64,
    pub(crate) kind: Kinds,
}

impl Segment {
    /// The greatest number of a file: at a billion files a second, a log reaches it after eleven
    /// days.
    pub(crate) const LAST: u64 = 999_999_999_999_999;

    pub(crate) fn path(self, directory: &Path) -> PathBuf {
        directory.join(format!("windrow-{:010}.{}", self.number, self.kind.extension()))
    }

    /// Returns the segment with this file name; `None` if a log makes no file of that name.
    pub(crate) fn of(name: &OsStr) -> Option<Segment> {
        let (digits, extension) = name.to_str()?.strip_prefix("windrow-")?.split_once('.')?;
        let kind = Kinds::ALL.into_iter().find(|kind| kind.extension() == extension)?;
        let number = digits.parse().ok().filter(|number| *number <= Segment::LAST)?;
        // A number has one spelling, so it leads back to its file.
        (digits == format!("{number:010}")).then_some(Segment { number, kind })
    }
}

/// Lists the segments of a directory, the oldest first.
pub(crate) fn list(directory: &Path) -> io::Result<Vec<Segment>> {
    let mut segments = Vec::new();
    for entry in fs::read_dir(directory)? {
        segments.extend(Segment::of(&entry?.file_name()));
    }
    segments.sort_unstable();
    Ok(segments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_sort_as_numbers_do() {
        let name = |number| {
            let path = Segment { number, kind: Kinds::Json }.path(Path::new(""));
            path.to_str().unwrap().to_owned()
        };
        assert_eq!(name(1), "windrow-0000000001.jsonl");
        assert!(name(9) < name(10) && name(99_999) < name(100_000));
        for number in [1, 9_999_999_999, 10_000_000_000, Segment::LAST] {
            let read = Segment::of(OsStr::new(&name(number)));
            assert_eq!(read, Some(Segment { number, kind: Kinds::Json }));
        }
        for other in [
            "lock",
            "windrow-1.jsonl",
            "windrow-0000000001.txt",
            "windrow-+000000001.log",
            "windrow-00000000001.log",
            "windrow-1000000000000000.log",
            "windrow-18446744073709551616.log",
            "windrow-0000000001.log.gz",
        ] {
            assert_eq!(Segment::of(OsStr::new(other)), None, "{other}");
        }
    }
}
