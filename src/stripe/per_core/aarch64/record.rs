//! Recording a value in one core's cells of the live bucket. `x86_64/record.rs` explains the
//! writes, and why a record may be aborted anywhere: count and sum are committed together; a value
//! beyond the extremes of its row is first counted as the row's *pending* value.

use std::arch::asm;
use std::mem::offset_of;

use crate::memory::column::Column;
use crate::stripe::live_bucket::{HasLive, Live, LiveBucket, PENDING};
use crate::stripe::misses::Miss;
use crate::stripe::per_core::detect::{DETECTED, Detected, area};
use crate::stripe::per_core::{Numbering, distance};

/// Records `value` in this core's cells of the live bucket, if `at` lies in the bucket and the
/// value between the extremes that its row has seen. Otherwise calls `missed`, without having
/// written.
///
/// The count is the cell at `pair`, an even position; the sum is the next cell. The maximum is the
/// cell at `extremes`; the complement of the minimum is the next cell.
///
/// # Safety
/// As for [`add_live`](super::add_live).
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn record_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, extremes): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `add_live`. A claim, and each pair in it, begins at a multiple of sixteen
    // bytes.
    unsafe {
        live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "add {live}, {row}, {extremes}",
                "ldp {scratch}, {other}, [{live}]",
                "cmp {scratch}, {value}",
                "b.lo {extreme}",
                "cmp {other}, {inverse}",
                "b.lo {extreme}",
                "add {row}, {row}, {pair}",
                "ldxp {scratch}, {other}, [{row}]",
                "add {scratch}, {scratch}, #1",
                "add {other}, {other}, {value}",
                "stlxp {live:w}, {scratch}, {other}, [{row}]"
            ],
            behind: ["cbnz {live:w}, {aborted}"],
            extreme = label { missed(Miss::Extreme) },
            pair = in(reg) distance(pair),
            extremes = in(reg) distance(extremes),
            value = in(reg) value,
            inverse = in(reg) !value
        );
    }
}

/// Records any `value`, as the pending value of this core's row; otherwise as [`record_live`].
/// Misses as aborted if the row has a pending value already: call [`fold_live`] first.
///
/// # Safety
/// As for [`add_live`](super::add_live); `pending` is a position of the same claim.
pub(crate) unsafe fn record_pending<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, pending): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `record_live`.
    unsafe {
        live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "add {live}, {row}, {pending}",
                "add {row}, {row}, {pair}",
                "ldr {scratch}, [{row}]",
                "cmp {scratch}, #0",
                "b.mi {pends}",
                // No reader uses it before the commit sets the bit. Release: the extremes that were
                // raised to the last pending value come before.
                "stlr {value}, [{live}]",
                "ldxp {scratch}, {other}, [{row}]",
                "add {scratch}, {scratch}, {one}",
                "add {other}, {other}, {value}",
                "stlxp {live:w}, {scratch}, {other}, [{row}]"
            ],
            behind: ["cbnz {live:w}, {aborted}"],
            pends = label { missed(Miss::Aborted) },
            pair = in(reg) distance(pair),
            pending = in(reg) distance(pending),
            value = in(reg) value,
            one = in(reg) 1 | PENDING
        );
    }
}

/// Raises the extremes of this core's row to its pending value, if it has one, and clears the bit.
///
/// # Safety
/// The contract of [`record_pending`].
pub(crate) unsafe fn fold_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, extremes, pending): (usize, usize, usize),
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `record_live`.
    unsafe {
        live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "add {live}, {row}, {pair}",
                "ldr {scratch}, [{live}]",
                "cmp {scratch}, #0",
                "b.pl 63f",
                // Both stores may be repeated: the value has been counted in this row.
                "ldr {other}, [{row}, {pending}]",
                "add {row}, {row}, {extremes}",
                "ldr {scratch}, [{row}]",
                "cmp {scratch}, {other}",
                "b.hs 67f",
                "stlr {other}, [{row}]",
                "67:",
                "mvn {other}, {other}",
                "add {row}, {row}, #8",
                "ldr {scratch}, [{row}]",
                "cmp {scratch}, {other}",
                "b.hs 68f",
                "stlr {other}, [{row}]",
                "68:",
                "ldr {scratch}, [{live}]",
                "and {scratch}, {scratch}, #{counted}",
                "stlr {scratch}, [{live}]"
            ],
            behind: [],
            pair = in(reg) distance(pair),
            extremes = in(reg) distance(extremes),
            pending = in(reg) distance(pending),
            counted = const !PENDING
        );
    }
}
