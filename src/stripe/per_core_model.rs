//! The per-core strategy in a model (`--cfg windrow_per_core`): loom and shuttle cannot see the
//! sequences, so they are steps here, with possible aborts between them.
//!
//! All threads of the model share one core: the worst case. A sequence begins by taking the core over,
//! and loads the cell. Each of its stores is a step; the last is the commit. If another thread has taken
//! the core over since, the kernel would have sent the thread to the abort address: the step is not done.
//! If a store were one step with the load, the model would hide the gap that the restart is for. If it were
//! one step with the commit, the model would hide what an aborted sequence stored before it.
//!
//! The lock is the model's alone. It stands for the scheduler, which lets one thread at a time run
//! on a core, and orders what two threads do there one after the other.

use std::ptr::NonNull;

use super::live_bucket::{LiveBucket, PENDING};
use super::retry::Miss;
use crate::memory::column::Column;
use crate::reclaim;
use crate::sync::{AtomicPtr, AtomicU64, AtomicUsize, Mutex, Ordering, global};

/// The lowest bit of a column's address: adds to it are per core.
const TAG: usize = 1;

/// A column with per-core adds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerCoreColumn(*mut AtomicU64);

impl PerCoreColumn {
    pub(crate) fn column(self) -> Column {
        let first = self.0.map_addr(|address| address & !TAG);
        // SAFETY: made of a column by `tag`.
        unsafe { Column::new(NonNull::new_unchecked(first)) }
    }
}

pub(super) fn tag(column: Column) -> *mut AtomicU64 {
    column.first().as_ptr().map_addr(|address| address | TAG)
}

pub(super) fn untag(word: *mut AtomicU64) -> Option<PerCoreColumn> {
    (word.addr() & TAG != 0).then_some(PerCoreColumn(word))
}

global! {
    /// How often a thread has taken the core over.
    fn core() -> Mutex<u64> = Mutex::new(0);
}

fn take_over() -> u64 {
    let mut core = core().lock().unwrap();
    *core += 1;
    *core
}

/// A sequence that stores what `commit` makes of the cell's number, unless it is aborted.
fn sequence(column: PerCoreColumn, aborted: impl FnOnce(), commit: impl Fn(u64) -> u64) {
    let mine = take_over();
    let cell = column.column().cell(0);
    let number = cell.load(Ordering::Relaxed);
    let core = core().lock().unwrap();
    if *core == mine {
        cell.store(commit(number), Ordering::Release); // a plain store is Release on x86-64
    } else {
        drop(core);
        aborted();
    }
}

pub(crate) fn add(column: PerCoreColumn, n: u64, aborted: impl FnOnce(), _no_row: impl FnOnce()) {
    sequence(column, aborted, |number| number.wrapping_add(n));
}

pub(crate) fn raise(
    column: PerCoreColumn,
    value: u64,
    aborted: impl FnOnce(),
    _no_row: impl FnOnce(),
) {
    sequence(column, aborted, |number| number.max(value));
}

/// A sequence on the live bucket's columns. Each step gets the first column, and stores. The last step is
/// the commit; those before it may be repeated. [`Step::Done`] ends the sequence.
///
/// # Safety
/// As for the real `add_live`.
unsafe fn live_sequence(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    missed: impl FnOnce(Miss),
    steps: &[&dyn Fn(Column) -> Step],
) {
    let mine = take_over();
    // SAFETY: by contract. Acquire: as every load is on x86-64.
    let live = unsafe { &*(*live).load(Ordering::Acquire) };
    if !live.contains(at) {
        return missed(Miss::OtherBucket);
    }
    let word = live.column.load(Ordering::Relaxed);
    // What the sequence loaded, and where it will store, is decided now. Its steps follow one by one; a
    // barrier, or another thread, may come before each.
    for step in steps {
        let core = core().lock().unwrap();
        if *core != mine {
            drop(core);
            return missed(Miss::Aborted);
        }
        match step(PerCoreColumn(word).column()) {
            Step::GoOn => {}
            Step::Done => return,
            Step::Refuse(why) => {
                drop(core);
                return missed(why);
            }
        }
    }
}

/// What comes after a step.
enum Step {
    GoOn,
    Done,
    Refuse(Miss),
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn add_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    position: usize,
    n: u64,
    missed: impl FnOnce(Miss),
) {
    let commit = |column: Column| {
        plain_add(column.right(position), n);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, missed, &[&commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn raise_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    position: usize,
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let commit = |column: Column| {
        plain_raise(column.right(position), value);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, missed, &[&commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn record_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    (pair, extremes): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let compare = |column: Column| {
        let within = |at, value| column.right(at).cell(0).load(Ordering::Relaxed) >= value;
        if within(extremes, value) && within(extremes + 1, !value) {
            Step::GoOn
        } else {
            Step::Refuse(Miss::Extreme)
        }
    };
    let commit = |column: Column| {
        plain_record(column.right(pair), value, 1);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, missed, &[&compare, &commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn record_pending(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    (pair, pending): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let note = |column: Column| {
        if pends(column.right(pair)) {
            return Step::Refuse(Miss::Aborted);
        }
        column.right(pending).cell(0).store(value, Ordering::Release);
        Step::GoOn
    };
    let commit = |column: Column| {
        plain_record(column.right(pair), value, 1 | PENDING);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, missed, &[&note, &commit]) }
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn fold_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    (pair, extremes, pending): (usize, usize, usize),
    missed: impl FnOnce(Miss),
) {
    let raise = |column: Column| {
        if !pends(column.right(pair)) {
            return Step::Done;
        }
        let value = column.right(pending).cell(0).load(Ordering::Relaxed);
        plain_raise(column.right(extremes), value);
        plain_raise(column.right(extremes + 1), !value);
        Step::GoOn
    };
    let commit = |column: Column| {
        let count = column.right(pair).cell(0);
        count.store(count.load(Ordering::Relaxed) & !PENDING, Ordering::Release);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence(live, at, missed, &[&raise, &commit]) }
}

fn pends(count: Column) -> bool {
    count.cell(0).load(Ordering::Relaxed) & PENDING != 0
}

/// Stands for one store of both. Readers may see the sum before the count.
fn plain_record(pair: Column, value: u64, one: u64) {
    plain_add(pair.right(1), value);
    plain_add(pair, one);
}

fn plain_add(column: Column, n: u64) {
    let cell = column.cell(0);
    let number = cell.load(Ordering::Relaxed);
    cell.store(number.wrapping_add(n), Ordering::Release); // as every store is on x86-64
}

fn plain_raise(column: Column, value: u64) {
    let cell = column.cell(0);
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

/// Takes the core over from a thread in the middle of a sequence.
///
/// The kernel may take long over it. So a caller is not pinned. In a model one window opens buckets, so no
/// two threads are in it at once.
pub(super) fn membarrier() -> bool {
    assert!(!reclaim::is_pinned(), "a barrier is asked for while pinned");
    assert_eq!(inside().fetch_add(1, Ordering::Relaxed), 0, "two threads ask for a barrier");
    take_over();
    inside().fetch_sub(1, Ordering::Relaxed);
    true
}

global! {
    /// How many threads are in a barrier.
    fn inside() -> AtomicUsize = AtomicUsize::new(0);
}

pub(super) fn detect(_rows: usize, _dense: bool) -> bool {
    true
}
