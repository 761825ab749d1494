//! The row that a thread remembers: the last one that it has looked up.
//!
//! To look a row up takes two loads, one after the other: the process's offset of a thread's area,
//! and the number in the area. The address of the cell depends on both. Where the thread remembers
//! number and distance of the row, the address depends on the distance alone. A processor predicts
//! that the number is still the same, and goes on to the cell while it checks that. After other
//! work, an add to a counter then takes half of the time.
//!
//! # Where they are
//!
//! In a thread-local of eight bytes: the number, and in the upper half the distance from row 0. One
//! store writes both, and a handler that comes between the loads of the two aborts the sequence. So
//! the distance is always that of the number. A new thread remembers row 0, which is always open:
//! both are zero.
//!
//! In a program the thread-local has a constant distance from the thread pointer. In a dynamic
//! library it has not, and to find it takes a call. So rows are remembered in programs alone:
//! [`is_possible`] tells, and a column's tag says so to its adds.
//!
//! An add does not know where it will be linked. It has an instruction that would load the address
//! of the thread-local's *descriptor*. Where a linker makes a program, it makes that address the
//! distance, which is negative. Elsewhere the address stays, which is positive, and is not used.
//! (The usual ways do not serve. One is a call in each add. The other, *initial exec*, demands that
//! all thread-locals of a dynamic library fit into the little space that is left for such ones;
//! otherwise it cannot be loaded.)

use std::arch::asm;

use crate::memory::column::Column;
use crate::stripe::MOST_ROWS;
use crate::stripe::per_core::detect::DETECTED;

// A distance fits into half of the thread-local.
const _: () = assert!(Column::offset(MOST_ROWS) <= u32::MAX as usize);

/// Loads the thread-local's distance from the thread pointer into `to`. Defines the thread-local,
/// too, once in each object file; a linker keeps one of them.
///
/// Its name is [`DETECTED`]'s, `{symbol}`, with a suffix: a number that is remembered was compared
/// with the open rows there.
macro_rules! place_of_remembered {
    ($to:literal) => {
        concat!(
            ".ifndef {symbol}.row\n",
            ".pushsection .tbss.{symbol}.row, \"awTG\", @nobits, {symbol}.row, comdat\n",
            ".balign 8\n",
            ".weak {symbol}.row\n",
            ".hidden {symbol}.row\n",
            ".type {symbol}.row, @tls_object\n",
            ".size {symbol}.row, 8\n",
            "{symbol}.row: .zero 8\n",
            ".popsection\n",
            ".endif\n",
            "lea ",
            $to,
            ", [rip + {symbol}.row@tlsdesc]"
        )
    };
}

/// Returns whether the library is in a program. (Then all adds to its columns are, too.)
#[inline(never)] // here, and not in a program that uses the library as a dynamic one
#[allow(named_asm_labels)] // see `place_of_remembered`
pub(super) fn is_possible() -> bool {
    let distance: isize;
    // SAFETY: loads an address, or a distance.
    unsafe {
        asm!(
            place_of_remembered!("{distance}"),
            distance = out(reg) distance,
            symbol = sym DETECTED,
            options(pure, nomem, nostack, preserves_flags),
        );
    }
    distance < 0
}
