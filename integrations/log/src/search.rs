//! Finding the place in a file from which to read.

use std::io::{self, BufRead, Seek, SeekFrom};

use crate::format::Kinds;
use crate::lines;
use crate::wall::Wall;

/// The length of a stretch that is read line by line.
const SHORT: u64 = 4096;

/// Returns an offset in a file, at the beginning of a line: directly behind a line that ended at or
/// before `bound`, or else `first`, where the second line begins.
///
/// Lines are nearly in order (see [`order`](crate::order)). So if `bound` is one slack before a
/// range, all lines ahead of such a line ended before the range. The search goes on behind it, and
/// otherwise before the place where it looked. It reads some lines for each halving of the file.
pub(crate) fn lower_bound(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    (first, length): (u64, u64),
    bound: Wall,
) -> io::Result<u64> {
    let (mut low, mut high) = (first, length);
    while high.saturating_sub(low) > SHORT {
        let middle = low + (high - low) / 2;
        match line_behind(file, kind, middle, high)? {
            Some((behind, end)) if end <= bound => low = behind,
            _ => high = middle,
        }
    }
    Ok(low)
}

/// Returns an offset in a file: all lines that ended one slack before `bound`, or earlier, begin at
/// it or before it. So if `bound` is one slack after a range, its lines do.
pub(crate) fn upper_bound(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    (first, length): (u64, u64),
    bound: Wall,
) -> io::Result<u64> {
    // The search has ended within this distance of a line that ended later than `bound`.
    lower_bound(file, kind, (first, length), bound).map(|low| low.saturating_add(SHORT))
}

/// Returns the first line with a time that begins behind `middle`, and ends before `high`: the
/// offset behind it, and its time.
fn line_behind(
    file: &mut (impl BufRead + Seek),
    kind: Kinds,
    middle: u64,
    high: u64,
) -> io::Result<Option<(u64, Wall)>> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(middle))?;
    let mut at = middle + lines::next(file, &mut line, high - middle)?.bytes;
    while at < high {
        at += lines::next(file, &mut line, high - at)?.bytes;
        let Some(whole) = line.strip_suffix(b"\n") else { break };
        if let Some(decoded) = kind.decode(whole) {
            return Ok(Some((at, decoded.end)));
        }
    }
    Ok(None)
}
