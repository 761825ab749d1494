//! Finding the place in a file from which to read.

use std::io::{self, BufRead, Seek, SeekFrom};

use crate::format::Kinds;
use crate::lines;
use crate::wall::Wall;

/// The length of a stretch that is read line by line.
const SHORT: u64 = 4096;

/// The number of bytes after which a search ends where it is: long lines, and lines without a time,
/// are passed over.
const MOST: u64 = 1 << 20;

/// Returns two offsets in a file, by which a range is found. They are some thousand bytes apart, or
/// more if the search has ended early.
///
/// - The lower one is at the beginning of a line: directly behind a line that ended at or before
///   `bound`, or else at `first`, where the second line begins.
/// - No line begins behind the higher one that ended one slack before `bound`, or earlier: it moves
///   ahead of a line that ended later, or over a stretch in which no line begins that has a time.
///
/// Lines are nearly in order (see [`order`](crate::order)). So if `bound` is one slack before a
/// range, all lines ahead of the lower one ended before the range. The search goes on behind it,
/// and otherwise before the place where it looked. It reads some lines for each halving of the
/// file. If `bound` is one slack after a range, the lines of the range begin at the higher one or
/// before it.
pub(crate) fn search(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    (first, length): (u64, u64),
    bound: Wall,
) -> io::Result<(u64, u64)> {
    let (mut low, mut high, mut left) = (first, length, MOST);
    while high.saturating_sub(low) > SHORT && left > 0 {
        let middle = low + (high - low) / 2;
        match line_behind(file, kind, (middle, high, length), &mut left)? {
            Behind::Line { behind, end } if end <= bound => low = behind,
            Behind::Line { .. } | Behind::Nothing => high = middle,
            Behind::Unknown => break,
        }
    }
    Ok((low, high))
}

/// The result of a look behind a place.
enum Behind {
    /// A line: the offset behind it, and its time.
    Line { behind: u64, end: Wall },
    /// No line that has a time.
    Nothing,
    /// More than may be read.
    Unknown,
}

/// Finds the first line with a time that begins behind `middle`, and before `high`. It takes the
/// bytes that it reads off `left`.
fn line_behind(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    (middle, high, length): (u64, u64, u64),
    left: &mut u64,
) -> io::Result<Behind> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(middle))?;
    let mut bytes = lines::next(file, &mut line, (high - middle).min(*left))?.bytes;
    let mut at = middle;
    loop {
        at += bytes;
        *left = left.saturating_sub(bytes);
        if at >= high || bytes == 0 {
            return Ok(Behind::Nothing);
        }
        if *left == 0 {
            return Ok(Behind::Unknown);
        }
        // It may end behind `high`.
        bytes = lines::next(file, &mut line, (length - at).min(*left))?.bytes;
        let Some(whole) = line.strip_suffix(b"\n") else { continue };
        if let Some(decoded) = kind.decode(whole) {
            return Ok(Behind::Line { behind: at + bytes, end: decoded.end });
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use std::io::{BufReader, Cursor, Read};

    use super::*;

    /// A file that counts the bytes that are read.
    pub(crate) struct Counted(pub(crate) Cursor<Vec<u8>>, pub(crate) u64);

    impl Read for Counted {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let read = self.0.read(into)?;
            self.1 += read as u64;
            Ok(read)
        }
    }

    impl Seek for Counted {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn what_has_no_time_costs_little() {
        for text in ["x".repeat(8 << 20), "x\n".repeat(4 << 20), "{\"a\":1}\n".repeat(1 << 20)] {
            let length = text.len() as u64;
            let mut file = BufReader::new(Counted(Cursor::new(text.into_bytes()), 0));
            let bounds = search(&mut file, Kinds::Json, (0, length), Wall(0)).unwrap();
            assert_eq!(bounds.0, 0);
            assert!(file.get_ref().1 < 2 * MOST, "{}", file.get_ref().1);
        }
    }
}
