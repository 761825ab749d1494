//! This core's ration: taking from it, and replacing it. See `x86_64/ration.rs`.
//!
//! A ration orders no other memory, so its stores are plain; a whole pair is written by an
//! exclusive store, which leaves no half of it if the thread is interrupted.

use std::arch::asm;
use std::mem::offset_of;

use crate::memory::column::Column;
use crate::stripe::misses::{Miss, MissCell, OnMiss};
use crate::stripe::per_core::detect::{DETECTED, Detected, area};
use crate::stripe::per_core::{Numbering, PerCoreColumn};
use crate::stripe::ration::{Ration, Untaken};

/// Takes `n` from this core's ration, if at least `n` is left, and `now` is not after the ration's
/// last nanosecond.
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of a grant
pub(crate) fn take<N: Numbering>(
    column: PerCoreColumn<N>,
    now: u64,
    n: u64,
) -> Result<(), Untaken> {
    // SAFETY: the theorem of `per_core`. Two columns were claimed.
    unsafe {
        sequence!(
            numbering: N,
            checks: [],
            commit: [
                "add {row}, {column}, {row}, lsl #{row_shift}",
                "ldp {other}, {scratch}, [{row}]",
                "subs {scratch}, {scratch}, {n}",
                "b.lo {short}",
                "cmp {other}, {now}",
                "b.lo {ended}",
                "str {scratch}, [{row}, #8]"
            ],
            behind: [],
            column = in(reg) column.word,
            aborted = label { return Err(Untaken::Otherwise) },
            no_row = label { return Err(Untaken::Otherwise) },
            short = label { return Err(Untaken::Short) },
            ended = label { return Err(Untaken::Otherwise) },
            now = in(reg) now,
            n = in(reg) n
        );
    }
    Ok(())
}

/// Replaces this core's ration, and writes the old one to `old`. Calls `on_miss` instead if the
/// sequence missed: then the row is unchanged.
///
/// # Safety
/// `old` may be written, and is aligned. Two columns were claimed together, and `column` is the
/// first of them.
pub(crate) unsafe fn swap<N: Numbering>(
    column: PerCoreColumn<N>,
    new: Ration,
    old: *mut Ration,
    on_miss: &MissCell,
) {
    const { assert!(offset_of!(Ration, last) == 0 && offset_of!(Ration, left) == 8) };
    // SAFETY: the theorem of `per_core`, and the contract. A claim of two begins at a multiple of
    // sixteen bytes.
    unsafe {
        column_sequence!(
            N,
            column,
            on_miss,
            [
                // May be repeated, and is ignored if the sequence is aborted.
                "ldp {scratch}, {other}, [{row}]",
                "stp {scratch}, {other}, [{old}]",
                "ldxp {scratch}, {other}, [{row}]",
                "stxp {scratch:w}, {last}, {left}, [{row}]"
            ],
            behind: ["cbnz {scratch:w}, {aborted}"],
            old = in(reg) old,
            last = in(reg) new.last,
            left = in(reg) new.left
        );
    }
}
