//! Writing a cell that one thread alone writes: without a lock prefix.
//!
//! On x86-64 an add is one instruction, which a signal handler cannot come into the middle of. Each
//! is a plain load and a plain store to other threads: they read one before or after the store, and
//! nobody else writes. So they are atomic without being locked. A plain store is Release there, and
//! the `asm!` is a barrier to the compiler.
//!
//! Windows' adds go in steps even there, since no handler adds to them: processors that rename
//! memory forward a store to the next load of the same cell at once, but not to an instruction that
//! reads and writes it.

use crate::sync::{AtomicU64, Ordering};

/// Whether [`add`] and [`raise`] are one instruction each.
pub(super) const IS_WHOLE: bool = whole::THERE;

pub(super) use whole::{add, raise};

#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64", // not x32, where a register of an address is half as long
    not(any(loom, shuttle, miri))
))]
mod whole {
    use std::arch::asm;

    use crate::sync::AtomicU64;

    pub(in super::super) const THERE: bool = true;

    /// Adds `n`, wrapping, to the cell `BEHIND` bytes before `place`; Release.
    ///
    /// # Safety
    /// There is a cell, which no other thread writes.
    #[inline]
    pub(in super::super) unsafe fn add<const BEHIND: usize>(place: *mut AtomicU64, n: u64) {
        // SAFETY: by contract.
        unsafe {
            asm!(
                "add qword ptr [{place} - {behind}], {n}",
                place = in(reg) place,
                behind = const BEHIND,
                n = in(reg) n,
                options(nostack),
            );
        }
    }

    /// Raises that cell to `value`, unless it is there already; Release.
    ///
    /// A handler may raise the cell after it was compared. So the store compares it again: one
    /// instruction.
    ///
    /// # Safety
    /// As for [`add`].
    #[inline]
    pub(in super::super) unsafe fn raise<const BEHIND: usize>(place: *mut AtomicU64, value: u64) {
        // SAFETY: by contract.
        unsafe {
            asm!(
                "mov rax, qword ptr [{place} - {behind}]",
                "2:",
                "cmp rax, {value}",
                "jae 3f",
                "cmpxchg qword ptr [{place} - {behind}], {value}", // if it differs, it is in rax
                "jne 2b",
                "3:",
                place = in(reg) place,
                behind = const BEHIND,
                value = in(reg) value,
                out("rax") _,
                options(nostack),
            );
        }
    }
}

#[cfg(not(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    not(any(loom, shuttle, miri))
)))]
mod whole {
    use crate::sync::AtomicU64;

    pub(in super::super) const THERE: bool = false;

    /// # Safety
    /// It is not called.
    pub(in super::super) unsafe fn add<const BEHIND: usize>(_: *mut AtomicU64, _: u64) {}

    /// # Safety
    /// It is not called.
    pub(in super::super) unsafe fn raise<const BEHIND: usize>(_: *mut AtomicU64, _: u64) {}
}

/// Adds `n`, wrapping; Release.
#[inline]
pub(super) fn add_in_steps(cell: &AtomicU64, n: u64) {
    // Relaxed: the last store was this thread's, or its lease came after it. In a block it may be
    // of the close that reset the cell, or of a column's end: then the cell came back to threads
    // behind that, with the bucket (`Block::disown`, `try_own`, and the second look, Acquire) or
    // with the column.
    let sum = apart(cell.load(Ordering::Relaxed).wrapping_add(n));
    // Release: pairs with the Acquire in `rows::value`, as of a locked add.
    cell.store(sum, Ordering::Release);
}

/// Raises the cell to `value`, unless it is there already; Release.
#[inline]
pub(super) fn raise_in_steps(cell: &AtomicU64, value: u64) {
    // Relaxed: as in `add_in_steps`.
    if cell.load(Ordering::Relaxed) < value {
        // Release: as in `add_in_steps`.
        cell.store(value, Ordering::Release);
    }
}

/// Keeps a load and a store apart, which the compiler would make one instruction.
#[inline]
fn apart(sum: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut sum = sum;
        // SAFETY: no instruction at all.
        unsafe {
            std::arch::asm!("/* {} */", inout(reg) sum, options(nomem, nostack, preserves_flags));
        }
        sum
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    sum
}
