//! Reading the lines of a short range, for bins that are finer than the sums.

use std::io::{self, BufRead, Seek, SeekFrom};
use std::ops::Range;

use crate::format::Kinds;
use crate::lines;
use crate::past::file::{CHUNK, Summed};
use crate::search;
use crate::total::Total;
use crate::wall::Wall;

/// The number of bytes that a search reads at once: each of its looks takes a line or two.
const LOOK: usize = 4 << 10;

/// Finds the stretch of a file that has all lines of a range; `None` if the file is gone, or is
/// another one.
pub(super) fn find(file: &Summed, (from, to): (Wall, Wall)) -> io::Result<Option<Range<u64>>> {
    let Some(slack) = file.slack else { return Ok(Some(0..file.offset)) };
    let Some(mut reader) = file.open(LOOK)? else { return Ok(None) };
    let bounds = (from.minus(slack), to.plus(slack));
    search(&mut reader, file.kind, file.offset, bounds).map(Some)
}

/// Finds the lines between two bounds in a file of some length.
fn search(
    reader: &mut (impl BufRead + Seek),
    kind: Kinds,
    length: u64,
    (from, to): (Wall, Wall),
) -> io::Result<Range<u64>> {
    // The first line is in no order.
    let first = lines::next(reader, &mut Vec::new(), length)?.bytes;
    let (begin, _) = search::search(reader, kind, (first, length), from)?;
    let (_, end) = search::search(reader, kind, (first, length), to)?;
    Ok(begin..end.min(length).max(begin))
}

/// Calls `see` with each bucket of a resource that ended in a range: its end, and its events.
/// Returns the number of the file's bytes that are no longer there.
pub(super) fn read(
    file: &Summed,
    stretch: Range<u64>,
    resource: &str,
    (from, to): (Wall, Wall),
    mut see: impl FnMut(Wall, &[(&str, Total)]),
) -> io::Result<u64> {
    let Some(mut reader) = file.open(CHUNK)? else { return Ok(file.offset) };
    let gone = file.offset.saturating_sub(reader.get_ref().metadata()?.len());
    reader.seek(SeekFrom::Start(stretch.start))?;
    let (mut at, mut line) = (stretch.start, Vec::new());
    // A line that begins at the end of the stretch may belong to the range.
    while at <= stretch.end && at < file.offset {
        let taken = lines::next(&mut reader, &mut line, file.offset - at)?;
        if taken.bytes == 0 {
            break; // the file is shorter than it was
        }
        at += taken.bytes;
        let Some(whole) = line.strip_suffix(b"\n") else { continue };
        if file.kind == Kinds::Json && is_of_another(whole, resource) {
            continue;
        }
        let Some(decoded) = file.kind.decode(whole) else { continue };
        if let Some(sums) = decoded.content.sums()
            && sums.resource == resource
            && from < decoded.end
            && decoded.end <= to
        {
            see(decoded.end, &sums.events);
        }
    }
    Ok(gone)
}

/// Returns whether a line is surely not a bucket of this resource. Of most lines, the first bytes
/// tell.
fn is_of_another(line: &[u8], resource: &str) -> bool {
    let Some(mut rest) = line.strip_prefix(br#"{"bucket":{"resource":""#) else { return false };
    let mut name = resource.as_bytes();
    loop {
        match (rest, name) {
            ([b'"', ..], name) => return !name.is_empty(),
            // These two escapes have one meaning; any other one is decoded with the line.
            ([b'\\', escaped @ (b'"' | b'\\'), after @ ..], [first, others @ ..])
                if first == escaped =>
            {
                (rest, name) = (after, others);
            }
            ([b'\\', b'"' | b'\\', ..], _) => return true,
            ([b'\\', ..] | [], _) => return false,
            ([byte, after @ ..], [first, others @ ..]) if byte == first => {
                (rest, name) = (after, others);
            }
            _ => return true,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;
    use std::io::{BufReader, Cursor};

    use super::*;
    use crate::search::tests::Counted;

    /// A search in a large file reads some kilobytes, whatever a buffer would hold.
    #[test]
    fn a_search_reads_little() {
        let mut text = String::new();
        for second in 0..86_400 {
            let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
            writeln!(
                text,
                "{{\"bucket\":{{\"resource\":\"/\",\"start\":\"2026-11-22T{hour:02}:{minute:02}:{second:02}Z\",\
                 \"length_ns\":0,\"at_ns\":7,\"events\":{{}}}}}}"
            )
            .unwrap();
        }
        let lines: Vec<&str> = text.lines().collect();
        let line = lines[0].len() as u64 + 1;
        let end = |place: usize| Kinds::Json.decode(lines[place].as_bytes()).unwrap().end;
        let length = text.len() as u64;
        for (from, to) in [(0, 60), (40_000, 40_060), (86_000, 86_399)] {
            let mut reader =
                BufReader::with_capacity(LOOK, Counted(Cursor::new(text.clone().into_bytes()), 0));
            let found = search(&mut reader, Kinds::Json, length, (end(from), end(to))).unwrap();
            let (first, last) = (from as u64 * line, to as u64 * line);
            assert!(found.start <= first + line && last <= found.end, "{found:?}");
            assert!(found.end - found.start <= last - first + (16 << 10), "{found:?}");
            let read = reader.get_ref().1;
            assert!(read < 256 << 10, "{read} of {length} bytes");
        }
    }

    #[test]
    fn only_a_line_of_another_resource_is_passed_over() {
        let is_other = |text: &str, name: &str| {
            let line = format!(r#"{{"bucket":{{"resource":"{text}","start":1"#);
            is_of_another(line.as_bytes(), name)
        };
        for (text, name) in [
            ("/cart", "/cart"),
            (r#"a{b=\"c\\d\"}"#, r#"a{b="c\d"}"#),
            (r"a\u0062c", "abc"),
            (r"\/cart", "/cart"),
            ("", ""),
            (r"\n", "\n"),
        ] {
            assert!(!is_other(text, name), "{text}");
        }
        for (text, name) in [
            ("/cart", "/car"),
            ("/car", "/cart"),
            (r#"a\"b"#, "a"),
            (r"a\\b", "a\""),
            ("", "a"),
            ("a", ""),
        ] {
            assert!(is_other(text, name), "{text}");
        }
        // Whatever follows.
        assert!(!is_other(r"\u0061", "b"), "it is decoded");
        assert!(!is_of_another(br#"{"heavy":{"resource":"a""#, "b"));
        assert!(!is_of_another(br#"{"bucket":{"resource":"a"#, "a"), "a part of a line");
    }
}
