//! The per-core strategy where there is none: it is never found, and no column is tagged for it.

use super::again::Refusal;
use super::live::Live;
use crate::column::Column;
use crate::pages::Cell;
use crate::sync::AtomicPtr;

/// The bit of a count that would say that the row has a pending value. It is never set.
pub(crate) const PENDING: u64 = 1 << 63;

/// A column to be added to per core: there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tagged {}

impl Tagged {
    #[inline]
    pub(crate) fn column(self) -> Column {
        match self {}
    }
}

pub(super) fn find(_most: usize, _dense: bool) -> Option<usize> {
    None
}

pub(super) fn tag(column: Column) -> *mut Cell {
    column.first().as_ptr()
}

#[inline]
pub(super) fn untag(_word: *mut Cell) -> Option<Tagged> {
    None
}

#[inline]
pub(crate) fn add(column: Tagged, _n: u64, _aborted: impl FnOnce(), _no_row: impl FnOnce()) {
    match column {}
}

#[inline]
pub(crate) fn raise(column: Tagged, _value: u64, _aborted: impl FnOnce(), _no_row: impl FnOnce()) {
    match column {}
}

/// # Safety
/// There is none to keep: nobody has got a live bucket with a tagged column.
#[inline]
pub(crate) unsafe fn add_live(
    _live: *const AtomicPtr<Live>,
    _at: u64,
    _position: usize,
    _n: u64,
    refused: impl FnOnce(Refusal),
) {
    refused(Refusal::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn record_live(
    _live: *const AtomicPtr<Live>,
    _at: u64,
    _places: (usize, usize),
    _value: u64,
    refused: impl FnOnce(Refusal),
) {
    refused(Refusal::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn record_pending(
    _live: *const AtomicPtr<Live>,
    _at: u64,
    _places: (usize, usize),
    _value: u64,
    refused: impl FnOnce(Refusal),
) {
    refused(Refusal::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn fold_live(
    _live: *const AtomicPtr<Live>,
    _at: u64,
    _places: (usize, usize, usize),
    refused: impl FnOnce(Refusal),
) {
    refused(Refusal::NoRow);
}

pub(crate) fn pairs_are_whole() -> bool {
    false
}

pub(super) fn register_for_barriers() -> bool {
    false
}

pub(super) fn barrier() -> bool {
    false
}
