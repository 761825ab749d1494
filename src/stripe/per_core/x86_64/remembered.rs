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
//! In a thread-local, a [`Remembered`]. In a program it has a constant distance from the thread
//! pointer. In a dynamic library it has not, and to find it takes a call. So rows are remembered in
//! programs alone: [`is_possible`] tells. A column's tag and a window's way say so to adds.
//!
//! An add does not know where it will be linked. It has an instruction that would load the address
//! of the thread-local's *descriptor*. Where a linker makes a program, it makes that address the
//! distance, which is negative. Elsewhere the address stays, which is positive, and is not used.
//! (The usual ways do not serve. One is a call in each add. The other, *initial exec*, demands that
//! all thread-locals of a dynamic library fit into the little space that is left for such ones;
//! otherwise it cannot be loaded.)
//!
//! # A thread that has not looked yet
//!
//! The thread-local also has the distance of the thread's area, so that a sequence needs nothing
//! else. In a new thread this distance is zero, and the sequence takes the thread-local itself for
//! the area: it arms that, in vain, and finds all ones in place of a number. No row has this
//! number, so the thread looks its row up, and remembers.
//!
//! A signal may come between any two instructions. Number and distance of the row are written by
//! one store; a handler that comes between their loads aborts the sequence. So the distance is
//! always that of the number. A sequence that has found the distance of the area to be zero finds
//! no number, whatever a handler has written since. The distance of the area is the same in all
//! threads, at all times.

use std::arch::asm;
use std::mem::{offset_of, zeroed};

use crate::memory::column::Column;
use crate::stripe::MOST_ROWS;
use crate::stripe::per_core::detect::{DETECTED, area};

/// The thread-local, on a cache line of its own.
#[repr(C, align(64))]
#[allow(dead_code)] // assembly has them
pub(super) struct Remembered {
    /// The distance of the thread's area from here; zero in a new thread.
    pub(super) area: usize,
    /// The word that a sequence arms as long as that is zero.
    armed: u64,
    _reserved: u64,
    /// All ones, which such a sequence finds in place of the row's number.
    no_number: u32,
    _padding: [u32; 2],
    /// The row's number.
    pub(super) number: u32,
    /// The row's distance from row 0. Number and lower half are written by one store; the upper
    /// half stays zero.
    pub(super) distance: u64,
}

const _: () = assert!(offset_of!(Remembered, armed) == area::RSEQ_CS);
const _: () = assert!(offset_of!(Remembered, no_number) == area::MM_CID && area::MM_CID == 24);
const _: () = assert!(offset_of!(Remembered, distance) == offset_of!(Remembered, number) + 4);
const _: () = assert!(size_of::<Remembered>() == 64);
// A distance fits into half of a word.
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
            ".pushsection .tdata.{symbol}.row, \"awTG\", @progbits, {symbol}.row, comdat\n",
            ".balign 64\n",
            ".weak {symbol}.row\n",
            ".hidden {symbol}.row\n",
            ".type {symbol}.row, @tls_object\n",
            ".size {symbol}.row, 64\n",
            "{symbol}.row: .zero 24\n",
            ".long -1\n",
            ".zero 36\n",
            ".popsection\n",
            ".endif\n",
            "lea ",
            $to,
            ", [rip + {symbol}.row@tlsdesc]"
        )
    };
}

/// Returns whether the library is in a program, and all adds to its columns and windows are, too.
#[inline]
pub(super) fn is_possible() -> bool {
    is_in_a_program() && !is_offered()
}

#[inline(never)] // here, and not in a program that uses the library as a dynamic one
#[allow(named_asm_labels)] // see `place_of_remembered`
fn is_in_a_program() -> bool {
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

/// Returns whether the library's symbols are offered to dynamic libraries, as a program offers them
/// that was linked so, or beside a library that has them, too. There, a copy of this library would
/// call the functions here instead of its own: its columns would be made here, and its adds, in
/// line, are there.
#[inline]
fn is_offered() -> bool {
    let detected = (&raw const DETECTED).cast();
    // SAFETY: null pointers are valid here. `dladdr` writes them, and finds a symbol if it is one
    // that is offered.
    unsafe {
        let mut found: libc::Dl_info = zeroed();
        libc::dladdr(detected, &raw mut found) != 0 && found.dli_saddr.cast_const() == detected
    }
}
