//! The lines of a log, which may hold any bytes.

use std::borrow::Cow;
use std::io::{self, BufRead, Read};

/// The longest line that is kept; the rest of a longer one is skipped.
const LONGEST: usize = 64 * 1024;

/// Reads lines into one buffer.
pub(crate) struct Lines<R> {
    log: R,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn of(log: R) -> Lines<R> {
        Lines { log, buffer: Vec::new() }
    }

    /// Returns the next line without its end; bytes that are not UTF-8 are replaced.
    pub(crate) fn next(&mut self) -> io::Result<Option<Cow<'_, str>>> {
        self.buffer.clear();
        let mut limited = self.log.by_ref().take(LONGEST as u64);
        if limited.read_until(b'\n', &mut self.buffer)? == 0 {
            return Ok(None);
        }
        if self.buffer.ends_with(b"\n") {
            self.buffer.pop();
        } else if self.buffer.len() == LONGEST {
            self.log.skip_until(b'\n')?;
        }
        Ok(Some(String::from_utf8_lossy(&self.buffer)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(log: &[u8]) -> Vec<String> {
        let mut lines = Lines::of(log);
        let mut all = Vec::new();
        while let Some(line) = lines.next().unwrap() {
            all.push(line.into_owned());
        }
        all
    }

    #[test]
    fn lines_of_any_bytes() {
        assert!(all(b"").is_empty());
        assert_eq!(all(b"a\n\nb"), ["a", "", "b"]);
        assert_eq!(all(b"a\xffb\n"), ["a\u{fffd}b"]);
    }

    #[test]
    fn a_line_too_long_is_cut_and_the_next_is_whole() {
        for extra in [0, 1, 100_000] {
            let mut log = vec![b'x'; LONGEST + extra];
            log.extend(b"\nnext\n");
            let lines = all(&log);
            assert_eq!(lines.len(), 2);
            assert_eq!((lines[0].len(), lines[1].as_str()), (LONGEST, "next"));
        }
    }
}
