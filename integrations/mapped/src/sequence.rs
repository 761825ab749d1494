//! A plain add to this processor's cell, or a raise of it, in a restartable sequence.
//!
//! # Promise
//!
//! If a cell is written only by [`add`], or only by [`raise`], each time with the row of the
//! *processor's number*, then no add to it is lost and none is done twice, and no raise is undone,
//! whichever processes the threads belong to.
//!
//! # Why
//!
//! The kernel lets a thread that is preempted, moved or signalled between the start label and the
//! end label of its sequence continue at the abort address (`include/uapi/linux/rseq.h`), whichever
//! thread runs next, and of whichever process. So from the load of `cpu_id` to the commit, which is
//! the last instruction, no other thread has run on this processor, and no other processor writes
//! its cell. A thread that is killed was killed before that one instruction, or after it.
//!
//! * The row must be the processor's number, `cpu_id`. The concurrency id (`mm_cid`), by which
//!   windrow's own counters choose rows, is dense *in a process*: two processes have the same one
//!   on two processors at once.
//! * A plain add and a locked one never meet in a cell: a plain add is not atomic against a locked
//!   one of another processor. So locked adds have rows of their own.
//! * There is no instruction between the store to `rseq_cs` and the start label, and the
//!   descriptor and the code outlive every thread that has used them: see windrow's rules of
//!   sequences.
//!
//! # Why the sequences are not the library's
//!
//! Those compare with the number of the rows that the process has open, in a static of the library,
//! and most are by concurrency id. Here the number of rows is the file's, and nothing opens later.
//! The two have the descriptor in common, which is less than an interface between them would be.

/// Writes [`add`] and [`raise`] for a processor, by its `sequence!`: each ends with the
/// instructions that are given, of which the last commits.
#[allow(unused_macros)] // where there are no sequences
macro_rules! changes {
    (add: $add:tt, raise: $raise:tt) => {
        /// Adds `n`, wrapping, to this processor's cell of a column whose cell in row 0 is `first`.
        /// An error if nothing was written.
        ///
        /// # Safety
        /// `area` is that of [`area`](super::area). The column's cells in the first `rows` rows are
        /// mapped.
        #[inline(always)]
        #[allow(clippy::inline_always)] // the whole point: no call on the path of an add
        pub(crate) unsafe fn add(
            area: isize,
            rows: u32,
            first: *mut AtomicU64,
            n: u64,
        ) -> Result<(), Miss> {
            // SAFETY: the promise of `sequence`, and the contract. A thread without an area of its
            // own has a negative `cpu_id`, which is above any number of rows.
            unsafe { sequence!(area, rows, first, n, commit: $add) };
            Ok(())
        }

        /// Raises this processor's cell of a column to `value`, if that is greater; otherwise it
        /// writes nothing. An error if the thread has not looked at the cell, or has not written
        /// what it should.
        ///
        /// # Safety
        /// The contract of [`add`].
        #[inline(always)]
        #[allow(clippy::inline_always)] // as above
        pub(crate) unsafe fn raise(
            area: isize,
            rows: u32,
            first: *mut AtomicU64,
            value: u64,
        ) -> Result<(), Miss> {
            // SAFETY: as in `add`. The jump to the end leaves the sequence without a write.
            unsafe { sequence!(area, rows, first, value, commit: $raise) };
            Ok(())
        }
    };
}

// One of three, with the same functions: on glibc, which registers threads, or elsewhere. (A
// program that is linked statically has no table of symbols in which to look for glibc's.)
#[cfg_attr(
    all(target_arch = "x86_64", target_env = "gnu", not(target_feature = "crt-static")),
    path = "sequence/x86_64.rs"
)]
#[cfg_attr(
    all(target_arch = "aarch64", target_env = "gnu", not(target_feature = "crt-static")),
    path = "sequence/aarch64.rs"
)]
#[cfg_attr(
    any(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        not(target_env = "gnu"),
        target_feature = "crt-static"
    ),
    path = "sequence/absent.rs"
)]
mod machine;

// One of two, as above.
#[cfg_attr(
    any(
        not(any(target_arch = "x86_64", target_arch = "aarch64")),
        not(target_env = "gnu"),
        target_feature = "crt-static"
    ),
    path = "sequence/undetected.rs"
)]
mod detect;

pub(crate) mod miss;

pub(crate) use detect::area;
pub(crate) use machine::{add, raise};
