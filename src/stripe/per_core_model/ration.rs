//! The sequences on a core's ration in a model: their loads, and the value of their one store, are
//! decided when they begin.

use super::{Numbering, PerCoreColumn, core, cores, is_open, take_over};
use crate::stripe::misses::{Miss, MissCell, OnMiss};
use crate::stripe::ration::{Ration, Untaken};
use crate::sync::Ordering;

/// Runs a sequence that replaces this core's ration by `commit` of it, unless it is aborted.
fn sequence<N: Numbering, E>(
    column: PerCoreColumn<N>,
    missed: impl FnOnce(Miss) -> E,
    commit: impl FnOnce(Ration) -> Result<Ration, E>,
) -> Result<(), E> {
    let row = core();
    let mine = take_over(row);
    if !is_open(row) {
        return Err(missed(Miss::NoRow));
    }
    let (last, left) = (column.column().cell(row), column.column().right(1).cell(row));
    let there = Ration { last: last.load(Ordering::Relaxed), left: left.load(Ordering::Relaxed) };
    let new = commit(there)?;
    let core = cores()[row].lock().unwrap();
    if *core != mine {
        drop(core);
        return Err(missed(Miss::Aborted));
    }
    // One store, of sixteen bytes or of eight: no other thread on the core comes in between.
    // Relaxed, which is weaker than a store on x86-64: a ration orders no other memory.
    last.store(new.last, Ordering::Relaxed);
    left.store(new.left, Ordering::Relaxed);
    Ok(())
}

pub(crate) fn take<N: Numbering>(
    column: PerCoreColumn<N>,
    now: u64,
    n: u64,
) -> Result<(), Untaken> {
    sequence(column, |_| Untaken::Otherwise, |there| there.less(n, now))
}

/// # Safety
/// As for the real one.
pub(crate) unsafe fn swap<N: Numbering>(
    column: PerCoreColumn<N>,
    new: Ration,
    old: *mut Ration,
    on_miss: &MissCell,
) {
    let tell = |there: Ration| {
        // SAFETY: by contract.
        unsafe { *old = there };
        Ok(new)
    };
    if let Err(miss) = sequence(column, |miss| miss, tell) {
        on_miss.missed(miss);
    }
}
