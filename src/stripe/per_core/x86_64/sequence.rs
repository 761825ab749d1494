//! One restartable sequence, in assembly, as macros: the parts that all sequences share. The rules
//! that they keep are those of [`per_core`](crate::stripe::per_core).
//!
//! ```text
//!   61:  this thread's area gets the descriptor's address      armed
//!   62:  checks
//!        the row's distance from row 0            see below
//!        commit                                   ends with the one store that is not idempotent
//!   63:
//! ```
//!
//! The row is *looked up*:
//!
//! ```text
//!        the row's number                         all ones: the thread is not registered
//!        is it less than that of open rows ?      otherwise out of line
//!        the row's distance                       by the number
//! ```
//!
//! or it is the one that the thread [remembers](super::remembered):
//!
//! ```text
//!        the row's number                         all ones: the thread is not registered
//!        is it the remembered one ?               otherwise 65
//!        the row's distance                       as remembered
//!   65:  looks the row up, remembers both, and goes to 61
//! ```
//!
//! A commit adds the address of cells in row 0 to `{row}`. A column's word includes its `{tag}`,
//! which the commit subtracts.

/// One sequence: `checks`; `row`, which leaves the distance of this thread's row from row 0 in
/// `{row}`; then `commit`. The instructions of `aside` are elsewhere.
macro_rules! sequence {
    (
        numbering: $numbering:ty,
        checks: [$($check:literal),*],
        row: [$($row:expr),+],
        aside: [$($aside:expr),*],
        commit: [$($commit:literal),+],
        $($operand:tt)+
    ) => {
        asm!(
            // The descriptor, 32 bytes: version 0, flags 0; start, length, abort address.
            ".pushsection __rseq_cs, \"aw?\", @progbits",
            ".balign 32",
            "66:",
            ".long 0, 0",
            ".quad 62f, 63f - 62f, 64f",
            ".popsection",
            // The abort address, after its signature, which is an operand of `ud1`, so that it
            // disassembles. It is in a section of its own, away from the code that usually runs.
            ".pushsection .text.rseq_abort, \"ax?\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "64:",
            "jmp {aborted}",
            $($aside,)*
            ".popsection",
            "61:",
            // Armed by the last instruction before the start.
            "mov {offset}, qword ptr [{detected} + {area}]",
            "lea {row}, [rip + 66b]",
            "mov qword ptr fs:[{offset} + {rseq_cs}], {row}",
            "62:",
            $($check,)*
            $($row,)+
            // The commit: one store that is not idempotent, the last instruction.
            $($commit,)+
            "63:",
            row = out(reg) _,
            offset = out(reg) _,
            detected = in(reg) detected(),
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

/// The number of this thread's row; all ones if `cpu_id` is negative, because its highest byte is
/// then all ones, and otherwise zero.
macro_rules! number {
    () => {
        concat!(
            "movsx {row:e}, byte ptr fs:[{offset} + {cpu_id} + 3]\n",
            "or {row:e}, dword ptr fs:[{offset} + {number}]"
        )
    };
}

/// The number of this thread's row, which exists and is open. (One branch checks both, by the first
/// bank's half of the word.)
macro_rules! look_up {
    () => {
        concat!(number!(), "\n", "cmp {row:e}, dword ptr [{detected} + {open}]\n", "jae {no_row}")
    };
}

/// A sequence whose row is looked up.
macro_rules! looked_up_sequence {
    (numbering: $numbering:ty, checks: $checks:tt, commit: $commit:tt, $($operand:tt)+) => {
        sequence!(
            numbering: $numbering,
            checks: $checks,
            row: [look_up!(), "shl {row}, {row_shift}"],
            aside: [],
            commit: $commit,
            $($operand)+
        )
    };
}

/// A sequence whose row the thread remembers.
macro_rules! remembered_sequence {
    (numbering: $numbering:ty, checks: $checks:tt, commit: $commit:tt, $($operand:tt)+) => {
        sequence!(
            numbering: $numbering,
            checks: $checks,
            row: [
                number!(),
                place_of_remembered!("{offset}"),
                "cmp {row:e}, dword ptr fs:[{offset}]",
                "jne 65b",
                "mov {row:e}, dword ptr fs:[{offset} + 4]"
            ],
            // Outside of the sequence: when the thread remembers the row, it may have another one
            // already. Then the sequence comes here again.
            aside: [
                "65:",
                "mov {offset}, qword ptr [{detected} + {area}]",
                look_up!(),
                "mov {offset}, {row}",
                "shl {offset}, {row_shift} + 32",
                "or {row}, {offset}",
                place_of_remembered!("{offset}"),
                "mov qword ptr fs:[{offset}], {row}",
                "jmp 61f"
            ],
            commit: $commit,
            symbol = sym DETECTED,
            $($operand)+
        )
    };
}

/// A sequence on a column's cell, which is `[{row} + {column} - {tag}]`.
macro_rules! column_sequence {
    (
        @$sequence:ident, $numbering:ty, $column:expr,
        aborted: $aborted:expr, no_row: $no_row:expr, $commit:tt, $($operand:tt)+
    ) => {
        $sequence!(
            numbering: $numbering,
            checks: [],
            commit: $commit,
            tag = const <$numbering>::TAG,
            column = in(reg) $column.word,
            aborted = label { $aborted },
            no_row = label { $no_row },
            $($operand)+
        )
    };
    ($numbering:ty, $($operands:tt)+) => {
        match <$numbering>::IS_REMEMBERED {
            true => column_sequence!(@remembered_sequence, $numbering, $($operands)+),
            false => column_sequence!(@looked_up_sequence, $numbering, $($operands)+),
        }
    };
}

/// A sequence on cells of the live bucket. The cell `distance` bytes after its first cell is
/// `[{row} + {distance}]`.
macro_rules! live_sequence {
    ($numbering:ty, $live:expr, $at:expr, $missed:expr, [$($commit:literal),+], $($operand:tt)+) => {
        looked_up_sequence!(
            numbering: $numbering,
            // Loads the live bucket, and checks that the time lies in it. For a time before its
            // start the difference wraps to more than any length.
            checks: [
                "mov {live}, qword ptr [{window} + {current}]",
                "mov {row}, {at}",
                "sub {row}, qword ptr [{live} + {start}]",
                "cmp {row}, qword ptr [{live} + {span}]",
                "jae {other_bucket}"
            ],
            commit: ["add {row}, qword ptr [{live} + {column}]", $($commit),+],
            live = out(reg) _,
            window = in(reg) $live.window,
            current = const W::AT,
            at = in(reg) $at,
            start = const offset_of!(LiveBucket, start),
            span = const offset_of!(LiveBucket, span),
            column = const offset_of!(LiveBucket, column),
            aborted = label { $missed(Miss::Aborted) },
            other_bucket = label { $missed(Miss::OtherBucket) },
            no_row = label { $missed(Miss::NoRow) },
            $($operand)+
        )
    };
}
