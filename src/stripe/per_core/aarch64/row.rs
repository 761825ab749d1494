//! A thread's row, outside of a sequence.

use std::arch::asm;

use crate::stripe::per_core::detect::{DETECTED, area, numbered};
use crate::stripe::row_numbers::Numbered;
use crate::sync::Ordering;

/// Returns the number of this thread's row, which may be beyond all rows; `None` if the thread is
/// not registered.
#[inline]
pub(in crate::stripe) fn row() -> Option<usize> {
    let offset = DETECTED.area.load(Ordering::Relaxed); // published with the column that led here
    let number = match numbered() {
        Numbered::ById => area::MM_CID,
        Numbered::ByProcessor => area::CPU_ID,
    };
    let (processor, row): (i32, u32);
    // SAFETY: reads this thread's area, whose offset `detect` has found.
    unsafe {
        asm!(
            "mrs {area}, tpidr_el0",
            "add {area}, {area}, {offset}",
            "ldr {processor:w}, [{area}, #{cpu_id}]",
            "ldr {row:w}, [{area}, {number}]",
            area = out(reg) _,
            processor = out(reg) processor,
            row = out(reg) row,
            offset = in(reg) offset,
            number = in(reg) number,
            cpu_id = const area::CPU_ID,
            options(nostack, readonly, preserves_flags),
        );
    }
    usize::try_from(row).ok().filter(|_| processor >= 0)
}

/// Returns the number of this thread's row by its place; any number if the thread is not
/// registered.
///
/// # Safety
/// The place is that of [`number_place`](crate::stripe::per_core::number_place).
#[inline]
pub(in crate::stripe) unsafe fn number_at(place: usize) -> usize {
    let number: u32;
    // SAFETY: reads this thread's area, by the contract.
    unsafe {
        asm!(
            "mrs {thread}, tpidr_el0",
            "ldr {number:w}, [{thread}, {place}]",
            thread = out(reg) _,
            number = out(reg) number,
            place = in(reg) place,
            options(nostack, readonly, preserves_flags),
        );
    }
    number as usize
}
