//! This core's ration: taking from it, and replacing it.
//!
//! A ration is two neighbouring cells of a row, `last` and `left`, at an even position. Both
//! sequences have one store to them, which is the last instruction. Before that, [`swap`] stores
//! the old ration for its caller: this store may be repeated, and is ignored if the sequence was
//! aborted.
//!
//! A thread that reads a ration in a sequence is on the row's core, as was the thread that wrote
//! it. So it finds a store of sixteen bytes whole, even on processors that promise this to no other
//! core.

use std::arch::asm;
use std::arch::x86_64::_mm_set_epi64x;
use std::mem::offset_of;

use crate::memory::column::Column;
use crate::stripe::misses::{Miss, MissCell, OnMiss};
use crate::stripe::per_core::detect::{Detected, area};
use crate::stripe::per_core::x86_64::detected;
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
        column_sequence!(
            N,
            column,
            aborted: return Err(Untaken::Otherwise),
            no_row: return Err(Untaken::Otherwise),
            [
                "mov {left}, qword ptr [{row} + {column} - {tag} + 8]",
                "sub {left}, {n}",
                "jb {short}",
                "cmp qword ptr [{row} + {column} - {tag}], {now}",
                "jb {ended}",
                "mov qword ptr [{row} + {column} - {tag} + 8], {left}"
            ],
            short = label { return Err(Untaken::Short) },
            ended = label { return Err(Untaken::Otherwise) },
            now = in(reg) now,
            n = in(reg) n,
            left = out(reg) _
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
    // SAFETY: the theorem of `per_core`, and the contract. A claim of two begins at a multiple of
    // sixteen bytes.
    unsafe {
        column_sequence!(
            N,
            column,
            aborted: on_miss.missed(Miss::Aborted),
            no_row: on_miss.missed(Miss::NoRow),
            [
                "movdqa {there}, xmmword ptr [{row} + {column} - {tag}]",
                "movdqa xmmword ptr [{old}], {there}",
                "movdqa xmmword ptr [{row} + {column} - {tag}], {new}"
            ],
            old = in(reg) old,
            there = out(xmm_reg) _,
            new = in(xmm_reg) _mm_set_epi64x(new.left.cast_signed(), new.last.cast_signed())
        );
    }
}
