//! One restartable sequence, in assembly, as macros: the parts that all sequences share. The rules
//! that they keep are those of [`per_core`](crate::stripe::per_core).
//!
//! The row is *looked up*:
//!
//! ```text
//!        this thread's area gets the descriptor's address      armed
//!   62:  checks
//!        the row's number                         all ones: the thread is not registered
//!        is it less than that of open rows ?      otherwise out of line
//!        the row's distance from row 0            by the number
//!        commit                                   ends with the one store that is not idempotent
//!   63:
//! ```
//!
//! or it is the one that the thread [remembers](super::remembered):
//!
//! ```text
//!   61:  this thread's area gets the descriptor's address      armed
//!   62:  the row's number                         all ones: the thread is not registered
//!        is it the remembered one ?               otherwise 65
//!        checks
//!        the row's distance from row 0            as remembered
//!        commit
//!   63:
//!
//!   65:  looks the row up, remembers it, and goes to 61
//! ```
//!
//! A commit adds the address of cells in row 0 to `{row}`. A column's word includes its `{tag}`,
//! which the commit subtracts.

/// One sequence. `before` leaves the address of the thread's area in `area`. The commit ends with
/// the one store that is not idempotent. The instructions of `aside` are elsewhere.
macro_rules! sequence {
    (
        numbering: $numbering:ty,
        before: [$($before:expr),+],
        area: $area:literal,
        checks: [$($check:expr),+],
        commit: [$($commit:literal),+],
        aside: [$($aside:expr),*],
        $($operand:tt)+
    ) => {
        asm!(
            own_sections!(),
            // The descriptor, 32 bytes: version 0, flags 0; start, length, abort address.
            ".pushsection __rseq_cs, \"aw?\", @progbits, unique, .Lwindrow_sequences",
            ".balign 32",
            "66:",
            ".long 0, 0",
            ".quad 62f, 63f - 62f, 64f",
            ".popsection",
            // The abort address, after its signature, which is an operand of `ud1`, so that it
            // disassembles. It is in a section of its own, away from the code that usually runs.
            ".pushsection .text.rseq_abort, \"ax?\", @progbits, unique, .Lwindrow_sequences",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "64:",
            "jmp {aborted}",
            $($aside,)*
            ".popsection",
            $($before,)+
            // Armed by the last instruction before the start.
            "lea {row}, [rip + 66b]",
            concat!("mov qword ptr fs:[", $area, " + {rseq_cs}], {row}"),
            "62:",
            $($check,)+
            $($commit,)+
            "63:",
            row = out(reg) _,
            offset = out(reg) _,
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

/// The number of the row of the thread with this area; all ones if `cpu_id` is negative, because
/// its highest byte is then all ones, and otherwise zero.
macro_rules! number {
    ($to:literal, $area:literal) => {
        concat!(
            "movsx ",
            $to,
            ", byte ptr fs:[",
            $area,
            " + {cpu_id} + 3]\n",
            "or ",
            $to,
            ", dword ptr fs:[",
            $area,
            " + {number}]"
        )
    };
}

/// The number of the thread's row, which exists and is open. (One branch checks both, by the first
/// bank's half of the word.)
macro_rules! open_number {
    ($to:literal, $detected:literal) => {
        concat!(
            number!($to, "{offset}"),
            "\n",
            "cmp ",
            $to,
            ", dword ptr [",
            $detected,
            " + {open}]\n",
            "jae {no_row}"
        )
    };
}

/// A sequence whose row is looked up. The commit has its distance in `{row}`.
macro_rules! looked_up_sequence {
    (
        numbering: $numbering:ty,
        checks: [$($check:literal),*],
        commit: $commit:tt,
        $($operand:tt)+
    ) => {
        sequence!(
            numbering: $numbering,
            before: ["mov {offset}, qword ptr [{detected} + {area}]"],
            area: "{offset}",
            checks: [
                $($check,)*
                open_number!("{row:e}", "{detected}"),
                "shl {row}, {row_shift}"
            ],
            commit: $commit,
            aside: [],
            detected = in(reg) detected(),
            $($operand)+
        )
    };
}

/// A sequence whose row the thread remembers. The commit finds its distance in the thread-local.
macro_rules! remembered_sequence {
    (
        numbering: $numbering:ty,
        checks: [$($check:expr),*],
        commit: $commit:tt,
        aside: [$($aside:literal),*],
        $($operand:tt)+
    ) => {
        sequence!(
            numbering: $numbering,
            before: [
                place_of_remembered!("{place}"),
                "61:",
                "mov {offset}, qword ptr fs:[{place} + {remembered_area}]"
            ],
            area: "{place} + {offset}",
            checks: [
                number!("{row:e}", "{place} + {offset}"),
                "cmp {row:e}, dword ptr fs:[{place} + {remembered}]",
                "jne 65b"
                $(, $check)*
            ],
            commit: $commit,
            // Outside of the sequence: when the thread remembers the row, it may have another one
            // already. Then the sequence comes here again.
            aside: [
                "65:",
                "mov {row}, qword ptr [rip + {symbol}@GOTPCREL]",
                "mov {offset}, qword ptr [{row} + {area}]",
                open_number!("{place:e}", "{row}"),
                "mov {row}, {place}",
                "shl {row}, {row_shift} + 32",
                "or {row}, {place}",
                place_of_remembered!("{place}"),
                "mov qword ptr fs:[{place} + {remembered}], {row}",
                "sub {offset}, {place}",
                "mov qword ptr fs:[{place} + {remembered_area}], {offset}",
                "jmp 61f"
                $(, $aside)*
            ],
            place = out(reg) _,
            remembered_area = const offset_of!(Remembered, area),
            remembered = const offset_of!(Remembered, number),
            distance = const offset_of!(Remembered, distance),
            symbol = sym DETECTED,
            $($operand)+
        )
    };
}

/// A sequence on a column's cell, which is `[{row} + {column} - {tag}]`.
macro_rules! column_sequence {
    (
        $numbering:ty, $column:expr,
        aborted: $aborted:expr, no_row: $no_row:expr, $commit:tt, $($operand:tt)+
    ) => {
        looked_up_sequence!(
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
}

/// A [`column_sequence`] of a numbering whose rows may be remembered.
macro_rules! quick_column_sequence {
    (
        $numbering:ty, $column:expr,
        aborted: $aborted:expr, no_row: $no_row:expr, [$($commit:literal),+], $($operand:tt)+
    ) => {
        match <$numbering>::IS_REMEMBERED {
            true => remembered_sequence!(
                numbering: $numbering,
                checks: [],
                commit: ["mov {row}, qword ptr fs:[{place} + {distance}]", $($commit),+],
                aside: [],
                tag = const <$numbering>::TAG,
                column = in(reg) $column.word,
                aborted = label { $aborted },
                no_row = label { $no_row },
                $($operand)+
            ),
            false => column_sequence!(
                $numbering, $column,
                aborted: $aborted, no_row: $no_row, [$($commit),+], $($operand)+
            ),
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
            current = const W::CURRENT,
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

/// A [`live_sequence`] of a numbering whose rows may be remembered.
///
/// There the address of the cells does not wait for the bucket, either: the window has a *guess* of
/// the bucket's column beside the pointer to the bucket. A processor predicts that it is right. The
/// sequence compares it with the column itself, so nothing depends on what it is, or on which
/// thread has written it.
///
/// The last check writes the time, which is an input: a miss behind it does not need it any more.
macro_rules! quick_live_sequence {
    ($numbering:ty, $live:expr, $at:expr, $missed:expr, [$($commit:literal),+], $($operand:tt)+) => {
        match <$numbering>::IS_REMEMBERED {
            true => remembered_sequence!(
                numbering: $numbering,
                checks: [
                    "mov {offset}, qword ptr [{window} + {current}]",
                    "mov {row}, qword ptr [{window} + {guess}]",
                    "cmp {row}, qword ptr [{offset} + {column}]",
                    "jne 68b",
                    "sub {at}, qword ptr [{offset} + {start}]",
                    "cmp {at}, qword ptr [{offset} + {span}]",
                    "jae {other_bucket}"
                ],
                commit: ["add {row}, qword ptr fs:[{place} + {distance}]", $($commit),+],
                aside: [
                    "68:",
                    "mov {row}, qword ptr [{offset} + {column}]",
                    "mov qword ptr [{window} + {guess}], {row}",
                    "jmp 61f"
                ],
                window = in(reg) $live.window,
                current = const W::CURRENT,
                guess = const W::GUESS,
                at = inout(reg) $at => _,
                start = const offset_of!(LiveBucket, start),
                span = const offset_of!(LiveBucket, span),
                column = const offset_of!(LiveBucket, column),
                aborted = label { $missed(Miss::Aborted) },
                other_bucket = label { $missed(Miss::OtherBucket) },
                no_row = label { $missed(Miss::NoRow) },
                $($operand)+
            ),
            false => live_sequence!($numbering, $live, $at, $missed, [$($commit),+], $($operand)+),
        }
    };
}
