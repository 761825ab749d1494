//! The sequences on arm64: the store of a load, a change and a store is the commit.
//!
//! The store is a Release, as those of the library are. (A sum needs only that a cell is read
//! whole, and never goes back, which any aligned store of eight bytes gives.)

use std::arch::asm;
use std::sync::atomic::AtomicU64;

use super::miss::Miss;
use crate::layout::ROW_SHIFT;

/// One sequence. The commit finds the address of this processor's cell in `{row}`, may use
/// `{scratch}`, and ends with the one instruction that writes.
macro_rules! sequence {
    ($area:expr, $rows:expr, $first:expr, $value:expr, commit: [$($commit:literal),+]) => {
        asm!(
            // The descriptor, 32 bytes: version 0, flags 0; start, length, abort address.
            ".pushsection __rseq_cs, \"aw?\", %progbits",
            ".balign 32",
            "66:",
            ".long 0, 0",
            ".quad 62f, 63f - 62f, 64f",
            ".popsection",
            // The abort address, after glibc's signature, a `brk`.
            ".pushsection .text.rseq_abort, \"ax?\", %progbits",
            ".inst 0xd428bc00",
            "64:",
            "b {aborted}",
            ".popsection",
            // Armed by the last instruction before the start.
            "mrs {row}, tpidr_el0",
            "add {scratch}, {area}, {row}",
            "adrp {row}, 66b",
            "add {row}, {row}, :lo12:66b",
            "str {row}, [{scratch}, #{rseq_cs}]",
            "62:",
            "ldr {row:w}, [{scratch}, #{cpu_id}]",
            "cmp {row:w}, {rows:w}",
            "b.hs {no_row}",
            "add {row}, {first}, {row}, lsl #{row_shift}",
            $($commit,)+
            "63:",
            row = out(reg) _,
            scratch = out(reg) _,
            area = in(reg) $area,
            rows = in(reg) $rows,
            first = in(reg) $first,
            value = in(reg) $value,
            cpu_id = const 4,
            rseq_cs = const 8,
            row_shift = const ROW_SHIFT,
            aborted = label { return Err(Miss::Aborted) },
            no_row = label { return Err(Miss::NoRow) },
            options(nostack),
        )
    };
}

changes! {
    add: [
        "ldr {scratch}, [{row}]",
        "add {scratch}, {scratch}, {value}",
        "stlr {scratch}, [{row}]"
    ],
    raise: [
        "ldr {scratch}, [{row}]",
        "cmp {scratch}, {value}",
        "b.hs 63f",
        "stlr {value}, [{row}]"
    ]
}
