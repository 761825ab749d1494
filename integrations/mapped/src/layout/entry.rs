//! An entry of the table: a metric's kind, columns and text.
//!
//! | offset | bytes | field |
//! |---|---|---|
//! | 0 | 4 | size of the entry, a multiple of 8 |
//! | 4 | 4 | first column |
//! | 8 | 4 | columns |
//! | 12 | 2 | length of the text |
//! | 14 | 1 | kind |
//! | 15 | 1 | zero |
//! | 16 | length | text, then zeros up to a multiple of 8 |
//! | then | 8 | the detail, if the kind has one: a histogram's scale, or the word of a gauge |
//!
//! Entries stand one behind the other. Their columns do as well: the first column of an entry is
//! the one behind the last column of the entry before. An entry may be longer than its detail:
//! kinds to come may have more behind it.

use std::path::Path;
use std::sync::Arc;

use super::header::{End, word};
use super::table_place;
use crate::error::MappedError;
use crate::kind::Kind;
use crate::text;

/// The bytes of an entry before its text.
const BEFORE_TEXT: usize = 16;

/// The bytes of a detail.
const DETAIL: usize = 8;

/// A metric in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Its bytes in the table.
    pub(crate) size: u32,
    /// The number of its kind.
    pub(crate) kind: u8,
    pub(crate) column: u32,
    pub(crate) columns: u32,
    /// The number behind the text, zero if there is none: see [`Kind`].
    pub(crate) detail: u64,
    /// Its name and labels: see [`text`].
    pub(crate) text: Arc<str>,
}

impl Entry {
    /// Makes an entry with a detail, or with nothing behind its text.
    pub(crate) fn new(
        kind: u8,
        column: u32,
        columns: u32,
        detail: Option<u64>,
        text: &str,
    ) -> Entry {
        // A text has at most 1024 bytes.
        let size = behind_text(text) + if detail.is_some() { DETAIL } else { 0 };
        let detail = detail.unwrap_or(0);
        Entry { size: size as u32, kind, column, columns, detail, text: text.into() }
    }

    /// Returns the kind, if this version knows it and the entry has the columns of its kind.
    pub(crate) fn kind(&self) -> Option<Kind> {
        Kind::of(self.kind, self.columns, self.detail)
    }

    /// Returns the word of a gauge in the slots of the owners.
    pub(crate) fn word(&self) -> u32 {
        self.detail as u32 // of which a file has fewer than 2^12
    }

    /// Returns the entry as words of a table.
    pub(crate) fn words(&self) -> Vec<u64> {
        let mut bytes = Vec::with_capacity(self.size as usize);
        for number in [self.size, self.column, self.columns] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend((self.text.len() as u16).to_le_bytes());
        bytes.extend([self.kind, 0]);
        bytes.extend(self.text.as_bytes());
        bytes.resize(behind_text(&self.text), 0);
        bytes.extend(self.detail.to_le_bytes());
        bytes.resize(self.size as usize, 0);
        bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
    }

    /// Returns the end of the table behind this entry, which is the first one behind `before`.
    pub(crate) fn end(&self, before: End) -> End {
        End { bytes: before.bytes + self.size, columns: self.column + self.columns }
    }
}

/// Returns the distance of the detail from the beginning of an entry.
fn behind_text(text: &str) -> usize {
    (BEFORE_TEXT + text.len()).next_multiple_of(8)
}

/// Reads the entries from `from` up to `end`, whose bytes are `table`, of the file at a path. Calls
/// `see` with each, which may refuse it by a value and the rule for it.
pub(crate) fn parse(
    path: &Path,
    table: &[u8],
    from: End,
    end: End,
    mut see: impl FnMut(Entry) -> Result<(), (u64, &'static str)>,
) -> Result<(), MappedError> {
    let damaged = |at, (value, rule)| MappedError::damaged(path, table_place(at), value, rule);
    let mut before = from;
    while before.bytes < end.bytes {
        let rest = &table[(before.bytes - from.bytes) as usize..];
        let at = before.bytes;
        let entry = one(rest, before, end).map_err(|broken| damaged(at, broken))?;
        before = entry.end(before);
        see(entry).map_err(|broken| damaged(at, broken))?;
    }
    if before.columns == end.columns {
        return Ok(());
    }
    Err(damaged(end.bytes, (end.columns.into(), "each column in use must be of an entry")))
}

/// Reads the first entry of a table's `rest`; or returns the value that broke a rule, with that.
fn one(rest: &[u8], before: End, end: End) -> Result<Entry, (u64, &'static str)> {
    let broken = |value, rule| Err((value, rule));
    if rest.len() < BEFORE_TEXT {
        return broken(rest.len() as u64, "an entry must have at least 16 bytes");
    }
    let [size, column, columns] = [0, 4, 8].map(|at| word(rest, at));
    let length = usize::from(u16::from_le_bytes([rest[12], rest[13]]));
    let least = BEFORE_TEXT + length;
    if !size.is_multiple_of(8) || !(least..=rest.len()).contains(&(size as usize)) {
        return broken(size.into(), "an entry must have its text, and be within the table");
    }
    if column != before.columns {
        return broken(column.into(), "an entry's first column must be the next one");
    }
    if columns > end.columns - column {
        return broken(columns.into(), "an entry's columns must be in use");
    }
    let text = std::str::from_utf8(&rest[BEFORE_TEXT..BEFORE_TEXT + length]);
    let Some(text) = text.ok().filter(|text| text::is_joined(text)) else {
        return broken(length as u64, "an entry's text must be a name, and labels in their order");
    };
    let behind = rest[..size as usize].get(behind_text(text)..).unwrap_or_default();
    let detail = behind.first_chunk().map_or(0, |detail| u64::from_le_bytes(*detail));
    Ok(Entry { size, kind: rest[14], column, columns, detail, text: text.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> (Vec<u8>, End) {
        let mut bytes = Vec::new();
        let mut end = End::default();
        for (name, columns) in [("a", 1), ("name of eight", 3), ("12345678", 1)] {
            let entry = Entry::new(1, end.columns, columns, None, name);
            bytes.extend(entry.words().iter().flat_map(|word| word.to_le_bytes()));
            end = entry.end(end);
        }
        assert_eq!(bytes.len(), end.bytes as usize);
        (bytes, end)
    }

    fn texts(table: &[u8], from: End, end: End) -> Result<Vec<String>, MappedError> {
        let mut found = Vec::new();
        parse(Path::new("f"), table, from, end, |entry| {
            found.push(entry.text.to_string());
            Ok(())
        })?;
        Ok(found)
    }

    #[test]
    fn entries_come_back_at_once_and_one_by_one() {
        let (bytes, end) = table();
        let all = texts(&bytes, End::default(), end).unwrap();
        assert_eq!(all, ["a", "name of eight", "12345678"]);
        let first = End { bytes: 24, columns: 1 };
        assert_eq!(texts(&bytes[24..], first, end).unwrap(), all[1..]);
        assert_eq!(texts(&[], end, end).unwrap(), [""; 0]);
    }

    #[test]
    fn an_entry_may_be_longer_than_its_text() {
        let long = Entry { size: 48, ..Entry::new(9, 0, 2, Some(7), "a") };
        let bytes: Vec<u8> = long.words().into_iter().flat_map(u64::to_le_bytes).collect();
        assert_eq!(bytes.len(), 48);
        let mut found = Vec::new();
        let see = |entry| {
            found.push(entry);
            Ok(())
        };
        let end = End { bytes: 48, columns: 2 };
        parse(Path::new("f"), &bytes, End::default(), end, see).unwrap();
        assert_eq!(found, [long]);
    }

    #[test]
    fn a_broken_entry_is_named() {
        let (bytes, end) = table();
        for (at, byte) in [(0, 0), (0, 24), (3, 255), (4, 2), (8, 9), (12, 17), (16, 0)] {
            let mut bytes = bytes.clone();
            bytes[24 + at] = byte;
            let broken = texts(&bytes, End::default(), end).unwrap_err();
            let MappedError::Damaged { offset, .. } = broken else { panic!("{broken}") };
            assert_eq!(offset, table_place(24), "{at}: {broken}");
        }
        let more = End { columns: end.columns + 1, ..end };
        let broken = texts(&bytes, End::default(), more).unwrap_err();
        assert!(matches!(broken, MappedError::Damaged { value: 6, .. }), "{broken}");
        let cut = End { bytes: end.bytes - 16, ..end };
        assert!(texts(&bytes[..cut.bytes as usize], End::default(), cut).is_err());
    }
}
