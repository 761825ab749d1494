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
//! stayed there. The load, the addition and the store of `add [cell], n` are then as good as atomic
//! among all writers of that row; a reader on another core sees the cell before or after the one
//! aligned store. The add is the last instruction before the end label: it has been done when the
//! sequence ends, and not when it was aborted. So an aborted one may be tried again.
//!
//! # The rules, each with what breaks it
//!
//! * Nothing stands between the store to `rseq_cs` and the start label. The kernel clears `rseq_cs`
//!   when it finds the thread outside the sequence; in a gap it would, and what follows would run
//!   unprotected.
//! * The inputs are not written. A sequence that is tried again needs them.
//! * One store that is not idempotent, and that one last.
//! * `cpu_id` is checked as well as the index. A thread that is not registered has `cpu_id` -1 but
//!   may have concurrency id 0.
//! * What a value changes besides its count and sum must not stay if it is not counted: an aborted record
//!   is tried again, and may by then be another bucket's. So a value beyond the extremes of its row is
//!   counted first, as the row's *pending* value (see [`record`]).
//! * A plain add and a locked one never meet in a cell. Whoever cannot use the sequence (not
//!   registered, a row that is not there, aborted too often) adds to another cell.
//! * The descriptor and the code outlive every thread that has used them. `rseq_cs` may go on
//!   pointing at the descriptor after a sequence has ended, until the kernel looks; were the object
//!   that holds it unloaded, the kernel would kill the thread. So the object is pinned in [`detect`].

use std::arch::asm;
use std::mem::offset_of;
use std::ptr::NonNull;

use super::live_bucket::LiveBucket;
use super::retry::Miss;
use crate::memory::column::{COLUMNS, Column};
use crate::sync::{AtomicPtr, AtomicU64};

mod detect;

pub(super) use detect::detect;
pub(crate) use detect::pairs_are_whole;
use detect::{DETECTED, Detected, area};

/// The lowest bit of a column's address says that it is added to per core.
const TAG: usize = 1;

/// A column to be added to per core: its cell in row 0, the address made odd by [`TAG`].
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

/// A column's word that says that it is added to per core.
pub(super) fn tag(column: Column) -> *mut AtomicU64 {
    column.first().as_ptr().map_addr(|address| address | TAG)
}

/// The column of a word, if it is one that is added to per core.
#[inline]
pub(super) fn untag(word: *mut AtomicU64) -> Option<PerCoreColumn> {
    if word.addr() & TAG != 0 {
        Some(PerCoreColumn(word))
    } else {
        cold(); // so that what is usual needs no jump
        None
    }
}

/// Tells the compiler that its caller's branch is rare. (`std::hint::cold_path` needs Rust 1.95.)
#[cold]
fn cold() {}

/// What the kernel wants before an abort address: glibc's choice for x86.
#[cfg(test)]
const SIGNATURE: u32 = 0x5305_3053;

/// One sequence: `checks`; then this core's row, to whose address `base` adds that of the column's
/// cell in row 0; then `commit`, to which the cell is `[{row} - 1]`, the one being [`TAG`].
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
            // Is there such a row? One branch for both questions.
            "cmp {row}, qword ptr [{detected} + {rows}]",
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
            rows = const offset_of!(Detected, rows),
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

/// A sequence on a cell of the live bucket, `$cell` bytes behind its first.
macro_rules! live_sequence {
    ($live:expr, $at:expr, $cell:expr, $missed:expr, $commit:tt, $($operand:tt)+) => {
        sequence!(
            // The live bucket, as it is now, and whether the time lies in it. Before its start the
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

// Here, because it uses the macros above.
mod record;
pub(crate) use record::{fold_live, record_live, record_pending};
// The sequences load pointers, offsets and numbers of rows, eight bytes each.
const _: () = assert!(size_of::<usize>() == 8 && size_of::<AtomicPtr<LiveBucket>>() == 8);

/// Adds `n`, wrapping, to this core's cell of `column`; or calls `aborted`, if the kernel has
/// interrupted it, or `no_row`, if this thread has no row: it is not registered, or runs where there
/// is no row for it. Then nothing was written.
///
/// (Calls, rather than a result: that would be put together, and taken apart again, on the path on
/// which nothing goes wrong.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn add(column: PerCoreColumn, n: u64, aborted: impl FnOnce(), no_row: impl FnOnce()) {
    // SAFETY: the theorem above. There is a tagged column only once `detect` has filled `DETECTED`;
    // its segment has as many rows as that says, and is never unmapped.
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
/// nothing. (Either way the sequence has done its work; the store is idempotent besides.)
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

/// Adds `n`, wrapping, to this core's cell of the live bucket at `position`, if `at` lies in the
/// bucket; or calls `missed`, when nothing was written.
///
/// # Safety
/// Until a barrier that has begun after `live` was made to point elsewhere, what it points at is a
/// [`LiveBucket`] that does not change. Its column, unless its span is zero, is a tagged one, and there are
/// cells of the same claim up to `position`.
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) unsafe fn add_live(
    live: *const AtomicPtr<LiveBucket>,
    at: u64,
    position: usize,
    n: u64,
    missed: impl FnOnce(Miss),
) {
    // SAFETY: the theorem above, and this function's contract: a barrier restarts us, so that we
    // do not use what we have loaded before it.
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

/// Asks the kernel to restart this process's sequences when it is told to. False if it refuses; then
/// it always will.
pub(super) fn register_for_membarrier() -> bool {
    // <linux/membarrier.h>; Linux 5.10. Registering again is a matter of a microsecond.
    const REGISTER_PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 8;
    call_membarrier(REGISTER_PRIVATE_EXPEDITED_RSEQ)
}

/// Interrupts every processor that runs a thread of this process: sequences that were under way
/// start again. False if the kernel refuses.
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

    /// Reads the descriptor that an add has just armed back from memory.
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
        // And it ends with the commit: `add qword ptr [{row} - 1], {n}`, which is a prefix, 0x01,
        // a byte that says which registers (two, if one is r12), and the -1.
        let end = descriptor.start + descriptor.length;
        // SAFETY: code of ours.
        let commit = unsafe { *((end - 5) as *const [u8; 5]) };
        assert!(commit[1..3].contains(&0x01), "{commit:x?} is not the add");
        assert_eq!(commit[4], 0xff, "{commit:x?} is not the add");
    }
}
