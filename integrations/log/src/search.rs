//! Finding where to begin to read in a file.

use std::io::{self, BufRead, Seek, SeekFrom};

use crate::format::{Kinds, SLACK};
use crate::wall::Wall;

/// A stretch that is short enough to be read line by line.
const SHORT: u64 = 4096;

/// An offset in a file, at the beginning of a line, before which no line begins at `from` or later; `first` is that of its
/// second line.
///
/// Lines are nearly in order: each begins at most [`SLACK`] before any before it. So behind a line that begins more than that before
/// `from`, and nowhere else, it is certain that all before it begin earlier. The search goes on behind such a line,
/// and otherwise before the place where it looked. It reads some lines for each halving of the file.
pub(crate) fn lower_bound(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    (first, length): (u64, u64),
    from: Wall,
) -> io::Result<u64> {
    let bound = from.minus(SLACK);
    let (mut low, mut high) = (first, length);
    while high.saturating_sub(low) > SHORT {
        let middle = low + (high - low) / 2;
        match line_behind(file, kind, middle, high)? {
            Some((end, key)) if key < bound => low = end,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// The first line with a time that begins behind `middle` and before `high`: where it ends, and its time.
fn line_behind(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    middle: u64,
    high: u64,
) -> io::Result<Option<(u64, Wall)>> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(middle))?;
    let mut at = middle + file.read_until(b'\n', &mut line)? as u64;
    while at < high {
        line.clear();
        at += file.read_until(b'\n', &mut line)? as u64;
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        if let Some(decoded) = kind.decode(whole) {
            return Ok(Some((at, decoded.key)));
        }
    }
    Ok(None)
}
