//! Writing a cell that only one thread writes, without a lock prefix.
//!
//! On x86-64 an add is one instruction, which a signal handler cannot interrupt. To other threads
//! it is a plain load and a plain store: they read the cell before or after the store, and only
//! this thread writes. So the instruction is atomic without a lock prefix. A plain store is Release
//! there, and the `asm!` is a barrier to the compiler.
//!
//! Windows' adds go in steps even there, since no handler adds to them: processors that rename
//! memory forward a store to the next load of the same cell at once, but not to an instruction that
//! reads and writes it.

use crate::sync::{AtomicU64, Ordering, overwrite};

/// True if [`add`] and [`raise`] are one instruction each.
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
    /// There is such a cell, and no other thread writes it.
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

    /// Raises that cell to `value`, if that is greater; Release.
    ///
    /// A handler may raise the cell after it was compared. So the store, which is one instruction,
    /// compares it again. It has a lock prefix, because it writes a number that is not as expected
    /// back: another thread may take it in between (`rows::take_raised`), and then it would be
    /// taken twice. A cell is raised seldom.
    ///
    /// # Safety
    /// There is such a cell, and no other thread raises it.
    #[inline]
    pub(in super::super) unsafe fn raise<const BEHIND: usize>(place: *mut AtomicU64, value: u64) {
        // SAFETY: by contract.
        unsafe {
            asm!(
                "mov rax, qword ptr [{place} - {behind}]",
                "2:",
                "cmp rax, {value}",
                "jae 3f",
                // If the cell differs, its number is in rax.
                "lock cmpxchg qword ptr [{place} - {behind}], {value}",
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
    // that of the close that reset the cell, or of the end of a column's use: then threads got the
    // cell again after that, with the bucket (`Block::disown`, `try_own`, and the second look,
    // Acquire) or with the column.
    let sum = apart(cell.load(Ordering::Relaxed).wrapping_add(n));
    // Release: pairs with the Acquire in `rows::value`, as of a locked add.
    cell.store(sum, Ordering::Release);
}

/// Raises the cell to `value`, if that is greater; Release. Another thread may take what is there
/// in between: then the store overwrites a zero.
#[inline]
pub(super) fn raise_in_steps(cell: &AtomicU64, value: u64) {
    // Relaxed: as in `add_in_steps`.
    if cell.load(Ordering::Relaxed) < value {
        // Release: as in `add_in_steps`.
        overwrite(cell, value, Ordering::Release);
    }
}

/// Separates a load and a store, which the compiler would otherwise merge into one instruction.
#[inline]
fn apart(sum: u64) -> u64 {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        let mut sum = sum;
        // SAFETY: the assembly has no instruction.
        unsafe {
            std::arch::asm!("/* {} */", inout(reg) sum, options(nomem, nostack, preserves_flags));
        }
        sum
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    sum
}
