//! The per-core strategy: a plain add to this core's own row, in a restartable sequence.
//!
//! # Theorem
//!
//! Let a cell be written only by the two sequences of this file, each by a thread that is running on
//! the core (strictly: has the concurrency id) whose row the cell is in. Then no add to the cell is
//! lost, and none is done twice.
//!
//! # Why
//!
//! The kernel promises (`include/uapi/linux/rseq.h`; Mathieu Desnoyers, *The restartable sequences
//! system call*, LWN 2018, and `tools/testing/selftests/rseq`): a thread that has stored a
//! descriptor's address in its area's `rseq_cs`, and whose instruction pointer lies in
//! `[start, start + length)` of that descriptor when it is preempted, migrated or given a signal,
//! goes on at the abort address instead. So between the start label and the end label of a
//! sequence that reaches its end, the thread was alone on its core: no other thread ran there, and it
//! stayed there. So the load, the addition and the store of `add [cell], n` are atomic among all writers
//! of that row; a reader on another core sees the cell before or after the one aligned store. The add
//! is the last instruction before the end label: it has been done if the sequence ended, and has not if
//! it was aborted. So an aborted sequence may be retried.
//!
//! # The rules, each with what breaks it
//!
//! * Nothing stands between the store to `rseq_cs` and the start label. The kernel clears `rseq_cs`
//!   when it finds the thread outside the sequence. If it did so in a gap, what follows would run
//!   unprotected.
//! * A sequence does not write its inputs. A retry needs them.
//! * A sequence has one store that is not idempotent, and that one comes last.
//! * `cpu_id` is checked as well as the index. A thread that is not registered has `cpu_id` -1 but
//!   may have concurrency id 0.
//! * What a value changes besides its count and sum must not stay if the value is not counted: an aborted
//!   record is retried, and may then go into another bucket. So a value beyond the extremes of its row is
//!   counted first, as the row's *pending* value (see [`record`]).
//! * A plain add and a locked one never meet in a cell. A thread that cannot use the sequence (not
//!   registered, a row that is not there, aborted too often) adds to another cell.
//! * A row is open before the first add to it commits, or a read that comes afterwards does not visit it (see
//!   [`open`](super::open)). So the sequence compares with the number of open rows; out of line the
//!   thread opens its own.
//! * The descriptor and the code outlive every thread that has used them. `rseq_cs` may keep pointing at
//!   the descriptor after a sequence has ended, until the kernel reads it. If the object that holds the
//!   descriptor were unloaded, the kernel would kill the thread. So [`detect()`] pins the object.

use std::arch::asm;
use std::mem::offset_of;
use std::ptr::NonNull;

use super::live_bucket::LiveBucket;
use super::miss::Miss;
use crate::memory::column::{COLUMNS, Column};
use crate::sync::{AtomicPtr, AtomicU64};

mod detect;
mod row;

pub(crate) use detect::pairs_are_whole;
use detect::{DETECTED, Detected, area};
pub(super) use detect::{detect, open_rows};
pub(super) use row::row;

/// The lowest bit of a column's address: adds to it are per core.
const TAG: usize = 1;

/// A column with per-core adds: the address of its cell in row 0, made odd by [`TAG`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerCoreColumn(*mut AtomicU64);

impl PerCoreColumn {
    #[inline]
    pub(crate) fn column(self) -> Column {
        let first = self.0.map_addr(|address| address & !TAG);
        // SAFETY: made of a column by `tag`, so not null.
        unsafe { Column::new(NonNull::new_unchecked(first)) }
    }
}

/// The word for a column with per-core adds.
pub(super) fn tag(column: Column) -> *mut AtomicU64 {
    column.first().as_ptr().map_addr(|address| address | TAG)
}

/// The column of a word, if it is one with per-core adds.
#[inline]
pub(crate) fn untag(word: *mut AtomicU64) -> Option<PerCoreColumn> {
    if word.addr() & TAG != 0 {
        Some(PerCoreColumn(word))
    } else {
        cold(); // so that the usual case needs no jump
        None
    }
}

/// Tells the compiler that its caller's branch is rare. (`std::hint::cold_path` needs Rust 1.95.)
#[cold]
fn cold() {}

/// What the kernel expects before an abort address: glibc's choice for x86.
#[cfg(test)]
const SIGNATURE: u32 = 0x5305_3053;

/// One sequence: `checks`; then this core's row, to whose offset `base` adds the address of the column's
/// cell in row 0; then `commit`, for which the cell is `[{row} - 1]` (the one is [`TAG`]).
macro_rules! sequence {
    (
        checks: [$($check:literal),*],
        base: [$($base:literal),+],
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
            // The abort address, behind its signature, which is an operand of `ud1`, so that it
            // disassembles. In a section of its own, away from what runs.
            ".pushsection .text.rseq_abort, \"ax?\", @progbits",
            ".byte 0x0f, 0xb9, 0x3d",
            ".long 0x53053053",
            "64:",
            "jmp {aborted}",
            ".popsection",
            // Armed by the last instruction before the start.
            "mov {offset}, qword ptr [{detected} + {area}]",
            "lea {row}, [rip + 66b]",
            "mov qword ptr fs:[{offset} + {rseq_cs}], {row}",
            "62:",
            $($check,)*
            // The row's number; all ones if `cpu_id` is negative: the thread is not registered.
            "mov {row:e}, dword ptr fs:[{offset} + {cpu_id}]",
            "mov {offset}, qword ptr [{detected} + {index}]",
            "sar {row:e}, 31",
            "or {row:e}, dword ptr fs:[{offset}]",
            // Is there such a row, and is it open? One branch for all questions. (The first bank's half of the word.)
            "cmp {row:e}, dword ptr [{detected} + {open}]",
            "jae {no_row}",
            // The cell. Rows are a power of two apart. Added up here, because a read-modify-write
            // on an address with an index is split into more micro-operations: 0.5 ns.
            "shl {row}, {row_shift}",
            $($base,)+
            // The commit: one store that is not idempotent, the last instruction.
            $($commit,)+
            "63:",
            row = out(reg) _,
            offset = out(reg) _,
            detected = in(reg) &raw const DETECTED,
            area = const offset_of!(Detected, area),
            index = const offset_of!(Detected, index),
            open = const offset_of!(Detected, open),
            rseq_cs = const area::RSEQ_CS,
            cpu_id = const area::CPU_ID,
            row_shift = const (COLUMNS * size_of::<AtomicU64>()).ilog2(),
            $($operand)+,
            options(nostack),
        )
    };
}

/// A sequence on a column's cell.
macro_rules! column_sequence {
    ($column:expr, $aborted:expr, $no_row:expr, $commit:tt, $($operand:tt)+) => {
        sequence!(
            checks: [],
            base: ["add {row}, {column}"],
            commit: $commit,
            column = in(reg) $column.0,
            aborted = label { $aborted() },
            no_row = label { $no_row() },
            $($operand)+
        )
    };
}

/// A sequence on a cell of the live bucket, `$cell` bytes after its first cell.
macro_rules! live_sequence {
    ($live:expr, $at:expr, $cell:expr, $missed:expr, $commit:tt, $($operand:tt)+) => {
        sequence!(
            // Loads the live bucket, and checks that the time lies in it. Before its start the
            // difference wraps, to more than any span.
            checks: [
                "mov {live}, qword ptr [{current}]",
                "mov {row}, {at}",
                "sub {row}, qword ptr [{live} + {start}]",
                "cmp {row}, qword ptr [{live} + {span}]",
                "jae {other_bucket}"
            ],
            base: ["add {row}, qword ptr [{live} + {column}]", "add {row}, {cell}"],
            commit: $commit,
            live = out(reg) _,
            current = in(reg) $live,
            at = in(reg) $at,
            cell = in(reg) $cell,
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

const _: () = assert!((COLUMNS * size_of::<AtomicU64>()).is_power_of_two());

// Here, after the macros that it uses.
mod record;
pub(crate) use record::{fold_live, record_live, record_pending};
// The sequences load pointers, offsets and the number of rows, eight bytes each.
const _: () = assert!(size_of::<usize>() == 8 && size_of::<AtomicPtr<LiveBucket>>() == 8);

/// Adds `n`, wrapping, to this core's cell of `column`. Calls `aborted` instead if the kernel interrupted
/// it, or `no_row` if this thread has no open row: it is not registered, or runs on a core whose row is not open
/// yet, or is not there. Then nothing was written.
///
/// (Calls, rather than a result, which would cost instructions on the path where nothing goes wrong.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn add(column: PerCoreColumn, n: u64, aborted: impl FnOnce(), no_row: impl FnOnce()) {
    // SAFETY: the theorem above. Columns are tagged only after `detect` has filled `DETECTED`. A column's
    // segment has every row that may be open, and is never unmapped.
    unsafe {
        column_sequence!(
            column,
            aborted,
            no_row,
            ["add qword ptr [{row} - 1], {n}"],
            n = in(reg) n
        );
    }
}

/// Raises this core's cell of `column` to `value`, unless it is there already: then it writes
/// nothing, and calls nothing. (The store is idempotent besides.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn raise(
    column: PerCoreColumn,
    value: u64,
    aborted: impl FnOnce(),
    no_row: impl FnOnce(),
) {
    // SAFETY: as in `add`.
    unsafe {
        column_sequence!(
            column,
            aborted,
            no_row,
            [
                "cmp qword ptr [{row} - 1], {value}",
                "jae 63f",
                "mov qword ptr [{row} - 1], {value}"
            ],
            value = in(reg) value
        );
    }
}

/// Adds `n`, wrapping, to this core's cell of the live bucket at `position`, if `at` lies in the bucket. Else
/// calls `missed`: nothing was written.
///
/// # Safety
/// `live` points at a [`LiveBucket`] that does not change until a barrier has ended that began after `live`
/// was made to point elsewhere. Unless its span is zero, its column is tagged, and its claim includes the
/// cell at `position`.
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn add_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    position: usize,
    n: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: the theorem above, and the contract: a barrier restarts the sequence, so that it does not use
    // what it loaded before the barrier.
    unsafe {
        live_sequence!(
            live,
            at,
            position * size_of::<AtomicU64>(),
            missed,
            ["add qword ptr [{row} - 1], {n}"],
            n = in(reg) n
        );
    }
}

/// Raises this core's cell of the live bucket at `position` to `value`, unless it is there already, if `at` lies in
/// the bucket. Else calls `missed`: nothing was written.
///
/// The one store is the last instruction. So a sequence that is aborted leaves nothing of its value where it does not
/// count; it is also idempotent.
///
/// # Safety
/// As for [`add_live`].
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn raise_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    position: usize,
    value: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: as in `add_live`.
    unsafe {
        live_sequence!(
            live,
            at,
            position * size_of::<AtomicU64>(),
            missed,
            [
                "cmp qword ptr [{row} - 1], {value}",
                "jae 63f",
                "mov qword ptr [{row} - 1], {value}"
            ],
            value = in(reg) value
        );
    }
}

/// Registers this process for barriers that restart sequences. False if the kernel refuses; then it
/// always will.
pub(super) fn register_for_membarrier() -> bool {
    // <linux/membarrier.h>; Linux 5.10. Registering again takes a microsecond.
    const REGISTER_PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 8;
    call_membarrier(REGISTER_PRIVATE_EXPEDITED_RSEQ)
}

/// Interrupts every processor that runs a thread of this process: sequences under way start again. False
/// if the kernel refuses.
pub(super) fn membarrier() -> bool {
    const PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 7;
    call_membarrier(PRIVATE_EXPEDITED_RSEQ)
}

fn call_membarrier(command: libc::c_int) -> bool {
    // SAFETY: neither command touches memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    /// `struct rseq_cs` of the kernel.
    #[repr(C)]
    #[derive(Clone, Copy)]
    struct Descriptor {
        version: u32,
        flags: u32,
        start: u64,
        length: u64,
        abort: u64,
    }

    fn word_at(offset: usize) -> u64 {
        let word: u64;
        // SAFETY: reads this thread's area, which is registered.
        unsafe {
            asm!("mov {}, qword ptr fs:[{}]", out(reg) word, in(reg) offset, options(nostack));
        };
        word
    }

    /// Reads back from memory the descriptor that an add has just armed.
    #[test]
    fn the_descriptor_is_what_the_kernel_wants() {
        if crate::strategy() != crate::Strategy::PerCore {
            return; // there is none
        }
        let counter = crate::Counter::new();
        counter.increment();
        let armed = || {
            counter.increment();
            word_at(DETECTED.area.load(Ordering::Relaxed).wrapping_add(area::RSEQ_CS))
        };
        // Zero if the thread was interrupted in between.
        let address = std::iter::repeat_with(armed).find(|address| *address != 0).unwrap();
        assert_eq!(address % 32, 0);
        // SAFETY: the kernel reads the same.
        let descriptor = unsafe { *(address as *const Descriptor) };
        assert_eq!((descriptor.version, descriptor.flags), (0, 0));
        assert!((1..100).contains(&descriptor.length));
        let outside = descriptor.abort.wrapping_sub(descriptor.start) >= descriptor.length;
        assert!(outside, "an abort address within its sequence aborts for ever");
        // SAFETY: code of ours; the signature is not aligned.
        let signature = unsafe { ((descriptor.abort - 4) as *const u32).read_unaligned() };
        assert_eq!(signature, SIGNATURE);
        // The sequence begins by reading `cpu_id`.
        // SAFETY: code of ours.
        let first = unsafe { *(descriptor.start as *const u8) };
        assert_eq!(first, 0x64, "the first instruction reads through fs");
        // It ends with the commit, `add qword ptr [{row} - 1], {n}`: a prefix, 0x01, a byte for the
        // registers (two bytes, if one is r12), and the -1.
        let end = descriptor.start + descriptor.length;
        // SAFETY: code of ours.
        let commit = unsafe { *((end - 5) as *const [u8; 5]) };
        assert!(commit[1..3].contains(&0x01), "{commit:x?} is not the add");
        assert_eq!(commit[4], 0xff, "{commit:x?} is not the add");
    }
}
