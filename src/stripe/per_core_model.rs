//! The per-core strategy in a model (`windrow_per_core`): loom and shuttle cannot see sequences in
//! assembly, so these are steps here, with possible aborts between them.
//!
//! All threads of a model share one core, the worst case, except those that [run on the
//! second](run_on_second_core). A sequence begins by taking its core over, and loads the cell. Each
//! of its stores is a step; the last is the commit. If another thread has taken the core over
//! since, the kernel would have sent the thread to the abort address, so the step is not done. If a
//! store were one step with the load, the model would hide the gap for which the restart exists. If
//! it were one step with the commit, the model would hide the stores of an aborted sequence before
//! it.
//!
//! The lock exists only in the model. It represents the scheduler, which lets one thread at a time
//! run on a core, and orders the operations of threads that run there one after the other.
//!
//! In an add in line a thread remembers the row that it has found open, as in a program on x86-64,
//! and looks no more at the number of open rows. All other sequences look each time. The guess of a
//! live bucket's column is not here: a sequence compares it with the column, so it is the column.
//!
//! # What differs on arm64
//!
//! The order of the memory is the model's, so these differences are in the sequences alone:
//!
//! * They load the live bucket's address by a plain load, on which all later addresses depend,
//!   where the model says Acquire; and the window's state and a column's word, too
//!   ([`address_dependency`]).
//! * They compare the row's number before they look at the bucket, as adds in line on x86-64 do. So
//!   a thread without an open row misses for that, even if the time lies in another bucket. It then
//!   opens its row and tries again.
//! * A thread that has not seen yet what was detected misses as one without a row, although its row
//!   may be open. Out of line it has seen it.
//! * The exclusive store of a record may fail without a reason. Then nothing was written, and the
//!   sequence counts as aborted. Here it is aborted only if another thread has come between; but
//!   what follows an abort is the same.
//!
//! [`address_dependency`]: crate::address_dependency

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::NonNull;

use super::live_bucket::{HasLive, Live, PENDING};
use super::misses::{Miss, OnMiss};
use super::open_rows;
use super::row_numbers::Numbered;
use crate::memory::column::Column;
use crate::reclaim;
use crate::sync::{AtomicU64, AtomicUsize, Mutex, Ordering, global, overwrite, thread_number};

#[path = "per_core_model/ration.rs"]
mod ration;
pub(crate) use ration::{swap, take};

/// The lowest bit of a column's address: adds to it are per core.
const TAG: usize = 1;

/// The numbering of rows, of which there is one.
pub(crate) trait Numbering: Copy {
    /// Returns whether the thread's row is open.
    fn is_open(row: usize) -> bool {
        is_open(row)
    }
}

/// The numbering of the adds that are in line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLine {}
impl Numbering for InLine {
    fn is_open(row: usize) -> bool {
        is_open_as_remembered(row)
    }
}

/// The numbering of all other sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ById {}
impl Numbering for ById {}

/// A numbering that is never used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByProcessor {}
impl Numbering for ByProcessor {}

/// Returns the number by which rows are identified.
pub(crate) fn numbered() -> Numbered {
    Numbered::ById
}

/// A column with per-core adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerCoreColumn<N: Numbering>(*mut AtomicU64, PhantomData<N>);

impl<N: Numbering> PerCoreColumn<N> {
    pub(crate) fn column(self) -> Column {
        let first = self.0.map_addr(|address| address & !TAG);
        // SAFETY: made of a column by `tag`.
        unsafe { Column::new(NonNull::new_unchecked(first)) }
    }
}

/// Returns true: see [`InLine`].
pub(crate) fn is_in_line() -> bool {
    true
}

pub(super) fn tag(column: Column) -> *mut AtomicU64 {
    column.first().as_ptr().map_addr(|address| address | TAG)
}

pub(crate) fn in_line(word: *mut AtomicU64) -> Option<PerCoreColumn<InLine>> {
    (word.addr() & TAG != 0).then_some(PerCoreColumn(word, PhantomData))
}

pub(crate) fn by_id(_word: *mut AtomicU64) -> Option<PerCoreColumn<ById>> {
    None
}

pub(crate) fn by_processor(_word: *mut AtomicU64) -> Option<PerCoreColumn<ByProcessor>> {
    None
}

thread_number! {
    /// The core that this thread runs on, and its row.
    CORE
}

/// Moves this thread to the second core.
pub fn run_on_second_core() {
    CORE.with(|core| core.set(1));
}

/// Returns the number of this thread's row. In a model each thread has one.
#[allow(clippy::unnecessary_wraps)] // as where threads may have none
pub(super) fn row() -> Option<usize> {
    Some(core())
}

/// Returns a place that is none.
pub(super) fn number_place() -> usize {
    1
}

/// Returns the number of this thread's row.
///
/// # Safety
/// None is needed here.
pub(super) unsafe fn number_at(_place: usize) -> usize {
    core()
}

fn core() -> usize {
    CORE.with(Cell::get)
}

global! {
    /// Returns the word with the numbers of open rows.
    pub(super) fn open_rows() -> AtomicUsize = AtomicUsize::new(1);
}

/// Returns whether a row is open. (The first is always open, without a step of the model.)
fn is_open(row: usize) -> bool {
    row == 0 || row < open_rows::open_rows().first
}

thread_number! {
    /// The row that this thread remembers.
    REMEMBERED
}

/// Returns whether this thread remembers its row, or finds that it is open; then it remembers it.
fn is_open_as_remembered(row: usize) -> bool {
    let is_open = REMEMBERED.with(Cell::get) == row || is_open(row);
    if is_open {
        REMEMBERED.with(|remembered| remembered.set(row));
    }
    is_open
}

global! {
    /// The number of times that a thread has taken each core over.
    fn cores() -> [Mutex<u64>; 2] = [Mutex::new(0), Mutex::new(0)];
}

fn take_over(core: usize) -> u64 {
    let mut core = cores()[core].lock().unwrap();
    *core += 1;
    *core
}

/// Runs a sequence that commits by `commit`, to which it gives the cell and the number that it has
/// loaded from there, unless it is aborted.
fn sequence<N: Numbering>(
    column: PerCoreColumn<N>,
    on_miss: impl OnMiss,
    commit: impl FnOnce(&AtomicU64, u64),
) {
    let row = core();
    let mine = take_over(row);
    if !N::is_open(row) {
        return on_miss.missed(Miss::NoRow);
    }
    let cell = column.column().cell(row);
    let number = cell.load(Ordering::Relaxed);
    let core = cores()[row].lock().unwrap();
    if *core == mine {
        commit(cell, number);
    } else {
        drop(core);
        on_miss.missed(Miss::Aborted);
    }
}

pub(crate) fn add<N: Numbering>(column: PerCoreColumn<N>, n: u64, on_miss: impl OnMiss) {
    sequence(column, on_miss, |cell, number| {
        cell.store(number.wrapping_add(n), Ordering::Release); // as the real one
    });
}

pub(crate) fn raise<N: Numbering>(column: PerCoreColumn<N>, value: u64, on_miss: impl OnMiss) {
    sequence(column, on_miss, |cell, number| {
        if number < value {
            overwrite(cell, value, Ordering::Release); // as the real one
        }
    });
}

/// Runs a sequence on the live bucket's columns. Each step is given the first cell of this thread's
/// row, and stores. The last step is the commit; those before it may be repeated. [`Step::Done`]
/// ends the sequence.
///
/// # Safety
/// The contract of the real `add_live`.
unsafe fn live_sequence<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    missed: impl FnOnce(Miss),
    steps: &[&dyn Fn(Row) -> Step],
) {
    let row = core();
    let mine = take_over(row);
    // SAFETY: by contract. Acquire: as every load is on x86-64; on arm64 addresses depend on it.
    let live = unsafe { &*(*live.current()).load(Ordering::Acquire) };
    if !live.contains(at) {
        return missed(Miss::OtherBucket);
    }
    let word = live.column.load(Ordering::Relaxed);
    if !N::is_open(row) {
        return missed(Miss::NoRow);
    }
    let cells = Row { first: PerCoreColumn::<N>(word, PhantomData).column(), row };
    // The sequence has loaded everything, and the cells that it will store are decided. Its steps
    // follow one by one; a barrier, or another thread, may come before each.
    for step in steps {
        let core = cores()[row].lock().unwrap();
        if *core != mine {
            drop(core);
            return missed(Miss::Aborted);
        }
        match step(cells) {
            Step::GoOn => {}
            Step::Done => return,
            Step::Refuse(why) => {
                drop(core);
                return missed(why);
            }
        }
    }
}

/// A block's cells in one row.
#[derive(Clone, Copy)]
struct Row {
    first: Column,
    row: usize,
}

impl Row {
    fn cell(self, position: usize) -> &'static AtomicU64 {
        self.first.right(position).cell(self.row)
    }
}

/// The continuation after a step.
enum Step {
    GoOn,
    Done,
    Refuse(Miss),
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn add_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    position: usize,
    n: u64,
    missed: impl FnOnce(Miss),
) {
    let commit = |row: Row| {
        plain_add(row.cell(position), n);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn raise_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    position: usize,
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let commit = |row: Row| {
        plain_raise(row.cell(position), value);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn record_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, extremes): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let compare = |row: Row| {
        let within = |at, value| row.cell(at).load(Ordering::Relaxed) >= value;
        if within(extremes, value) && within(extremes + 1, !value) {
            Step::GoOn
        } else {
            Step::Refuse(Miss::Extreme)
        }
    };
    let commit = |row: Row| {
        plain_record(row, pair, value, 1);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&compare, &commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn record_pending<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, pending): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let note = |row: Row| {
        if pends(row.cell(pair)) {
            return Step::Refuse(Miss::Aborted);
        }
        row.cell(pending).store(value, Ordering::Release);
        Step::GoOn
    };
    let commit = |row: Row| {
        plain_record(row, pair, value, 1 | PENDING);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&note, &commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn fold_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, extremes, pending): (usize, usize, usize),
    missed: impl FnOnce(Miss),
) {
    let raise = |row: Row| {
        if !pends(row.cell(pair)) {
            return Step::Done;
        }
        let value = row.cell(pending).load(Ordering::Relaxed);
        plain_raise(row.cell(extremes), value);
        plain_raise(row.cell(extremes + 1), !value);
        Step::GoOn
    };
    let commit = |row: Row| {
        let count = row.cell(pair);
        count.store(count.load(Ordering::Relaxed) & !PENDING, Ordering::Release);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&raise, &commit]) }
}

fn pends(count: &AtomicU64) -> bool {
    count.load(Ordering::Relaxed) & PENDING != 0
}

/// Represents one store of both. Readers may see the sum before the count.
fn plain_record(row: Row, pair: usize, value: u64, one: u64) {
    plain_add(row.cell(pair + 1), value);
    plain_add(row.cell(pair), one);
}

fn plain_add(cell: &AtomicU64, n: u64) {
    let number = cell.load(Ordering::Relaxed);
    cell.store(number.wrapping_add(n), Ordering::Release); // as the real one
}

fn plain_raise(cell: &AtomicU64, value: u64) {
    if cell.load(Ordering::Relaxed) < value {
        cell.store(value, Ordering::Release);
    }
}

/// True, although count and sum are two stores in a model: the count comes last.
pub(crate) fn pairs_are_whole() -> bool {
    true
}

pub(super) fn register_for_membarrier() -> bool {
    true
}

/// Takes the cores over from threads in the middle of a sequence.
///
/// The kernel may take long for this, so the caller must not be pinned. In a model only one window
/// opens buckets, so no two threads are in this call at once.
pub(super) fn membarrier() -> bool {
    assert!(!reclaim::is_pinned(), "a barrier is asked for while pinned");
    assert_eq!(inside().fetch_add(1, Ordering::Relaxed), 0, "two threads ask for a barrier");
    (0..cores().len()).for_each(|core| _ = take_over(core));
    inside().fetch_sub(1, Ordering::Relaxed);
    true
}

global! {
    /// The number of threads in a barrier.
    fn inside() -> AtomicUsize = AtomicUsize::new(0);
}

pub(super) fn detect(_dense: bool) -> bool {
    true
}
