//! The layout of a file, version 1.
//!
//! Six numbers of the header, its [`Shape`], determine all other places, so a header cannot
//! contradict itself. `format.md` beside the sources has all offsets, for readers in other
//! languages. The meaning of a version never changes.

pub(crate) mod entry;
pub(crate) mod header;
pub(crate) mod scale;

/// The unit of the parts of a file, in bytes.
pub(crate) const PAGE: u64 = 4096;

/// The columns of a segment.
pub(crate) const SEGMENT: u32 = 8192;

/// The bytes of a row of a segment, whose binary logarithm is [`ROW_SHIFT`].
pub(crate) const ROW: u64 = 1 << ROW_SHIFT;

/// The distance of a row from the one before is a shift, which a sequence knows.
pub(crate) const ROW_SHIFT: u32 = 16;

/// The columns in a page of a row.
pub(crate) const PAGE_COLUMNS: u32 = (PAGE / 8) as u32;

/// The bytes of an owner's state.
const STATE: u64 = 8;

/// The words of a slot are whole cache lines, so that processes do not share one.
pub(crate) const LINE_WORDS: u32 = 8;

/// The greatest number of paces in a file, and the bytes of each: a line of the cache.
pub(crate) const MOST_PACES: u32 = 16_384;
pub(crate) const PACE: u64 = 64;

/// The number of paces whose place several limits take: a line for what they share, and two for the
/// limits. The words are within a page.
pub(crate) const SEVERAL: u32 = 4;

/// The limits of a [`Shape`].
pub(crate) const MOST_ROWS: u32 = 8192;
pub(crate) const MOST_COLUMNS: u32 = 1 << 24;
pub(crate) const MOST_TABLE: u32 = 1 << 28;
pub(crate) const MOST_OWNERS: u32 = 4096;
pub(crate) const MOST_GAUGES: u32 = 4095;

/// The greatest number of names in a file.
pub(crate) const MOST_NAMES: u32 = 100_000;

const _: () = assert!(ROW == SEGMENT as u64 * 8);

/// The six numbers that determine all places of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The rows for plain adds: one for each processor that the machine may have.
    pub(crate) plain: u32,
    /// The rows for locked adds, behind them.
    pub(crate) locked: u32,
    /// The columns of each row.
    pub(crate) columns: u32,
    /// The bytes of the table.
    pub(crate) table: u32,
    /// The slots: one for each process that has a gauge.
    pub(crate) owners: u32,
    /// The words of a slot that are for gauges. One more is for the owner's process id.
    pub(crate) gauges: u32,
}

impl Shape {
    /// Returns whether all numbers are within their limits.
    pub(crate) fn is_possible(self) -> bool {
        let rows = 1..=MOST_ROWS;
        rows.contains(&self.plain)
            && rows.contains(&self.locked)
            && (1..=MOST_COLUMNS).contains(&self.columns)
            && (8..=MOST_TABLE).contains(&self.table)
            && self.table.is_multiple_of(8)
            && (1..=MOST_OWNERS).contains(&self.owners)
            && (1..=MOST_GAUGES).contains(&self.gauges)
            && (self.gauges + 1).is_multiple_of(LINE_WORDS)
    }

    /// Returns the number of rows, plain and locked ones.
    pub(crate) fn rows(self) -> u32 {
        self.plain + self.locked
    }

    /// Returns the place of a cell.
    pub(crate) fn cell_place(self, row: u32, column: u32) -> u64 {
        let (segment, column) = (u64::from(column / SEGMENT), u64::from(column % SEGMENT));
        self.rows_place() + segment * self.segment() + u64::from(row) * ROW + column * 8
    }

    /// Returns the place of the state of a slot's owner. Its first byte is the owner's lock.
    pub(crate) fn state_place(self, slot: u32) -> u64 {
        PAGE + u64::from(self.table).next_multiple_of(PAGE) + u64::from(slot) * STATE
    }

    /// Returns the place of the owner's process id, the first word of a slot.
    pub(crate) fn slot_place(self, slot: u32) -> u64 {
        self.slots_place() + u64::from(slot) * self.slot()
    }

    /// Returns the place of a gauge's word in a slot.
    pub(crate) fn word_place(self, slot: u32, word: u32) -> u64 {
        self.slot_place(slot) + 8 + u64::from(word) * 8
    }

    /// Returns the bytes of a slot.
    pub(crate) fn slot(self) -> u64 {
        u64::from(self.gauges + 1) * 8
    }

    /// Returns the place of a pace's words.
    pub(crate) fn pace_place(self, pace: u32) -> u64 {
        self.paces_place() + u64::from(pace) * PACE
    }

    /// Returns the place of the words of several limits. The first ones are behind all paces, and
    /// the next ones before those.
    pub(crate) fn several_place(self, several: u32) -> u64 {
        self.pace_place(MOST_PACES - SEVERAL * (several + 1))
    }

    /// Returns the length of the file.
    pub(crate) fn length(self) -> u64 {
        // At most 2^11 segments of 2^14 rows of 2^16 bytes.
        self.rows_place() + u64::from(self.columns.div_ceil(SEGMENT)) * self.segment()
    }

    /// Returns the place of the first pace, behind the slots.
    fn paces_place(self) -> u64 {
        self.slots_place() + (u64::from(self.owners) * self.slot()).next_multiple_of(PAGE)
    }

    /// Returns the place of the first row.
    fn rows_place(self) -> u64 {
        self.pace_place(MOST_PACES)
    }

    /// Returns the place of the first slot.
    fn slots_place(self) -> u64 {
        self.state_place(0) + (u64::from(self.owners) * STATE).next_multiple_of(PAGE)
    }

    /// Returns the bytes of a segment.
    fn segment(self) -> u64 {
        u64::from(self.rows()) * ROW
    }
}

/// Returns the place of a position in the table.
pub(crate) fn table_place(at: u32) -> u64 {
    PAGE + u64::from(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_do_not_overlap_and_fill_the_file() {
        let shape = Shape {
            plain: 2,
            locked: 1,
            columns: SEGMENT + 1,
            table: 4104,
            owners: 65,
            gauges: 63,
        };
        assert_eq!(shape.state_place(0), PAGE + 2 * PAGE);
        assert_eq!(shape.state_place(64), shape.state_place(0) + 512);
        assert_eq!(shape.slot_place(0), shape.state_place(0) + PAGE);
        assert_eq!(shape.word_place(0, 0), shape.slot_place(0) + 8);
        assert_eq!(shape.slot_place(1), shape.word_place(0, 62) + 8);
        assert_eq!(shape.pace_place(0), shape.slot_place(64) + PAGE);
        assert_eq!(shape.pace_place(1), shape.pace_place(0) + PACE);
        assert_eq!(shape.cell_place(0, 0), shape.pace_place(MOST_PACES - 1) + PACE);
        assert_eq!(shape.several_place(0) + 4 * PACE, shape.cell_place(0, 0));
        assert_eq!(shape.several_place(MOST_PACES / SEVERAL - 1), shape.pace_place(0));
        assert_eq!(shape.cell_place(1, 0), shape.cell_place(0, SEGMENT - 1) + 8);
        assert_eq!(shape.cell_place(0, SEGMENT), shape.cell_place(2, SEGMENT - 1) + 8);
        assert_eq!(shape.length(), shape.cell_place(2, SEGMENT) + ROW);
    }

    #[test]
    fn the_greatest_file_has_a_length() {
        let most = Shape {
            plain: MOST_ROWS,
            locked: MOST_ROWS,
            columns: MOST_COLUMNS,
            table: MOST_TABLE,
            owners: MOST_OWNERS,
            gauges: MOST_GAUGES,
        };
        assert!(most.is_possible());
        assert!(most.length() < 1 << 42);
        for broken in [
            Shape { plain: 0, ..most },
            Shape { locked: MOST_ROWS + 1, ..most },
            Shape { columns: MOST_COLUMNS + 1, ..most },
            Shape { table: 12, ..most },
            Shape { owners: 0, ..most },
            Shape { owners: MOST_OWNERS + 1, ..most },
            Shape { gauges: 0, ..most },
            Shape { gauges: 12, ..most },
            Shape { gauges: MOST_GAUGES + 8, ..most },
            Shape { gauges: u32::MAX, ..most },
        ] {
            assert!(!broken.is_possible(), "{broken:?}");
        }
    }
}
