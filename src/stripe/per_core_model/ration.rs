//! The sequences on a core's ration in a model: what they load, and their one store to it, are decided when they begin.

use super::{Numbering, PerCoreColumn, core, cores, is_open, take_over};
use crate::stripe::miss::{Miss, MissCell, OnMiss};
use crate::stripe::ration::Ration;
use crate::sync::Ordering;

/// A sequence that puts what `commit` makes of this core's ration in its place, unless it is aborted or that is nothing.
fn sequence<N: Numbering>(
    column: PerCoreColumn<N>,
    commit: impl FnOnce(Ration) -> Option<Ration>,
) -> Result<(), Miss> {
    let row = core();
    let mine = take_over(row);
    if !is_open(row) {
        return Err(Miss::NoRow);
    }
    let (last, left) = (column.column().cell(row), column.column().right(1).cell(row));
    let there = Ration { last: last.load(Ordering::Relaxed), left: left.load(Ordering::Relaxed) };
    let Some(new) = commit(there) else { return Ok(()) };
    let core = cores()[row].lock().unwrap();
    if *core != mine {
        return Err(Miss::Aborted);
    }
    // One store, of sixteen bytes or of eight: no other thread on the core comes in between.
    last.store(new.last, Ordering::Release); // as every store is on x86-64
    left.store(new.left, Ordering::Release);
    Ok(())
}

pub(crate) fn take<N: Numbering>(column: PerCoreColumn<N>, now: u64, n: u64) -> bool {
    let mut taken = false;
    let commit = |there: Ration| {
        let left = there.left.checked_sub(n).filter(|_| there.last >= now)?;
        taken = true;
        Some(Ration { left, ..there })
    };
    sequence(column, commit).is_ok() && taken
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
        Some(new)
    };
    if let Err(miss) = sequence(column, tell) {
        on_miss.missed(miss);
    }
}
