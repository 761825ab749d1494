//! Reading the slack of a file that an earlier run has left, and the latest end of its lines.

use std::io::{self, BufReader};
use std::path::Path;
use std::time::Duration;

use crate::disk::Disk;
use crate::format::Kinds;
use crate::lines;
use crate::wall::Wall;

/// The length of the tail of a file that is read first.
const TAIL: u64 = 64 << 10;

/// The end of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// The latest end of all lines except the first; `None` if there is no other line.
    pub(crate) newest: Option<Wall>,
    /// True if the file ends in a part of a line.
    pub(crate) is_torn: bool,
}

/// Returns the slack that the first line of a file states; `None` if it is not the line of a run.
pub(crate) fn slack<D: Disk>(disk: &D, path: &Path, kind: Kinds) -> io::Result<Option<Duration>> {
    let (mut reader, mut line) = (BufReader::new(disk.read(path, 0)?), Vec::new());
    lines::next(&mut reader, &mut line, TAIL)?;
    let decoded = line.strip_suffix(b"\n").and_then(|line| kind.decode(line));
    Ok(decoded.and_then(|line| line.slack))
}

/// Returns the end of a file with this slack and length. The last lines suffice, unless they leave
/// open whether `started` is in order behind the lines ahead of them.
pub(crate) fn end<D: Disk>(
    disk: &D,
    path: &Path,
    kind: Kinds,
    length: u64,
    (slack, started): (Duration, Wall),
) -> io::Result<End> {
    if length > TAIL
        && let (Some(oldest), end) = scan(disk, path, kind, length - TAIL)?
    {
        // Lines ahead of a line ended at most one slack after it.
        let newest = end.newest.max(Some(oldest.plus(slack)));
        if newest.is_some_and(|newest| newest.since(started) <= slack) {
            return Ok(End { newest, ..end });
        }
    }
    scan(disk, path, kind, 0).map(|(_, end)| end)
}

/// Returns the earliest end of the lines from an offset on, and the end of the file. The first line
/// does not count: it may be incomplete, and the first line of a file is in no order.
fn scan<D: Disk>(disk: &D, path: &Path, kind: Kinds, from: u64) -> io::Result<(Option<Wall>, End)> {
    let (mut reader, mut line) = (BufReader::new(disk.read(path, from)?), Vec::new());
    let (mut oldest, mut newest, mut is_torn) = (None::<Wall>, None, false);
    let mut is_first = true;
    loop {
        let taken = lines::next(&mut reader, &mut line, u64::MAX)?;
        if taken.bytes == 0 {
            break;
        }
        is_torn = !taken.is_ended;
        let whole = line.strip_suffix(b"\n").filter(|_| !is_first);
        if let Some(decoded) = whole.and_then(|line| kind.decode(line)) {
            oldest = Some(oldest.unwrap_or(decoded.end).min(decoded.end));
            newest = newest.max(Some(decoded.end));
        }
        is_first = false;
    }
    Ok((oldest, End { newest, is_torn }))
}
