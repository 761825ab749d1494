//! Raising a cell that threads share, by one instruction of arm64.
//!
//! Armv8.1 has atomic instructions (*large system extensions*). A program that is compiled for all
//! arm64 processors has additions and exchanges twice, and chooses at run time. Of a maximum it has
//! only the loop of Armv8.0, so the choice is made here.

use crate::sync::AtomicU64;

/// Raises the cell to `value`, if that is greater; Release. Returns false if this processor has no
/// instruction for that, or the compiler uses it in any case.
#[inline]
pub(super) fn raise(cell: &AtomicU64, value: u64) -> bool {
    #[cfg(all(target_arch = "aarch64", not(any(target_feature = "lse", loom, shuttle, miri))))]
    if std::arch::is_aarch64_feature_detected!("lse") {
        // SAFETY: an atomic operation on a cell, which this processor has.
        unsafe {
            std::arch::asm!(
                ".arch_extension lse",
                "stumaxl {value}, [{cell}]",
                value = in(reg) value,
                cell = in(reg) cell.as_ptr(),
                options(nostack, preserves_flags),
            );
        }
        return true;
    }
    let _ = (cell, value);
    false
}
