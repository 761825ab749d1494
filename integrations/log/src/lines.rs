//! Reading lines that others may have written: of a bounded length.

use std::io::{self, BufRead, Read};

/// The greatest length of a line in bytes, with its newline. A log writes no longer line.
pub(crate) const LONGEST: usize = 16 << 20;

/// The line that [`next`] has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Taken {
    /// The number of bytes read, including those that were passed over.
    pub(crate) bytes: u64,
    /// True if the line has its newline.
    pub(crate) is_ended: bool,
    /// True if the line is longer than [`LONGEST`]. Then it was passed over, and is not in the
    /// buffer.
    pub(crate) is_too_long: bool,
}

/// Reads a line, with its newline if there is one, and at most `limit` bytes. At the end, no bytes
/// are read.
pub(crate) fn next(reader: &mut impl BufRead, line: &mut Vec<u8>, limit: u64) -> io::Result<Taken> {
    let (mut bytes, mut is_too_long) = (0, false);
    loop {
        line.clear();
        let most = (limit - bytes).min(LONGEST as u64);
        let more = reader.by_ref().take(most).read_until(b'\n', line)? as u64;
        bytes += more;
        let is_ended = line.last() == Some(&b'\n');
        if is_ended || more < most || bytes == limit {
            if is_too_long {
                line.clear();
            }
            return Ok(Taken { bytes, is_ended, is_too_long });
        }
        is_too_long = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_is_passed_over_and_the_next_is_read() {
        for (length, is_too_long) in [(LONGEST - 1, false), (LONGEST, true), (3 * LONGEST, true)] {
            let text = [&b"a\n"[..], &vec![b'x'; length], b"\nb\nc"].concat();
            let (mut reader, mut line) = (&text[..], Vec::new());
            let mut found = Vec::new();
            loop {
                let taken = next(&mut reader, &mut line, u64::MAX).unwrap();
                if taken.bytes == 0 {
                    break;
                }
                assert!(line.len() as u64 == taken.bytes || taken.is_too_long);
                found.push((taken.is_too_long, line.len().min(2)));
            }
            let long = (is_too_long, if is_too_long { 0 } else { 2 });
            assert_eq!(found, [(false, 2), long, (false, 2), (false, 1)], "{length}");
        }
    }
}
