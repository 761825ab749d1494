//! Sequences on one number: an add and a raise, in a column and in the live bucket.

use std::arch::asm;
use std::mem::offset_of;

use crate::memory::column::Column;
use crate::stripe::live_bucket::{HasLive, Live, LiveBucket};
use crate::stripe::misses::{Miss, OnMiss};
use crate::stripe::per_core::detect::{DETECTED, Detected, area};
use crate::stripe::per_core::{Numbering, PerCoreColumn, distance};

/// Adds `n`, wrapping, to this core's cell of `column`. Calls `on_miss` instead if the kernel
/// interrupted the sequence, or if this thread has no open row. Then nothing was written.
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn add<N: Numbering>(column: PerCoreColumn<N>, n: u64, on_miss: impl OnMiss) {
    // SAFETY: the theorem of `per_core`. Columns are tagged only after `detect` has filled
    // `DETECTED`. A column's segment has every row that may be open, and is never unmapped.
    unsafe {
        column_sequence!(
            N,
            column,
            on_miss,
            [
                "ldr {scratch}, [{row}]",
                "add {scratch}, {scratch}, {n}",
                "stlr {scratch}, [{row}]"
            ],
            behind: [],
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
        column_sequence!(
            N,
            column,
            on_miss,
            [
                "ldr {scratch}, [{row}]",
                "cmp {scratch}, {value}",
                "b.hs 63f",
                "stlr {value}, [{row}]"
            ],
            behind: [],
            value = in(reg) value
        );
    }
}

/// Adds `n`, wrapping, to this core's cell of the live bucket at `position`, if `at` lies in the
/// bucket. Otherwise calls `missed`, without having written.
///
/// # Safety
/// `live.current` points at a [`LiveBucket`] that does not change until a barrier has ended that
/// began after it was made to point elsewhere. Unless its `span` is zero, its column is tagged,
/// and its claim includes the cell at `position`.
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
        live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "add {row}, {row}, {cell}",
                "ldr {scratch}, [{row}]",
                "add {scratch}, {scratch}, {n}",
                "stlr {scratch}, [{row}]"
            ],
            behind: [],
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
        live_sequence!(
            N,
            live,
            at,
            missed,
            [
                "add {row}, {row}, {cell}",
                "ldr {scratch}, [{row}]",
                "cmp {scratch}, {value}",
                "b.hs 63f",
                "stlr {value}, [{row}]"
            ],
            behind: [],
            cell = in(reg) distance(position),
            value = in(reg) value
        );
    }
}
