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
//! * A plain add and a locked one never meet in a cell. Whoever cannot use the sequence (not
//!   registered, a row that is not there, aborted too often) adds to another cell.
//! * The descriptor and the code outlive every thread that has used them. `rseq_cs` may go on
//!   pointing at the descriptor after a sequence has ended, until the kernel looks; were the object
//!   that holds it unloaded, the kernel would kill the thread. So the object is pinned in [`find`].

use std::arch::asm;
use std::mem::offset_of;
use std::ptr::NonNull;

use crate::column::{COLUMNS, Column};
use crate::pages::Cell;
use crate::sync::{AtomicUsize, Ordering};

/// The lowest bit of a column's address says that it is added to per core.
const TAG: usize = 1;

/// A column to be added to per core: its cell in row 0, the address made odd by [`TAG`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(*mut Cell);

impl Tagged {
    #[inline]
    pub(crate) fn column(self) -> Column {
        let first = self.0.map_addr(|address| address & !TAG);
        // SAFETY: made of a column by `tag`, so not null.
        unsafe { Column::new(NonNull::new_unchecked(first)) }
    }
}

/// A column's word that says that it is added to per core.
pub(super) fn tag(column: Column) -> *mut Cell {
    column.first().as_ptr().map_addr(|address| address | TAG)
}

/// The column of a word, if it is one that is added to per core.
#[inline]
pub(super) fn untag(word: *mut Cell) -> Option<Tagged> {
    if word.addr() & TAG != 0 {
        Some(Tagged(word))
    } else {
        std::hint::cold_path(); // so that what is usual needs no jump
        None
    }
}

/// Offsets in `struct rseq` of the kernel.
mod area {
    pub(super) const CPU_ID: usize = 4;
    pub(super) const RSEQ_CS: usize = 8;
    pub(super) const MM_CID: usize = 24;
    /// How long the area must be to have a concurrency id.
    pub(super) const WITH_MM_CID: usize = 28;
}

/// What the kernel wants before an abort address: glibc's choice for x86.
#[cfg(test)]
const SIGNATURE: u32 = 0x5305_3053;

/// What [`find`] has found out, before there was any column to add to.
#[repr(C)]
struct Found {
    /// Where a thread's area is, from its thread pointer.
    area: AtomicUsize,
    /// Where the number of the row is, from the thread pointer.
    index: AtomicUsize,
    /// How many rows there are.
    rows: AtomicUsize,
}

static FOUND: Found =
    Found { area: AtomicUsize::new(0), index: AtomicUsize::new(0), rows: AtomicUsize::new(0) };

/// One sequence: this core's row of `$column`, then `$commit`, to which the cell is
/// `[{row} - 1]`, the one being [`TAG`].
macro_rules! sequence {
    ($column:expr, $aborted:expr, $no_row:expr, [$($commit:literal),+], $($operand:tt)+) => {
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
            "mov {offset}, qword ptr [{found} + {area}]",
            "lea {row}, [rip + 66b]",
            "mov qword ptr fs:[{offset} + {rseq_cs}], {row}",
            "62:",
            // The row's number; all ones if `cpu_id` is negative: the thread is not registered.
            "mov {row:e}, dword ptr fs:[{offset} + {cpu_id}]",
            "mov {offset}, qword ptr [{found} + {index}]",
            "sar {row:e}, 31",
            "or {row:e}, dword ptr fs:[{offset}]",
            // Is there such a row? One branch for both questions.
            "cmp {row}, qword ptr [{found} + {rows}]",
            "jae {no_row}",
            // The cell. Rows are a power of two apart. Added up here, because a read-modify-write
            // on an address with an index is split into more micro-operations: 0.5 ns.
            "shl {row}, {row_shift}",
            "add {row}, {column}",
            // The commit: one store, the last instruction.
            $($commit,)+
            "63:",
            row = out(reg) _,
            offset = out(reg) _,
            column = in(reg) $column.0,
            found = in(reg) &raw const FOUND,
            area = const offset_of!(Found, area),
            index = const offset_of!(Found, index),
            rows = const offset_of!(Found, rows),
            rseq_cs = const area::RSEQ_CS,
            cpu_id = const area::CPU_ID,
            row_shift = const (COLUMNS * size_of::<Cell>()).ilog2(),
            $($operand)+,
            aborted = label { $aborted() },
            no_row = label { $no_row() },
            options(nostack),
        )
    };
}

const _: () = assert!((COLUMNS * size_of::<Cell>()).is_power_of_two());

/// Adds `n`, wrapping, to this core's cell of `column`; or calls `aborted`, if the kernel has
/// interrupted it, or `no_row`, if this thread has no row: it is not registered, or runs where there
/// is no row for it. Then nothing was written.
///
/// (Calls, rather than a result: that would be put together, and taken apart again, on the path on
/// which nothing goes wrong.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn add(column: Tagged, n: u64, aborted: impl FnOnce(), no_row: impl FnOnce()) {
    // SAFETY: the theorem above. There is a tagged column only once `find` has filled `FOUND`;
    // its segment has as many rows as that says, and is never unmapped.
    unsafe {
        sequence!(column, aborted, no_row, ["add qword ptr [{row} - 1], {n}"], n = in(reg) n);
    }
}

/// Raises this core's cell of `column` to `value`, unless it is there already: then it writes
/// nothing. (Either way the sequence has done its work; the store is idempotent besides.)
#[inline(always)]
#[allow(clippy::inline_always)] // the whole point: no call on the path of an add
pub(crate) fn raise(column: Tagged, value: u64, aborted: impl FnOnce(), no_row: impl FnOnce()) {
    // SAFETY: as in `add`.
    unsafe {
        sequence!(
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

/// Finds out whether the kernel and glibc offer what this takes, and how many rows it needs, at most
/// `most`; with `dense`, by concurrency ids where there are any. Called once.
pub(super) fn find(most: usize, dense: bool) -> Option<usize> {
    let offset = symbol::<isize>(c"__rseq_offset")?;
    let size = symbol::<u32>(c"__rseq_size")? as usize;
    if size == 0 {
        return None; // not registered: an old kernel, a sandbox, or a tunable
    }
    let has_mm_cid = size >= area::WITH_MM_CID
        // 20 is what glibc says of the original area, and 32 its padded size, whatever the kernel
        // fills; the kernel's own word is the auxiliary vector's.
        || (matches!(size, 20 | 32) && feature_size() >= area::WITH_MM_CID);
    let index = if dense && has_mm_cid { area::MM_CID } else { area::CPU_ID };
    // Both numbers are below that of the cores there are. Fewer may be allowed, but asking for that
    // would ask about this thread, which may be pinned to one core while the others are not.
    // SAFETY: a plain question about the system.
    let cores = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let rows = usize::try_from(cores).ok()?.clamp(1, most);
    pin_object();
    let area = offset.cast_unsigned();
    // Relaxed: published with the decision, and with every column after it.
    FOUND.area.store(area, Ordering::Relaxed);
    FOUND.index.store(area.wrapping_add(index), Ordering::Relaxed);
    FOUND.rows.store(rows, Ordering::Relaxed);
    Some(rows)
}

/// The value of a constant that glibc exports, if it does.
fn symbol<T: Copy>(name: &std::ffi::CStr) -> Option<T> {
    // SAFETY: asks for a name among the objects that are loaded.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    // SAFETY: glibc's manual ("Restartable Sequences") gives these symbols these types, and sets
    // them before any code of ours runs.
    (!address.is_null()).then(|| unsafe { address.cast::<T>().read() })
}

/// How much of the area the kernel fills.
fn feature_size() -> usize {
    const AT_RSEQ_FEATURE_SIZE: libc::c_ulong = 27; // include/uapi/linux/auxvec.h
    // SAFETY: reads the auxiliary vector; zero for what is not there.
    unsafe { libc::getauxval(AT_RSEQ_FEATURE_SIZE) as usize }
}

/// Keeps the object that holds the descriptors loaded for ever, should it be one that was opened.
fn pin_object() {
    // SAFETY: all zeros are a valid answer, and the first argument is an address of this object.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let here = pin_object as *const libc::c_void;
        if libc::dladdr(here, &raw mut found) != 0 && !found.dli_fname.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(found.dli_fname, flags); // null for the program itself, which stays anyway
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            word_at(FOUND.area.load(Ordering::Relaxed).wrapping_add(area::RSEQ_CS))
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
