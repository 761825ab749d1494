//! The sequences on x86-64: a plain load is Acquire, a plain store is Release.

#[macro_use]
mod remembered;
#[macro_use]
mod sequence;
mod number; // after the macros that they use
mod ration;
mod record;
mod row;

use std::arch::x86_64::__cpuid;

use super::Numbering;
use super::detect::{DETECTED, Detected, area};
use crate::sync::{AtomicU8, Ordering};

pub(crate) use number::{add, add_live, raise, raise_live};
pub(crate) use ration::{swap, take};
pub(crate) use record::{fold_live, record_live, record_pending};
pub(in crate::stripe) use row::{number_at, row};

/// The numbering of the adds that are in line: by concurrency id, in a row that the thread
/// [remembers](remembered). Sequences subtract the tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum InLine {}

impl Numbering for InLine {
    const NUMBER: usize = area::MM_CID;
    const TAG: usize = 1;
    const IS_REMEMBERED: bool = true;
}

/// Returns whether adds by concurrency id may be in line.
#[inline]
pub(super) fn may_be_in_line() -> bool {
    remembered::is_possible()
}

/// The signature that the kernel expects before an abort address: glibc's choice for x86.
#[cfg(test)]
pub(super) const SIGNATURE: u32 = 0x5305_3053;

/// Returns whether the processor stores the sixteen bytes of [`record_live`] in one piece. A reader
/// that counts a record must find its value in the sum, so it must not see one half without the
/// other.
///
/// Intel (SDM, volume 3A, "Guaranteed Atomic Operations") and AMD (APM, volume 2, "Access
/// Atomicity") promise this of aligned stores for all processors that report AVX, and for no
/// others. The system need not let programs use AVX for that. (A counter's eight bytes do not need
/// it.)
#[inline]
pub(crate) fn pairs_are_whole() -> bool {
    /// The answer of the processor; zero until it was asked. (In a virtual machine it may take
    /// microseconds, and windows ask when they are made.)
    static REPORTED: AtomicU8 = AtomicU8::new(0);
    const WITHOUT: u8 = 1;
    const WITH: u8 = 2;
    /// The bit of AVX among the features of leaf 1, in ECX.
    const AVX: u32 = 1 << 28;

    // Relaxed, both: the answer is the same at all times, and orders nothing.
    match REPORTED.load(Ordering::Relaxed) {
        0 => {
            // SAFETY: each processor with 64 bits has the instruction, and leaf 1.
            #[allow(unused_unsafe, reason = "it is unsafe before Rust 1.94")]
            let features = unsafe { __cpuid(1) };
            let reported = features.ecx & AVX != 0;
            REPORTED.store(if reported { WITH } else { WITHOUT }, Ordering::Relaxed);
            reported
        }
        reported => reported == WITH,
    }
}

/// Returns the address of [`DETECTED`], for an add that is inlined into another crate.
///
/// There the compiler would load it from the global offset table, because `DETECTED` may be in a
/// dynamic library. That is one more line on which the cell's address depends. By this relocation,
/// which the compiler does not use on Linux, a linker makes the load a `lea` if `DETECTED` is in
/// the object that it links.
#[inline(always)]
#[allow(clippy::inline_always)] // as the adds
pub(in crate::stripe) fn detected() -> *const Detected {
    let address;
    // SAFETY: loads the symbol's entry in the global offset table, which is always there. Each
    // 64-bit register needs the prefix that the relocation's kind implies; its place is the last
    // four bytes of the instruction.
    unsafe {
        std::arch::asm!(
            "mov {address}, qword ptr [rip + 0]",
            "65:",
            ".reloc 65b - 4, R_X86_64_REX_GOTPCRELX, {detected} - 4",
            address = out(reg) address,
            detected = sym DETECTED,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    address
}

/// Reads eight bytes of this thread's area, at a distance from the thread pointer.
#[cfg(test)]
pub(super) fn word_at(offset: usize) -> u64 {
    let word: u64;
    // SAFETY: reads this thread's area, which is registered.
    unsafe {
        std::arch::asm!("mov {}, qword ptr fs:[{}]", out(reg) word, in(reg) offset, options(nostack));
    };
    word
}

/// Returns whether an instruction that has [`DETECTED`]'s address stands before a sequence whose
/// row is looked up: a `lea`, or a `mov` of a number where the program is at an address that is
/// known when it is linked.
///
/// # Safety
/// `start` is that of a sequence.
#[cfg(test)]
pub(super) unsafe fn is_linked_directly(start: u64) -> bool {
    // (Without optimisation there is more between the two.)
    (start - 256..start - 7).any(|at| {
        // SAFETY: by contract; it is code of ours, or of the test before it.
        let [prefix, operation, registers, distance @ ..] = unsafe { *(at as *const [u8; 7]) };
        let from = match (prefix & 0xfa, operation, registers) {
            (0x48, 0x8d, registers) if registers & 0xc7 == 0x05 => at + 7,
            (0x48, 0xc7, registers) if registers & 0xf8 == 0xc0 => 0,
            _ => return false,
        };
        let distance = i64::from(i32::from_le_bytes(distance));
        from.wrapping_add_signed(distance) == (&raw const DETECTED) as u64
    })
}

/// Checks that the sequence of an add has the address of what the thread remembers as a constant
/// before it, begins by reading `cpu_id`, and ends with the commit.
///
/// # Safety
/// `start` and `end` are those of a sequence.
#[cfg(test)]
pub(super) unsafe fn check_ends(start: u64, end: u64) {
    use super::{Numbered, numbered};

    // SAFETY: by contract.
    let code = unsafe { std::slice::from_raw_parts(start as *const u8, (end - start) as usize) };
    assert_eq!(code[0], 0x64, "the first instruction reads through fs");
    // A linker has made a `mov` of a number of the `lea`. Thread-locals are before the thread
    // pointer, so the number is negative. (Without optimisation there is more between the two.)
    // SAFETY: by contract; it is code of ours, or of the test before it.
    let before = unsafe { std::slice::from_raw_parts((start - 256) as *const u8, 256) };
    let is_constant = before
        .windows(7)
        .any(|at| (at[0] & 0xfe, at[1], at[2] & 0xf8) == (0x48, 0xc7, 0xc0) && at[6] & 0x80 != 0);
    assert_eq!(is_constant, super::is_in_line(), "{before:x?}");
    // It ends with the commit, `add qword ptr [{row} + {column} - {tag}], {n}`: a prefix, 0x01, two
    // bytes for the registers, and the -1, if there is a tag.
    let last = &code[code.len() - 5..];
    assert!(last[1..3].contains(&0x01), "{last:x?} is not the add");
    assert!(last[4] == 0xff || numbered() == Numbered::ByProcessor, "{last:x?} has no tag");
}

#[cfg(test)]
mod tests {
    #[test]
    fn pairs_are_whole_where_programs_may_use_avx() {
        let [first, second] = [super::pairs_are_whole(), super::pairs_are_whole()];
        assert_eq!(first, second);
        assert!(first || !std::arch::is_x86_feature_detected!("avx"));
    }
}
