//! The sequences on arm64, which orders memory less than x86-64 does.
//!
//! They make the same promises as those of x86-64 ([`per_core`](super)). The differences, and why
//! the promises hold:
//!
//! * A commit is a Release (`stlr`, `stlxp`), as are the stores of a pending value and of an
//!   extreme: these are the orders of `per_core_model`, which the models check on weak memory.
//! * The load of the live bucket's address is a plain one, where the model says Acquire. All later
//!   loads of the sequence have addresses that were computed from it: the bucket's fields, and
//!   through them the cells. Arm orders such loads (an *address dependency*). The compiler cannot
//!   break the dependency, because all of it is one `asm!`. An `ldar` would have to wait for the
//!   commit of the add before.
//! * The number of open rows is a plain load, as in the model. The theorem of
//!   [`open_rows`](crate::stripe::open_rows) needs coherence alone. A closer needs that a value
//!   loaded by one processor is visible to all, once a barrier has passed: Arm's memory is
//!   multicopy atomic since Armv8.
//! * Sixteen bytes are committed by an exclusive pair. A store-exclusive pair that succeeds writes
//!   all of them at once (Arm Architecture Reference Manual, B2.2, "Requirements for single-copy
//!   atomicity"), on every processor, where a plain pair does so only since Armv8.4. If it fails,
//!   nothing was written, and the sequence counts as aborted. Only an interruption, or a thread
//!   that writes beside the pair, makes it fail.
//! * A row passes from one processor to another where rows are numbered by concurrency id. The
//!   kernel orders the writes of the one before the reads of the other: its own self-tests count in
//!   such rows on arm64.

use std::mem::offset_of;

use super::Numbering;
use super::detect::{Detected, area};
use crate::stripe::live_bucket::LiveBucket;

#[macro_use]
mod sequence;
mod number; // after the macros that they use
mod ration;
mod record;
mod row;

pub(crate) use number::{add, add_live, raise, raise_live};
pub(crate) use ration::{swap, take};
pub(crate) use record::{fold_live, record_live, record_pending};
pub(in crate::stripe) use row::{number_at, row};

/// The numbering of the adds that are in line: by concurrency id. The tag is the highest bit, so
/// that sequences need not subtract it. The processor ignores the highest byte of an address
/// (Linux, `Documentation/arch/arm64/tagged-pointers.rst`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLine {}

impl Numbering for InLine {
    const NUMBER: usize = area::MM_CID;
    const TAG: usize = 1 << 63;
}

/// Returns whether adds by concurrency id may be in line: always.
pub(super) fn may_be_in_line() -> bool {
    true
}

// Sequences load two fields at once.
const _: () = assert!(offset_of!(Detected, open) == offset_of!(Detected, area) + 8);
const _: () = assert!(offset_of!(LiveBucket, span) == offset_of!(LiveBucket, start) + 8);

/// The signature that the kernel expects before an abort address: glibc's choice for arm64,
/// `brk #0x45e0`.
#[cfg(test)]
pub(super) const SIGNATURE: u32 = 0xd428_bc00;

/// Returns whether the processor stores the sixteen bytes of [`record_live`] in one piece: always,
/// by an exclusive pair.
pub(crate) fn pairs_are_whole() -> bool {
    true
}

/// Reads eight bytes of this thread's area, at a distance from the thread pointer.
#[cfg(test)]
pub(super) fn word_at(offset: usize) -> u64 {
    let word: u64;
    // SAFETY: reads this thread's area, which is registered.
    unsafe {
        std::arch::asm!(
            "mrs {word}, tpidr_el0",
            "ldr {word}, [{word}, {offset}]",
            word = out(reg) word,
            offset = in(reg) offset,
            options(nostack, readonly, preserves_flags),
        );
    }
    word
}

/// Checks that the sequence of an add begins by reading `cpu_id`, and ends with the commit.
///
/// # Safety
/// `start` and `end` are those of a sequence.
#[cfg(test)]
pub(super) unsafe fn check_ends(start: u64, end: u64) {
    // SAFETY: by contract.
    let (first, last) = unsafe { (*(start as *const u32), *((end - 4) as *const u32)) };
    assert_eq!(first & 0xffff_fc00, 0xb940_0400, "{first:x} is no `ldr w, [x, #4]`");
    assert_eq!(last & 0xffff_fc00, 0xc89f_fc00, "{last:x} is no `stlr x, [x]`");
}
