//! One restartable sequence in assembly, as macros: the parts that all sequences share. The rules
//! that they keep are those of [`per_core`](crate::stripe::per_core).
//!
//! ```text
//!   offset of the area; number of open rows    no offset yet: out of line
//!   this thread's area gets the descriptor's address   armed
//!   62:  row = this thread's row's number      all ones: the thread is not registered
//!        row < the number of open rows ?       otherwise out of line
//!        checks
//!        commit                                ends with the one store that is not idempotent
//!   63:  of an exclusive store: did it succeed ?       otherwise aborted
//! ```
//!
//! A commit finds the row's number in `{row}`, and may use `{scratch}` and `{other}`. Addresses may
//! have the tag of [`ById`](crate::stripe::per_core::ById), which the processor ignores.
//!
//! A conditional branch reaches 1 MiB. A function of more code than that does not assemble if a
//! miss of one of its adds leads beyond ("fixup value out of range"): move the add to a function of
//! its own. (A jump around an unconditional one would be taken at each add.)

/// One sequence: the number of this thread's row; `checks`; `commit`; and what comes `behind` it.
macro_rules! sequence {
    (
        numbering: $numbering:ty,
        checks: [$($check:literal),*],
        commit: [$($commit:literal),+],
        behind: [$($behind:literal),*],
        $($operand:tt)+
    ) => {
        asm!(
            own_sections!(),
            // The descriptor, 32 bytes: version 0, flags 0; start, length, abort address.
            ".pushsection __rseq_cs, \"aw?\", %progbits, unique, .Lwindrow_sequences",
            ".balign 32",
            "66:",
            ".long 0, 0",
            ".quad 62f, 63f - 62f, 64f",
            ".popsection",
            // The abort address, after its signature, a `brk`. It is in a section of its own, away
            // from the code that usually runs.
            ".pushsection .text.rseq_abort, \"ax?\", %progbits, unique, .Lwindrow_sequences",
            ".inst 0xd428bc00",
            "64:",
            "b {aborted}",
            ".popsection",
            // What `detect` has found. This thread may have learnt from the column alone that it
            // was found, without having seen it: then the offset is still zero. (The number of open
            // rows only rises: an older one is as good.)
            "ldp {scratch}, {other}, [{detected}, #{area}]",
            "cbz {scratch}, {no_row}",
            // Armed by the last instruction before the start.
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
            "cmp {row:w}, {other:w}",
            "b.hs {no_row}",
            $($check,)*
            // The commit: one store that is not idempotent, the last instruction.
            $($commit,)+
            "63:",
            $($behind,)*
            row = out(reg) _,
            scratch = out(reg) _,
            other = out(reg) _,
            detected = in(reg) &raw const DETECTED,
            area = const offset_of!(Detected, area), // the number of open rows is behind it
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
            column = in(reg) $column.word,
            aborted = label { $on_miss.missed(Miss::Aborted) },
            no_row = label { $on_miss.missed(Miss::NoRow) },
            $($operand)+
        )
    };
}

/// A sequence on cells of the live bucket. When the commit begins, the address of the first cell is
/// in `{row}`; the commit may use `{live}` too.
macro_rules! live_sequence {
    (
        $numbering:ty, $live:expr, $at:expr, $missed:expr,
        [$($commit:literal),+], behind: $behind:tt, $($operand:tt)+
    ) => {
        sequence!(
            numbering: $numbering,
            // Loads the live bucket, and checks that the time lies in it. For a time before its
            // start the difference wraps to more than any length. (The length is behind the start.)
            checks: [
                "ldr {live}, [{current}, {made}]",
                "ldp {scratch}, {other}, [{live}, #{start}]",
                "sub {scratch}, {at}, {scratch}",
                "cmp {scratch}, {other}",
                "b.hs {other_bucket}",
                "ldr {live}, [{live}, #{block}]"
            ],
            commit: ["add {row}, {live}, {row}, lsl #{row_shift}", $($commit),+],
            behind: $behind,
            live = out(reg) _,
            current = in(reg) $live.current(),
            made = in(reg) $live.made.get(),
            at = in(reg) $at,
            start = const offset_of!(LiveBucket, start),
            block = const offset_of!(LiveBucket, column),
            aborted = label { $missed(Miss::Aborted) },
            other_bucket = label { $missed(Miss::OtherBucket) },
            no_row = label { $missed(Miss::NoRow) },
            $($operand)+
        )
    };
}
