//! A column's word, which has the way to add to the column in it.

use std::ptr::{NonNull, without_provenance_mut};

use crate::memory::column::Column;
use crate::stripe::row_numbers::UNAVAILABLE;
use crate::stripe::{Strategy, per_core, portable};
use crate::sync::AtomicU64;

/// A column and the way to add to it, in one word, which a counter stores.
///
/// Cells are eight bytes, so the lowest three bits of a column's address are free. A column with
/// per-core adds in line has a tag of one bit, which depends on the processor: the lowest or the
/// highest. [`portable::TAG`] is the tag of a column with portable adds; one without a tag has
/// other per-core adds. Zero: no column yet; [`UNAVAILABLE`]: the arena was full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TaggedColumn {
    InLine(per_core::PerCoreColumn<per_core::InLine>),
    ById(per_core::PerCoreColumn<per_core::ById>),
    ByProcessor(per_core::PerCoreColumn<per_core::ByProcessor>),
    Portable(Column),
    Unavailable,
    Unclaimed,
}

/// Returns whether a word is that of a column.
#[inline]
pub(crate) fn is_column(word: *mut AtomicU64) -> bool {
    word.addr() > UNAVAILABLE
}

impl TaggedColumn {
    /// # Safety
    /// `word` is null or from [`encode`](Self::encode).
    #[inline]
    pub(crate) unsafe fn decode(word: *mut AtomicU64) -> TaggedColumn {
        if let Some(column) = per_core::in_line(word) {
            TaggedColumn::InLine(column)
        } else if word.addr() & portable::TAG != 0 {
            let first = word.wrapping_byte_sub(portable::TAG);
            // SAFETY: `encode` makes such a word from a column's cell in row 0.
            TaggedColumn::Portable(unsafe { Column::new(NonNull::new_unchecked(first)) })
        } else if let Some(column) = per_core::by_id(word) {
            TaggedColumn::ById(column)
        } else if let Some(column) = per_core::by_processor(word) {
            TaggedColumn::ByProcessor(column)
        } else if word.is_null() {
            TaggedColumn::Unclaimed
        } else {
            TaggedColumn::Unavailable
        }
    }

    /// Returns the word for a column, or for none.
    #[inline]
    pub(crate) fn encode(column: Option<Column>, strategy: Strategy) -> *mut AtomicU64 {
        match (column, strategy) {
            (Some(column), Strategy::PerCore) => per_core::tag(column),
            (Some(column), _) => portable::tag(column),
            (None, _) => without_provenance_mut(UNAVAILABLE),
        }
    }

    /// Returns the column, in any strategy.
    #[inline]
    pub(crate) fn column(self) -> Option<Column> {
        match self {
            TaggedColumn::InLine(column) => Some(column.column()),
            TaggedColumn::ById(column) => Some(column.column()),
            TaggedColumn::ByProcessor(column) => Some(column.column()),
            TaggedColumn::Portable(column) => Some(column),
            TaggedColumn::Unavailable | TaggedColumn::Unclaimed => None,
        }
    }
}
