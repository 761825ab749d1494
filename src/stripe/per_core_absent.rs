//! The per-core strategy on platforms without it: it is never detected, and no column is tagged.

use std::convert::Infallible;
use std::marker::PhantomData;

use super::live_bucket::{HasLive, Live};
use super::misses::{Miss, MissCell, OnMiss};
use super::ration::{Ration, Untaken};
use super::row_numbers::Numbered;
use crate::memory::column::Column;
use crate::sync::{AtomicU64, AtomicUsize, global};

/// The numberings of rows, of which there are none.
pub(crate) trait Numbering: Copy {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLine {}
impl Numbering for InLine {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ById {}
impl Numbering for ById {}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByProcessor {}
impl Numbering for ByProcessor {}

/// Returns the number by which rows are identified.
pub(crate) fn numbered() -> Numbered {
    Numbered::ById
}

/// A column with per-core adds, of which there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerCoreColumn<N: Numbering>(Infallible, PhantomData<N>);

impl<N: Numbering> PerCoreColumn<N> {
    #[inline]
    pub(crate) fn column(self) -> Column {
        match self.0 {}
    }
}

pub(super) fn detect(_dense: bool) -> bool {
    false
}

global! {
    /// Returns the word with the numbers of open rows.
    pub(super) fn open_rows() -> AtomicUsize = AtomicUsize::new(1);
}

/// Returns a place that no thread has.
pub(super) fn number_place() -> usize {
    0
}

/// Returns no thread's number.
///
/// # Safety
/// None is needed here.
pub(super) unsafe fn number_at(_place: usize) -> usize {
    0
}

/// Returns `None`: no thread has a row.
pub(super) fn row() -> Option<usize> {
    None
}

/// Returns false: no adds are per core.
pub(crate) fn is_in_line() -> bool {
    false
}

pub(super) fn tag(column: Column) -> *mut AtomicU64 {
    column.first().as_ptr()
}

#[inline]
pub(crate) fn in_line(_word: *mut AtomicU64) -> Option<PerCoreColumn<InLine>> {
    None
}

#[inline]
pub(crate) fn by_id(_word: *mut AtomicU64) -> Option<PerCoreColumn<ById>> {
    None
}

#[inline]
pub(crate) fn by_processor(_word: *mut AtomicU64) -> Option<PerCoreColumn<ByProcessor>> {
    None
}

#[inline]
pub(crate) fn add<N: Numbering>(_column: PerCoreColumn<N>, _n: u64, on_miss: impl OnMiss) {
    on_miss.missed(Miss::NoRow);
}

#[inline]
pub(crate) fn raise<N: Numbering>(_column: PerCoreColumn<N>, _value: u64, on_miss: impl OnMiss) {
    on_miss.missed(Miss::NoRow);
}

#[inline]
pub(crate) fn take<N: Numbering>(
    _column: PerCoreColumn<N>,
    _now: u64,
    _n: u64,
) -> Result<(), Untaken> {
    Err(Untaken::Otherwise)
}

/// # Safety
/// Always safe: there is no such column.
pub(crate) unsafe fn swap<N: Numbering>(
    _column: PerCoreColumn<N>,
    _new: Ration,
    _old: *mut Ration,
    on_miss: &MissCell,
) {
    on_miss.missed(Miss::NoRow);
}

/// # Safety
/// Always safe: no live bucket has a tagged column.
#[inline]
pub(crate) unsafe fn add_live<N: Numbering, W: HasLive>(
    _live: Live<W>,
    _at: u64,
    _position: usize,
    _n: u64,
    missed: impl FnOnce(Miss),
) {
    missed(Miss::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn raise_live<N: Numbering, W: HasLive>(
    _live: Live<W>,
    _at: u64,
    _position: usize,
    _value: u64,
    missed: impl FnOnce(Miss),
) {
    missed(Miss::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn record_live<N: Numbering, W: HasLive>(
    _live: Live<W>,
    _at: u64,
    _positions: (usize, usize),
    _value: u64,
    missed: impl FnOnce(Miss),
) {
    missed(Miss::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn record_pending<N: Numbering, W: HasLive>(
    _live: Live<W>,
    _at: u64,
    _positions: (usize, usize),
    _value: u64,
    missed: impl FnOnce(Miss),
) {
    missed(Miss::NoRow);
}

/// # Safety
/// As for [`add_live`].
#[inline]
pub(crate) unsafe fn fold_live<N: Numbering, W: HasLive>(
    _live: Live<W>,
    _at: u64,
    _positions: (usize, usize, usize),
    missed: impl FnOnce(Miss),
) {
    missed(Miss::NoRow);
}

pub(crate) fn pairs_are_whole() -> bool {
    false
}

pub(super) fn register_for_membarrier() -> bool {
    false
}

pub(super) fn membarrier() -> bool {
    false
}
