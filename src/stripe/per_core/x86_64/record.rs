//! Recording a value in one core's cells of the live bucket.
//!
//! A record changes four cells of its row. One store of sixteen bytes commits count and sum; the
//! two extremes do not fit into it. Nearly every value lies between the extremes that its row has
//! seen: then a record writes only count and sum ([`record_live`]). A value beyond them is first
//! written into the row's *pending* cell, which counts for nothing yet ([`record_pending`]). The
//! usual store then commits it, and also sets the highest bit of the count ([`PENDING`]): from then
//! on the value is counted, and is an extreme. A later sequence raises the extremes to it, in two
//! stores that may be repeated, and then clears the bit ([`fold_live`]). Readers and closers
//! include the pending value where the bit is set
//! ([`rows::extremes`](crate::arena::rows::extremes)).
//! So a sequence that is aborted at any point leaves no trace of a value that it has not counted.
//!
//! The bit is the count's highest: so a row's count wraps at 2^63 records, which at one record each
//! nanosecond takes 292 years.

use std::arch::asm;
use std::arch::x86_64::_mm_set_epi64x;
use std::mem::offset_of;

use crate::memory::column::Column;
use crate::stripe::live_bucket::{HasLive, Live, LiveBucket, PENDING};
use crate::stripe::misses::Miss;
use crate::stripe::per_core::detect::{DETECTED, Detected, area};
use crate::stripe::per_core::x86_64::detected;
use crate::stripe::per_core::x86_64::remembered::Remembered;
use crate::stripe::per_core::{Numbering, distance};

/// Records `value` in this core's cells of the live bucket, if `at` lies in the bucket and the
/// value between the extremes that its row has seen. Otherwise calls `missed`, without having
/// written.
///
/// The count is the cell at `pair`, an even position; the sum is the next cell. The maximum is the
/// cell at `extremes`; the complement of the minimum is the next cell. One store of sixteen bytes
/// commits count and sum together. Readers see it in one piece where
/// [`pairs_are_whole`](super::pairs_are_whole).
///
/// # Safety
/// The contract of [`add_live`](super::add_live).
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
        quick_live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "cmp qword ptr [{row} + 8 * {extremes}], {value}",
                "jb {extreme}",
                "cmp qword ptr [{row} + 8 * {extremes} + 8], {inverse}",
                "jb {extreme}",
                "movdqa {sums}, xmmword ptr [{row} + 8 * {pair}]",
                "paddq {sums}, {step}",
                "movdqa xmmword ptr [{row} + 8 * {pair}], {sums}"
            ],
            extreme = label { missed(Miss::Extreme) },
            // Positions, which the processor multiplies: `missed` may need them, too.
            pair = in(reg) pair,
            extremes = in(reg) extremes,
            value = in(reg) value,
            inverse = in(reg) !value,
            sums = out(xmm_reg) _,
            step = in(xmm_reg) _mm_set_epi64x(value.cast_signed(), 1)
        );
    }
}

/// Records any `value` as the pending value of this core's row, in all other respects like
/// [`record_live`]. If the row has a pending value already, it misses as if aborted: call
/// [`fold_live`] first.
///
/// # Safety
/// The contract of [`add_live`](super::add_live); `pending` is a position of the same
/// claim.
pub(crate) unsafe fn record_pending<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    (pair, pending): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let one = (1 | PENDING).cast_signed();
    // SAFETY: as in `record_live`.
    unsafe {
        live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "cmp qword ptr [{row} + {pair}], 0",
                "js {pends}",
                // No reader uses it before the commit sets the bit.
                "mov qword ptr [{row} + {pending}], {value}",
                "movdqa {sums}, xmmword ptr [{row} + {pair}]",
                "paddq {sums}, {step}",
                "movdqa xmmword ptr [{row} + {pair}], {sums}"
            ],
            pends = label { missed(Miss::Aborted) },
            pair = in(reg) distance(pair),
            pending = in(reg) distance(pending),
            value = in(reg) value,
            sums = out(xmm_reg) _,
            step = in(xmm_reg) _mm_set_epi64x(value.cast_signed(), one)
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
                "cmp qword ptr [{row} + {pair}], 0",
                "jns 63f",
                // Both stores may be repeated: the value has been counted in this row.
                "mov {value}, qword ptr [{row} + {pending}]",
                "cmp qword ptr [{row} + {extremes}], {value}",
                "jae 67f",
                "mov qword ptr [{row} + {extremes}], {value}",
                "67:",
                "not {value}",
                "cmp qword ptr [{row} + {extremes} + 8], {value}",
                "jae 68f",
                "mov qword ptr [{row} + {extremes} + 8], {value}",
                "68:",
                "btr qword ptr [{row} + {pair}], {pends}"
            ],
            pair = in(reg) distance(pair),
            extremes = in(reg) distance(extremes),
            pending = in(reg) distance(pending),
            pends = const PENDING.ilog2(),
            value = out(reg) _
        );
    }
}
