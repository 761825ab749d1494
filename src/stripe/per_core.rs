//! The per-core strategy: a plain add to this core's own row, in a restartable sequence.
//!
//! # Theorem
//!
//! If a cell is written only by the sequences `add` and `raise`, each by a thread that is running
//! on the core (strictly: that has the concurrency id) of the cell's row, then no add to the cell
//! is lost, and none is done twice.
//!
//! # Why
//!
//! The kernel promises (`include/uapi/linux/rseq.h`; Mathieu Desnoyers, *The restartable sequences
//! system call*, LWN 2018, and `tools/testing/selftests/rseq`): a thread that has stored a
//! descriptor's address in its area's `rseq_cs`, and whose instruction pointer lies in
//! `[start, start + length)` of that descriptor when it is preempted, migrated or given a signal,
//! continues at the abort address instead. So between the start label and the end label of a
//! sequence that reaches its end, the thread was alone on its core: no other thread ran there, and
//! the thread did not leave it. So the load, the addition and the store of `add [cell], n` are
//! atomic among all writers of that row; a reader on another core sees the cell before or after the
//! one aligned store. The add is the last instruction before the end label: it has been done if the
//! sequence ended, and has not if it was aborted. So an aborted sequence may be retried.
//!
//! # The rules, each with its reason
//!
//! * There is no instruction between the store to `rseq_cs` and the start label. The kernel clears
//!   `rseq_cs` when it finds the thread outside the sequence. If it did so in a gap, the sequence
//!   would run unprotected.
//! * A sequence does not write its inputs, because a retry needs them. (The time of a window's add
//!   in line is the exception: the last check writes it, and a retry has kept it, or reads the
//!   clock again.)
//! * A sequence has one store that is not idempotent, and that one comes last.
//! * `cpu_id` is checked as well as the row's number. A thread that is not registered, or is no
//!   longer, has `cpu_id` -1 or -2, but may have concurrency id 0. (One byte is enough to check:
//!   the highest of `cpu_id` is zero, or all ones.)
//! * Changes other than that of count and sum must not stay if the value is not counted: an aborted
//!   record is retried, and may then go into another bucket. So a value beyond the extremes of its
//!   row is counted first, as the row's *pending* value (see `record` of each processor).
//! * A plain add and a locked one never meet in a cell. A thread that cannot use the sequence (not
//!   registered, without a row, aborted too often) adds to another cell.
//! * A row is open before the first add to it commits, or a read that comes afterwards does not
//!   visit it (see [`open_rows`](super::open_rows)). So the sequence compares with the number of
//!   open rows; out of line the thread opens its own. On x86-64, in a program, an add in line
//!   compares with the number of the row that the thread has found open last.
//! * The descriptor and the code outlive every thread that has used them. `rseq_cs` may keep
//!   pointing at the descriptor after a sequence has ended, until the kernel reads it. If the
//!   object that holds the descriptor were unloaded, the kernel would kill the thread. So
//!   [`detect()`] pins the object.

use std::marker::PhantomData;
use std::ptr::NonNull;

use super::branch_hint::cold;
use super::live_bucket::LiveBucket;
use super::row_numbers::{Numbered, UNAVAILABLE};
use crate::memory::column::Column;
use crate::sync::{AtomicPtr, AtomicU64};

/// Numbers a sequence in its object file, in a symbol that only the assembler knows.
///
/// By this number, which is `unique` in the object file, the sequence's descriptor and its abort
/// address are in sections of their own. If all sequences of an object file shared these sections,
/// a program with one of them would contain all, with the functions to which they lead: a linker
/// drops whole sections.
macro_rules! own_sections {
    () => {
        concat!(
            ".ifndef .Lwindrow_sequences\n",
            ".set .Lwindrow_sequences, 0\n",
            ".endif\n",
            ".set .Lwindrow_sequences, .Lwindrow_sequences + 1"
        )
    };
}

#[cfg(target_arch = "aarch64")]
mod aarch64;
mod detect;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64 as machine;
use detect::area;
pub(crate) use detect::{is_in_line, numbered};
pub(super) use detect::{number_place, open_rows};
pub(crate) use machine::{
    InLine, add, add_live, fold_live, pairs_are_whole, raise, raise_live, record_live,
    record_pending, swap, take,
};
pub(super) use machine::{number_at, row};
#[cfg(target_arch = "x86_64")]
use x86_64 as machine;

/// A numbering of rows: by a number in a thread's area.
///
/// Each numbering has sequences of its own, so that the number's offset is a constant of the code.
/// (Loaded from memory, it makes an add a tenth slower.)
pub(crate) trait Numbering: Copy {
    /// The offset of the number in the area.
    const NUMBER: usize;
    /// The tag that is added to the address of a column with this numbering.
    const TAG: usize = 0;
    /// True if the thread remembers its row. Then the adds in line use that.
    const IS_REMEMBERED: bool = false;
}

/// By concurrency id (`mm_cid`), where the kernel has one: 6.3 and newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ById {}

impl Numbering for ById {
    const NUMBER: usize = area::MM_CID;
}

/// By the processor's number (`cpu_id`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByProcessor {}

impl Numbering for ByProcessor {
    const NUMBER: usize = area::CPU_ID;
}

/// A column with per-core adds: the address of its cell in row 0, and the tag of its numbering.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PerCoreColumn<N: Numbering> {
    word: *mut AtomicU64,
    numbering: PhantomData<N>,
}

impl<N: Numbering> PerCoreColumn<N> {
    #[inline]
    pub(crate) fn column(self) -> Column {
        let first = self.word.map_addr(|address| address & !N::TAG);
        // SAFETY: made of a column by `tag`, so not null.
        unsafe { Column::new(NonNull::new_unchecked(first)) }
    }
}

/// Returns whether the kernel and glibc offer restartable sequences: see [`detect::detect`].
pub(super) fn detect(dense: bool) -> bool {
    detect::detect(dense, machine::may_be_in_line)
}

/// Returns the word for a column with per-core adds.
#[inline]
pub(super) fn tag(column: Column) -> *mut AtomicU64 {
    let tag = if is_in_line() { InLine::TAG } else { 0 };
    column.first().as_ptr().map_addr(|address| address | tag)
}

/// Returns the column of a word, if its adds are in line.
#[inline]
pub(crate) fn in_line(word: *mut AtomicU64) -> Option<PerCoreColumn<InLine>> {
    if word.addr() & InLine::TAG != 0 {
        Some(PerCoreColumn { word, numbering: PhantomData })
    } else {
        cold(); // so that the usual case needs no jump
        None
    }
}

/// Returns the column of a word, if its adds go by concurrency id, and are not in line.
#[inline]
pub(crate) fn by_id(word: *mut AtomicU64) -> Option<PerCoreColumn<ById>> {
    apart(word, Numbered::ById)
}

/// Returns the column of a word, if its adds go by the processor's number.
#[inline]
pub(crate) fn by_processor(word: *mut AtomicU64) -> Option<PerCoreColumn<ByProcessor>> {
    apart(word, Numbered::ByProcessor)
}

/// Returns the column of a word without a tag, if rows have these numbers.
#[inline]
fn apart<N: Numbering>(word: *mut AtomicU64, numbers: Numbered) -> Option<PerCoreColumn<N>> {
    let is_column = word.addr() > UNAVAILABLE
        && word.addr() & InLine::TAG == 0
        && word.addr().is_multiple_of(align_of::<AtomicU64>())
        && numbered() == numbers;
    is_column.then_some(PerCoreColumn { word, numbering: PhantomData })
}

// Rows are a power of two apart, and the sequences load pointers, eight bytes each.
const _: () = assert!(Column::offset(1).is_power_of_two());
const _: () = assert!(size_of::<usize>() == 8 && size_of::<AtomicPtr<LiveBucket>>() == 8);

/// Returns the distance in bytes from a bucket's first cell to a position.
#[inline(always)]
#[allow(clippy::inline_always)] // a constant, where the event is
const fn distance(position: usize) -> usize {
    position * size_of::<AtomicU64>()
}

/// Registers this process for barriers that restart sequences. Returns false if the kernel refuses;
/// then it always will.
pub(super) fn register_for_membarrier() -> bool {
    // <linux/membarrier.h>; Linux 5.10. Registering again takes a microsecond.
    const REGISTER_PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 8;
    call_membarrier(REGISTER_PRIVATE_EXPEDITED_RSEQ)
}

/// Interrupts every processor that runs a thread of this process, so that sequences under way start
/// again. Returns false if the kernel refuses.
pub(super) fn membarrier() -> bool {
    const PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 7;
    call_membarrier(PRIVATE_EXPEDITED_RSEQ)
}

fn call_membarrier(command: libc::c_int) -> bool {
    // SAFETY: neither command touches memory of this program.
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

    /// Reads back from memory the descriptor that an add has just armed.
    #[test]
    fn the_descriptor_is_what_the_kernel_wants() {
        if crate::diagnostics::strategy() != crate::diagnostics::Strategy::PerCore {
            return; // no sequences here
        }
        assert_eq!(is_in_line(), numbered() == Numbered::ById, "a test is a program");
        let counter = crate::Counter::new();
        let descriptor = armed_by(|| counter.increment());
        assert_eq!((descriptor.version, descriptor.flags), (0, 0));
        assert!((1..100).contains(&descriptor.length));
        let outside = descriptor.abort.wrapping_sub(descriptor.start) >= descriptor.length;
        assert!(outside, "an abort address within its sequence aborts for ever");
        // SAFETY: code of ours; the signature is not aligned.
        let signature = unsafe { ((descriptor.abort - 4) as *const u32).read_unaligned() };
        assert_eq!(signature, machine::SIGNATURE);
        // SAFETY: the sequence is code of ours.
        unsafe { machine::check_ends(descriptor.start, descriptor.start + descriptor.length) };
    }

    /// A grant from a ration looks its row up.
    #[cfg(target_arch = "x86_64")]
    #[test]
    fn the_address_of_what_was_detected_is_a_constant() {
        if crate::diagnostics::strategy() != crate::diagnostics::Strategy::PerCore {
            return; // no sequences here
        }
        let gate = crate::Gate::builder(1 << 30);
        let gate = gate.build_rationed(1_000).expect("a valid gate");
        let descriptor = armed_by(|| assert!(gate.try_admit(1)));
        // SAFETY: code of ours.
        assert!(unsafe { machine::is_linked_directly(descriptor.start) }, "a load was left");
    }

    /// Returns the descriptor that a second call of `work` arms last.
    fn armed_by(work: impl Fn()) -> Descriptor {
        work();
        let armed = || {
            work();
            machine::word_at(
                detect::DETECTED.area.load(Ordering::Relaxed).wrapping_add(area::RSEQ_CS),
            )
        };
        // Zero if the thread was interrupted in between.
        let address = std::iter::repeat_with(armed).find(|address| *address != 0).unwrap();
        assert_eq!(address % 32, 0);
        // SAFETY: the kernel reads the same.
        unsafe { *(address as *const Descriptor) }
    }
}
