//! Recording a value in one core's cells of the live bucket.
//!
//! A record changes four cells of its row: count and sum, which one store of sixteen bytes commits, and
//! the two extremes, which do not fit into it. Nearly every value lies between the extremes that its row
//! has seen: then count and sum are all there is to write ([`record_live`]). One that does not is written
//! into the row's *pending* cell, which says nothing yet, and then committed by the same store as any
//! other, which sets the highest bit of the count too ([`PENDING`]): from that moment on the value is
//! counted, and an extreme. The extremes themselves are raised to it by a later sequence, in two stores
//! that may be repeated, before the bit is cleared ([`fold_live`]); a reader, and whoever closes the
//! bucket, looks at the pending value where the bit is set ([`rows::extreme`](crate::arena::rows::extreme)). So a
//! sequence that is aborted anywhere has left nothing of a value that it has not counted.
//!
//! The highest bit is taken from the count of a row: it wraps at 2^63 records, which at one a nanosecond
//! is in 292 years.

use std::arch::asm;
use std::arch::x86_64::_mm_set_epi64x;
use std::mem::offset_of;

use super::detect::{DETECTED, Detected, area};
use crate::memory::column::COLUMNS;
use crate::stripe::live_bucket::{LiveBucket, PENDING};
use crate::stripe::retry::Miss;
use crate::sync::{AtomicPtr, AtomicU64};

/// Records `value` in this core's cells of the live bucket, if `at` lies in the bucket, and the value
/// between the extremes that its row has seen; or calls `missed`, when nothing was written.
///
/// The count is the cell at `pair`, an even position, and the sum the one behind it; the maximum is the
/// cell at `extremes`, and the complement of the minimum the one behind it. Count and sum are committed
/// together, by one store of sixteen bytes, which is one for readers too where
/// [`pairs_are_whole`](super::pairs_are_whole).
///
/// # Safety
/// As for [`add_live`](super::add_live).
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn record_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    (pair, extremes): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `add_live`. A claim begins at a multiple of sixteen bytes, and so does a pair.
    unsafe {
        live_sequence!(
            live,
            at,
            pair * size_of::<AtomicU64>(),
            missed,
            [
                "cmp qword ptr [{row} + {extremes} - 1], {value}",
                "jb {extreme}",
                "cmp qword ptr [{row} + {extremes} + 7], {inverse}",
                "jb {extreme}",
                "movdqa {sums}, xmmword ptr [{row} - 1]",
                "paddq {sums}, {step}",
                "movdqa xmmword ptr [{row} - 1], {sums}"
            ],
            extreme = label { missed(Miss::Extreme) },
            extremes = in(reg) (extremes - pair) * size_of::<AtomicU64>(),
            value = in(reg) value,
            inverse = in(reg) !value,
            sums = out(xmm_reg) _,
            step = in(xmm_reg) _mm_set_epi64x(value.cast_signed(), 1)
        );
    }
}

/// Records `value` as [`record_live`] does, whatever it is: as the pending value of this core's row.
/// Refuses as if aborted where there is a pending value already: [`fold_live`] first.
///
/// # Safety
/// As for [`add_live`](super::add_live); `pending` is a position of the same claim.
pub(crate) unsafe fn record_pending(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    (pair, pending): (usize, usize),
    value: u64,
    missed: impl FnOnce(Miss),
) {
    let one = (1 | PENDING).cast_signed();
    // SAFETY: as in `record_live`.
    unsafe {
        live_sequence!(
            live,
            at,
            pair * size_of::<AtomicU64>(),
            missed,
            [
                "cmp qword ptr [{row} - 1], 0",
                "js {pends}",
                // Nobody looks at it before the commit says so.
                "mov qword ptr [{row} + {pending} - 1], {value}",
                "movdqa {sums}, xmmword ptr [{row} - 1]",
                "paddq {sums}, {step}",
                "movdqa xmmword ptr [{row} - 1], {sums}"
            ],
            pends = label { missed(Miss::Aborted) },
            pending = in(reg) (pending - pair) * size_of::<AtomicU64>(),
            value = in(reg) value,
            sums = out(xmm_reg) _,
            step = in(xmm_reg) _mm_set_epi64x(value.cast_signed(), one)
        );
    }
}

/// Raises the extremes of this core's row to its pending value, if it has one, which then pends no more.
///
/// # Safety
/// As for [`record_pending`].
pub(crate) unsafe fn fold_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    (pair, extremes, pending): (usize, usize, usize),
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `record_live`.
    unsafe {
        live_sequence!(
            live,
            at,
            pair * size_of::<AtomicU64>(),
            missed,
            [
                "cmp qword ptr [{row} - 1], 0",
                "jns 63f",
                // Both may be done twice: the value was counted here.
                "mov {value}, qword ptr [{row} + {pending} - 1]",
                "cmp qword ptr [{row} + {extremes} - 1], {value}",
                "jae 67f",
                "mov qword ptr [{row} + {extremes} - 1], {value}",
                "67:",
                "not {value}",
                "cmp qword ptr [{row} + {extremes} + 7], {value}",
                "jae 68f",
                "mov qword ptr [{row} + {extremes} + 7], {value}",
                "68:",
                "btr qword ptr [{row} - 1], {pends}"
            ],
            extremes = in(reg) (extremes - pair) * size_of::<AtomicU64>(),
            pending = in(reg) (pending - pair) * size_of::<AtomicU64>(),
            pends = const PENDING.ilog2(),
            value = out(reg) _
        );
    }
}
