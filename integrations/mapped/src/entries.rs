//! The entries that a process has read so far, with an index.
//!
//! Entries never change and never go, so each is read and checked once: reading all of them for
//! each new name would take a time that grows with the square of their number.

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use foldhash::fast::RandomState;

use crate::error::MappedError;
use crate::kind::Kind;
use crate::layout::entry::{self, Entry};
use crate::layout::header::{END, End};
use crate::layout::scale;
use crate::layout::{MOST_NAMES, MOST_PACES, SEGMENT, SEVERAL, Shape, table_place};
use crate::text;

/// The entries of a file up to an end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Entries {
    pub(crate) list: Vec<Entry>,
    /// The end up to which entries were read.
    pub(crate) end: End,
    /// The index in `list` of each text.
    by_text: Index<u32>,
    /// For each name, the indices of its first and its last entry.
    by_name: Index<[u32; 2]>,
    /// For each entry, the index of the next one with its name; for the last one its own.
    next: Vec<u32>,
    /// The columns whose cells have extremes, in their order.
    pub(crate) extremes: Vec<u32>,
    /// In each segment that has metrics of known kinds, the columns from the first of theirs to the
    /// last one. There may be others between them.
    pub(crate) spans: Vec<Range<u32>>,
    /// The words of an owner's slot that are in use.
    pub(crate) words: u32,
    /// The indices in `list` of the paces, in their order.
    paces: Vec<u32>,
    /// Those of several limits.
    several: Vec<u32>,
}

type Index<V> = HashMap<Arc<str>, V, RandomState>;

impl Entries {
    /// Returns the indices of the paces, or of several limits, in their order.
    fn limits(&self, kind: Kind) -> &[u32] {
        if kind == Kind::Pace { &self.paces } else { &self.several }
    }

    /// Returns the number of limits of a kind, which is that of the next one.
    pub(crate) fn next_limit(&self, kind: Kind) -> u32 {
        self.limits(kind).len() as u32 // at most `MOST_PACES`
    }

    /// Returns the number of the limit of a kind with this text: that of those before it.
    pub(crate) fn limit(&self, kind: Kind, text: &str) -> Option<u32> {
        let number = self.limits(kind).binary_search(self.by_text.get(text)?).ok()?;
        Some(number as u32)
    }

    /// Returns whether the words of one more entry of a kind have no place.
    fn lacks_room(&self, kind: u8) -> bool {
        let taken = self.next_limit(Kind::Pace) + SEVERAL * self.next_limit(Kind::Paces);
        taken + room(kind) > MOST_PACES
    }

    /// Returns the entry with this text.
    pub(crate) fn find(&self, text: &str) -> Option<&Entry> {
        self.by_text.get(text).map(|at| &self.list[*at as usize])
    }

    /// Returns the entries with a name, in their order.
    pub(crate) fn named(&self, name: &str) -> impl Iterator<Item = &Entry> {
        let mut at = self.by_name.get(name).map(|[first, _]| *first);
        std::iter::from_fn(move || {
            let entry = at?;
            let next = self.next[entry as usize];
            at = (next != entry).then_some(next);
            Some(&self.list[entry as usize])
        })
    }

    /// Reads the entries behind those that were read, up to `end`. Reads the table by `read`.
    ///
    /// After an error, the entries are those before the broken one.
    pub(crate) fn catch_up(
        &mut self,
        end: End,
        shape: Shape,
        path: &Path,
        read: impl FnOnce(u64, &mut [u8]) -> Result<(), MappedError>,
    ) -> Result<(), MappedError> {
        let from = self.end;
        if end == from {
            return Ok(());
        }
        let damaged = |offset, value, rule| Err(MappedError::damaged(path, offset, value, rule));
        if end.bytes > shape.table || end.columns > shape.columns {
            return damaged(END, end.word(), "the end must be within the table and the columns");
        }
        if end.bytes < from.bytes || end.columns < from.columns {
            return damaged(END, end.word(), "the end must not go back");
        }
        let mut table = vec![0; (end.bytes - from.bytes) as usize];
        read(table_place(from.bytes), &mut table)?;
        let add = |entry: Entry| {
            let (column, columns) = (entry.column.into(), entry.columns);
            if self.list.len() >= MOST_NAMES as usize {
                return Err((column, "a file must have 100000 names or fewer"));
            }
            if self.lacks_room(entry.kind) {
                return Err((column, "a file must have 16384 paces or fewer"));
            }
            if self.by_text.contains_key(&entry.text) {
                return Err((column, "each name, with its labels, must have one entry"));
            }
            let is_next = entry.detail == self.words.into() && self.words < shape.gauges;
            if Kind::has_word(entry.kind) && !is_next {
                return Err((entry.detail, "a gauge must have the next word of the slots"));
            }
            if Kind::is_known(entry.kind) && entry.kind().is_none() {
                let rule = "a metric must have the columns and the scale of its kind";
                return Err((columns.into(), rule));
            }
            let mut same = self.named(text::name(&entry.text));
            let is_other = |other: &Entry| other.kind != entry.kind || other.kind() != entry.kind();
            if same.next().is_some_and(is_other) {
                let rule = "all entries of a name must have one kind, and one scale";
                return Err((entry.kind.into(), rule));
            }
            drop(same);
            self.push(entry);
            Ok(())
        };
        entry::parse(path, &table, from, end, add)
    }

    /// Adds an entry, which stands behind the others, with a text that none of them has.
    pub(crate) fn push(&mut self, entry: Entry) {
        let at = self.list.len() as u32; // less than `MOST_NAMES`
        self.end = entry.end(self.end);
        self.by_text.insert(Arc::clone(&entry.text), at);
        let name = text::name(&entry.text);
        if let Some([_, last]) = self.by_name.get_mut(name) {
            self.next[*last as usize] = at;
            *last = at;
        } else {
            let is_whole = name.len() == entry.text.len();
            let name = if is_whole { Arc::clone(&entry.text) } else { name.into() };
            self.by_name.insert(name, [at; 2]);
        }
        self.next.push(at);
        if Kind::has_word(entry.kind) {
            self.words += 1;
        }
        if let Some(kind) = entry.kind() {
            let columns = entry.column..entry.column + entry.columns;
            if kind.is_extreme() {
                self.extremes.extend(columns.clone());
            }
            self.span(columns);
        }
        match room(entry.kind) {
            0 => {}
            1 => self.paces.push(at),
            _ => self.several.push(at),
        }
        self.list.push(entry);
    }

    /// Adds columns, which are behind those of all spans.
    fn span(&mut self, mut columns: Range<u32>) {
        while !columns.is_empty() {
            let segment = columns.start / SEGMENT;
            let end = columns.end.min((segment + 1) * SEGMENT);
            match self.spans.last_mut().filter(|last| last.start / SEGMENT == segment) {
                Some(last) => last.end = end,
                None => self.spans.push(columns.start..end),
            }
            columns.start = end;
        }
    }

    /// Makes the next entry of a file; an error if the file has no place for it, or if the name has
    /// another kind.
    pub(crate) fn next(&self, text: &str, kind: Kind, shape: Shape) -> Result<Entry, MappedError> {
        let full =
            |part, most| Err(MappedError::Full { name: text::name(text).to_owned(), part, most });
        self.check_kind(text, kind)?;
        if self.list.len() >= MOST_NAMES as usize {
            return full("names", MOST_NAMES);
        }
        let has_word = Kind::has_word(kind.number());
        if has_word && self.words >= shape.gauges {
            return full("words for gauges", shape.gauges);
        }
        if self.lacks_room(kind.number()) {
            return full("paces", MOST_PACES);
        }
        let detail = match kind {
            Kind::Histogram(scale) => Some(scale::number(scale)),
            _ => has_word.then_some(self.words.into()),
        };
        let entry = Entry::new(kind.number(), self.end.columns, kind.columns(), detail, text);
        if entry.size > shape.table - self.end.bytes {
            return full("bytes for names", shape.table);
        }
        if entry.columns > shape.columns - self.end.columns {
            return full("columns", shape.columns);
        }
        Ok(entry)
    }

    /// Checks that a name has no metric of another kind or scale, whatever its labels.
    pub(crate) fn check_kind(&self, text: &str, wanted: Kind) -> Result<(), MappedError> {
        let name = text::name(text);
        match self.named(name).next().map(Entry::kind) {
            Some(found) if found != Some(wanted) => {
                Err(MappedError::OtherKind { name: name.to_owned(), found, wanted })
            }
            _ => Ok(()),
        }
    }
}

/// Returns the number of paces whose place the words of an entry take.
fn room(kind: u8) -> u32 {
    match kind {
        kind if kind == Kind::Pace.number() => 1,
        kind if kind == Kind::Paces.number() => SEVERAL,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use windrow::histogram::Scale;

    use super::*;

    const SHAPE: Shape = Shape { plain: 1, locked: 1, columns: 3, table: 96, owners: 1, gauges: 7 };

    fn with(texts: &[&str]) -> Entries {
        let mut entries = Entries::default();
        for text in texts {
            entries.push(entries.next(text, Kind::Counter, SHAPE).unwrap());
        }
        entries
    }

    /// Hands the table of `of` to `entries`.
    fn catch_up(entries: &mut Entries, of: &Entries) -> Result<(), MappedError> {
        let from = entries.end.bytes as usize;
        entries.catch_up(of.end, SHAPE, Path::new("f"), |place, into| {
            assert_eq!(place, table_place(from as u32));
            let words = of.list.iter().flat_map(Entry::words);
            let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
            into.copy_from_slice(&bytes[from..]);
            Ok(())
        })
    }

    #[test]
    fn entries_are_read_once_each() {
        let mut reader = Entries::default();
        for texts in [&["a"][..], &["a", "a\0l\0x", "b"]] {
            let writer = with(texts);
            catch_up(&mut reader, &writer).unwrap();
            assert_eq!(reader.list, writer.list);
            assert_eq!(reader.end, writer.end);
        }
        assert_eq!(reader.named("a").map(|entry| entry.column).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(reader.named("c").count(), 0);
        assert_eq!(reader.find("b").unwrap().column, 2);
        assert!(reader.find("c").is_none());
    }

    #[test]
    fn a_file_that_goes_back_or_repeats_itself_is_damaged() {
        let mut reader = with(&["a", "b"]);
        let error = catch_up(&mut reader, &with(&["a"])).unwrap_err();
        assert!(matches!(error, MappedError::Damaged { offset: END, .. }));
        let mut twice = with(&["a"]);
        twice.push(Entry { column: 1, ..twice.list[0].clone() });
        let error = catch_up(&mut Entries::default(), &twice).unwrap_err();
        assert!(matches!(error, MappedError::Damaged { value: 1, .. }), "{error}");
        for word in [1, 7, 1 << 32] {
            let mut gauge = Entries::default();
            gauge.push(Entry::new(5, 0, 0, Some(word), "a"));
            let error = catch_up(&mut Entries::default(), &gauge).unwrap_err();
            assert!(matches!(error, MappedError::Damaged { .. }), "{error}");
        }
        let mut broad = with(&["a"]);
        broad.end.columns = 4;
        assert!(catch_up(&mut Entries::default(), &broad).is_err());
    }

    /// Hands the table of `of` to entries of a file that has room for a histogram.
    fn wide(of: &Entries) -> Result<(), MappedError> {
        let shape = Shape { columns: 64, table: 4096, ..SHAPE };
        Entries::default().catch_up(of.end, shape, Path::new("f"), |_, into| {
            let words = of.list.iter().flat_map(Entry::words);
            into.copy_from_slice(&words.flat_map(u64::to_le_bytes).collect::<Vec<u8>>());
            Ok(())
        })
    }

    #[test]
    fn kinds_that_contradict_their_columns_or_each_other_are_damage() {
        let entry = |kind: Kind, column, columns, text| {
            Entry::new(kind.number(), column, columns, None, text)
        };
        let refused = |second: Entry| {
            let mut broken = with(&["a"]);
            broken.push(second);
            catch_up(&mut Entries::default(), &broken).unwrap_err()
        };
        for second in [entry(Kind::Counter, 1, 2, "b"), entry(Kind::Maximum, 1, 1, "b")] {
            let columns = u64::from(second.columns);
            let error = refused(second);
            assert!(matches!(error, MappedError::Damaged { value, .. } if value == columns));
        }
        let error = refused(entry(Kind::Minimum, 1, 2, "a\0l\0x"));
        assert!(matches!(error, MappedError::Damaged { value: 3, .. }), "{error}");
        let scales = [Scale::fixed::<1, 1, 4>(), Scale::fixed::<0, 1, 4>()].map(scale::number);
        let histogram =
            |detail, column, columns, text| Entry::new(4, column, columns, Some(detail), text);
        for second in [histogram(u64::MAX, 0, 9, "b"), histogram(scales[1], 0, 9, "b")] {
            let mut broken = Entries::default();
            broken.push(second);
            let error = wide(&broken).unwrap_err();
            assert!(matches!(error, MappedError::Damaged { value: 9, .. }), "{error}");
        }
        let mut both = Entries::default();
        both.push(histogram(scales[0], 0, 9, "b"));
        wide(&both).unwrap();
        both.push(histogram(scales[1], 9, 6, "b\0l\0x"));
        let error = wide(&both).unwrap_err();
        assert!(matches!(error, MappedError::Damaged { value: 4, .. }), "{error}");
        let mut other = with(&["a"]);
        other.push(Entry::new(200, 1, 2, None, "b"));
        catch_up(&mut Entries::default(), &other).unwrap(); // of a kind to come
    }

    #[test]
    fn spans_are_those_of_known_kinds() {
        let mut entries = Entries::default();
        let mut push = |kind, columns| {
            let text = entries.list.len().to_string();
            entries.push(Entry::new(kind, entries.end.columns, columns, None, &text));
            entries.spans.iter().map(|span| (span.start, span.end)).collect::<Vec<_>>()
        };
        assert_eq!(push(200, 5), []);
        assert_eq!(push(5, 0), []);
        assert_eq!(push(1, 1), [(5, 6)]);
        assert_eq!(push(200, 3 * SEGMENT), [(5, 6)]);
        assert_eq!(push(1, 1), [(5, 6), (3 * SEGMENT + 6, 3 * SEGMENT + 7)]);
        assert_eq!(push(200, SEGMENT - 8).len(), 2);
        // Over the border of a segment.
        let all = [(5, 6), (3 * SEGMENT + 6, 4 * SEGMENT), (4 * SEGMENT, 4 * SEGMENT + 1)];
        assert_eq!(push(2, 2), all);
    }

    #[test]
    fn what_has_no_place_is_an_error() {
        let full = with(&["a", "b", "c"]);
        let error = full.next("d", Kind::Counter, SHAPE).unwrap_err();
        assert!(matches!(error, MappedError::Full { part: "columns", most: 3, .. }));
        let long = "x".repeat(80);
        let error = with(&["a"]).next(&long, Kind::Counter, SHAPE).unwrap_err();
        assert!(matches!(error, MappedError::Full { part: "bytes for names", most: 96, .. }));
        let mut gauges = Entries::default();
        let shape = Shape { table: 4096, ..SHAPE };
        for gauge in 0..7 {
            let entry = gauges.next(&gauge.to_string(), Kind::Gauge, shape).unwrap();
            assert_eq!((entry.columns, entry.detail), (0, gauge));
            gauges.push(entry);
        }
        let error = gauges.next("d", Kind::InFlight, shape).unwrap_err();
        assert!(matches!(error, MappedError::Full { part: "words for gauges", most: 7, .. }));
        let mut other = with(&["a\0l\0x"]);
        other.list[0].kind = 200;
        let error = other.next("a", Kind::Counter, SHAPE).unwrap_err();
        assert!(matches!(error, MappedError::OtherKind { found: None, .. }));
    }
}
