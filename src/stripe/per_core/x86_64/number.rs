//! Sequences on one number: an add and a raise, in a column and in the live bucket.

use std::arch::asm;
use std::mem::offset_of;

use crate::memory::column::Column;
use crate::stripe::live_bucket::{HasLive, Live, LiveBucket};
use crate::stripe::misses::{Miss, OnMiss};
use crate::stripe::per_core::detect::{DETECTED, Detected, area};
use crate::stripe::per_core::x86_64::detected;
use crate::stripe::per_core::x86_64::remembered::Remembered;
use crate::stripe::per_core::{Numbering, PerCoreColumn, distance};

/// Adds `n`, wrapping, to this core's cell of `column`. Calls `on_miss` instead, without having
/// written, if the kernel interrupted it, or if this thread has no open row: it is not registered,
/// or its core's row is not open yet or does not exist.
///
/// (It is a call because a result would cost instructions on the path without a miss.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn add<N: Numbering>(column: PerCoreColumn<N>, n: u64, on_miss: impl OnMiss) {
    // SAFETY: the theorem of `per_core`. Columns are tagged only after `detect` has filled
    // `DETECTED`. A column's segment has every row that may be open, and is never unmapped.
    unsafe {
        quick_column_sequence!(
            N,
            column,
            aborted: on_miss.missed(Miss::Aborted),
            no_row: on_miss.missed(Miss::NoRow),
            ["add qword ptr [{row} + {column} - {tag}], {n}"],
            n = in(reg) n
        );
    }
}

/// Raises this core's cell of `column` to `value`, if that is greater; otherwise it writes nothing
/// and calls nothing. (The store is also idempotent.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn raise<N: Numbering>(column: PerCoreColumn<N>, value: u64, on_miss: impl OnMiss) {
    // SAFETY: as in `add`.
    unsafe {
        quick_column_sequence!(
            N,
            column,
            aborted: on_miss.missed(Miss::Aborted),
            no_row: on_miss.missed(Miss::NoRow),
            [
                "cmp qword ptr [{row} + {column} - {tag}], {value}",
                "jae 63f",
                "mov qword ptr [{row} + {column} - {tag}], {value}"
            ],
            value = in(reg) value
        );
    }
}

/// Adds `n`, wrapping, to this core's cell of the live bucket at `position`, if `at` lies in the
/// bucket. Otherwise calls `missed`, without having written.
///
/// # Safety
/// `live.current` points at a [`LiveBucket`] that does not change until a barrier has ended that
/// began after it was made to point elsewhere. Unless its `span` is zero, its claim includes the
/// cell at `position`.
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn add_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    position: usize,
    n: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: the theorem of `per_core`, and the contract: a barrier restarts the sequence, so that
    // it does not use values loaded before the barrier.
    unsafe {
        quick_live_sequence!(
            N,
            live,
            at,
            missed,
            ["add qword ptr [{row} + {cell}], {n}"],
            cell = in(reg) distance(position),
            n = in(reg) n
        );
    }
}

/// Raises this core's cell of the live bucket at `position` to `value`, if that is greater, and if
/// `at` lies in the bucket. Otherwise calls `missed`, without having written.
///
/// The one store is the last instruction. So an aborted sequence leaves no trace of its value in a
/// bucket where it does not count. The store is also idempotent.
///
/// # Safety
/// The contract of [`add_live`].
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn raise_live<N: Numbering, W: HasLive>(
    live: Live<W>,
    at: u64,
    position: usize,
    value: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `add_live`.
    unsafe {
        quick_live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "cmp qword ptr [{row} + {cell}], {value}",
                "jae 63f",
                "mov qword ptr [{row} + {cell}], {value}"
            ],
            cell = in(reg) distance(position),
            value = in(reg) value
        );
    }
}
