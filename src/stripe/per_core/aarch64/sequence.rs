//! One restartable sequence in assembly, as macros: the parts that all sequences share. The rules
//! that they keep are those of [`per_core`](crate::stripe::per_core).
//!
//! ```text
//!   this thread's area gets the descriptor's address   armed
//!   62:  checks
//!        row = this thread's row's number      all ones: the thread is not registered
//!        row < the number of open rows ?       otherwise out of line
//!        commit                                ends with the one store that is not idempotent
//!   63:  of an exclusive store: did it succeed ?       otherwise aborted
//! ```
//!
//! A commit finds the row's number in `{row}`, and may use `{scratch}`. Addresses are without their
//! tag: the caller subtracts it, from a constant where it can.

use crate::stripe::per_core::{Numbering, distance};

/// One sequence: `checks`; the number of this thread's row; `commit`; and what comes `behind` it.
macro_rules! sequence {
    (
        numbering: $numbering:ty,
        checks: [$($check:literal),*],
        commit: [$($commit:literal),+],
        behind: [$($behind:literal),*],
        $($operand:tt)+
    ) => {
        asm!(
            // The descriptor, 32 bytes: version 0, flags 0; start, length, abort address.
            ".pushsection __rseq_cs, \"aw?\", %progbits",
            ".balign 32",
            "66:",
            ".long 0, 0",
            ".quad 62f, 63f - 62f, 64f",
            ".popsection",
            // The abort address, after its signature, a `brk`. It is in a section of its own, away
            // from the code that usually runs.
            ".pushsection .text.rseq_abort, \"ax?\", %progbits",
            ".inst 0xd428bc00",
            "64:",
            "b {aborted}",
            ".popsection",
            // Armed by the last instruction before the start.
            "ldr {scratch}, [{detected}, #{area}]",
            "mrs {row}, tpidr_el0",
            "add {scratch}, {scratch}, {row}",
            "adrp {row}, 66b",
            "add {row}, {row}, :lo12:66b",
            "str {row}, [{scratch}, #{rseq_cs}]",
            "62:",
            // The row's number; all ones if `cpu_id` is negative.
            "ldr {row:w}, [{scratch}, #{cpu_id}]",
            "ldr {scratch:w}, [{scratch}, #{number}]",
            "orr {row:w}, {scratch:w}, {row:w}, asr #31",
            // Does the row exist, and is it open? (The first bank's half of the word.)
            "ldr {scratch:w}, [{detected}, #{open}]",
            "cmp {row:w}, {scratch:w}",
            "b.hs {no_row}",
            $($check,)*
            // The commit: one store that is not idempotent, the last instruction.
            $($commit,)+
            "63:",
            $($behind,)*
            row = out(reg) _,
            scratch = out(reg) _,
            detected = in(reg) &raw const DETECTED,
            area = const offset_of!(Detected, area),
            open = const offset_of!(Detected, open),
            rseq_cs = const area::RSEQ_CS,
            cpu_id = const area::CPU_ID,
            number = const <$numbering>::NUMBER,
            row_shift = const Column::offset(1).ilog2(),
            $($operand)+,
            options(nostack),
        )
    };
}

/// A sequence on a column's cell, whose address is in `{row}` when the commit begins.
macro_rules! column_sequence {
    (
        $numbering:ty, $column:expr, $on_miss:expr,
        [$($commit:literal),+], behind: $behind:tt, $($operand:tt)+
    ) => {
        sequence!(
            numbering: $numbering,
            checks: [],
            commit: ["add {row}, {column}, {row}, lsl #{row_shift}", $($commit),+],
            behind: $behind,
            column = in(reg) $column.column().first().as_ptr(),
            aborted = label { $on_miss.missed(Miss::Aborted) },
            no_row = label { $on_miss.missed(Miss::NoRow) },
            $($operand)+
        )
    };
}

/// A sequence on cells of the live bucket. When the commit begins, the address of the first cell,
/// with the tag, is in `{row}`; the commit may use `{live}` too.
macro_rules! live_sequence {
    (
        $numbering:ty, $live:expr, $at:expr, $missed:expr,
        [$($commit:literal),+], behind: $behind:tt, $($operand:tt)+
    ) => {
        sequence!(
            numbering: $numbering,
            // Loads the live bucket, and checks that the time lies in it. For a time before its
            // start the difference wraps to more than any length.
            checks: [
                "ldr {live}, [{current}]",
                "ldr {scratch}, [{live}, #{start}]",
                "sub {scratch}, {at}, {scratch}",
                "ldr {other}, [{live}, #{span}]",
                "cmp {scratch}, {other}",
                "b.hs {other_bucket}",
                "ldr {live}, [{live}, #{block}]"
            ],
            commit: ["add {row}, {live}, {row}, lsl #{row_shift}", $($commit),+],
            behind: $behind,
            live = out(reg) _,
            other = out(reg) _,
            current = in(reg) $live,
            at = in(reg) $at,
            start = const offset_of!(LiveBucket, start),
            span = const offset_of!(LiveBucket, span),
            block = const offset_of!(LiveBucket, column),
            aborted = label { $missed(Miss::Aborted) },
            other_bucket = label { $missed(Miss::OtherBucket) },
            no_row = label { $missed(Miss::NoRow) },
            $($operand)+
        )
    };
}

/// Returns the distance of a cell from the address that a live sequence has in `{row}`.
#[inline(always)]
#[allow(clippy::inline_always)] // a constant, where the event is
pub(super) const fn untagged<N: Numbering>(position: usize) -> usize {
    distance(position).wrapping_sub(N::TAG)
}
