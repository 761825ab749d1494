//! The row that a thread remembers: the last one that it has looked up.
//!
//! To look a row up takes two loads, one after the other: the process's offset of a thread's area,
//! and the number in the area. The address of the cell depends on both. Where the thread remembers
//! the number, the address depends on neither: a processor predicts that the number is still the
//! same, and goes on to the cell while it checks that. After other work, an add to a counter then
//! takes half of the time.
//!
//! A thread that remembers a row was registered. It still is: glibc registers a thread when it
//! begins, for as long as it lives.
//!
//! # Where the number is
//!
//! In a thread-local of four bytes. In a program, that is at a constant distance from the thread
//! pointer. In a dynamic library it is not, and to find it takes a call. So rows are remembered in
//! programs alone: [`is_possible`] tells, and a column's tag says so to its adds.
//!
//! An add does not know where it will be linked. It has an instruction that would load the address
//! of the thread-local's *descriptor*. Where a linker makes a program, it makes that address the
//! distance, which is negative. Elsewhere the address stays, which is positive, and is not used.
//! (The usual ways do not serve. A call costs each add a dozen instructions. *Initial exec* demands
//! that all thread-locals of a dynamic library fit into the little space that is left for such
//! libraries; otherwise it cannot be loaded.)

use std::arch::asm;

use crate::stripe::per_core::detect::DETECTED;

/// No row's number.
pub(super) const NONE: u32 = 1 << 31;

/// Returns the instructions that load the distance into `to`. They define the thread-local, too,
/// once in each object file; a linker keeps one of them.
///
/// Its name is [`DETECTED`]'s, `{symbol}`, with a suffix: a number that is remembered was compared
/// with the open rows there. Its first value is [`NONE`], `{none}`.
macro_rules! distance_of_remembered {
    ($to:literal) => {
        concat!(
            ".ifndef {symbol}.row\n",
            ".pushsection .tdata.{symbol}.row, \"awTG\", @progbits, {symbol}.row, comdat\n",
            ".balign 4\n",
            ".weak {symbol}.row\n",
            ".hidden {symbol}.row\n",
            ".type {symbol}.row, @tls_object\n",
            ".size {symbol}.row, 4\n",
            "{symbol}.row: .long {none}\n",
            ".popsection\n",
            ".endif\n",
            "lea ",
            $to,
            ", [rip + {symbol}.row@tlsdesc]"
        )
    };
}

/// Returns whether the library is in a program. (Then all adds to its columns are, too.)
#[inline]
#[allow(named_asm_labels)] // see `distance_of_remembered`
pub(super) fn is_possible() -> bool {
    let distance: isize;
    // SAFETY: loads an address, or a distance.
    unsafe {
        asm!(
            distance_of_remembered!("{distance}"),
            distance = out(reg) distance,
            symbol = sym DETECTED,
            none = const NONE,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    distance < 0
}
