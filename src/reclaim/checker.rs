//! A reclaimer for models: it frees at the earliest moment that the contract of epochs allows, and
//! fails the model at the first access after that.
//!
//! `crossbeam-epoch` itself frees late: a bag fills, the epoch advances twice. In a model of a few
//! steps it frees nothing: so it would hide a block that is retired too early, used after its
//! guard, or never retired. This module has the same interface, and hides none of these.
//!
//! # How it checks
//!
//! - Every block carries a checked cell, `alive`. Dereferencing reads it, freeing writes it. An
//!   access that is not ordered before the freeing is a data race, which loom reports; an access
//!   after it finds `false`. The cell is also written when the block is made, so that a block
//!   published without Release fails at its first reader. (Shuttle cannot detect races: there, only
//!   the `false` remains.)
//! - Retiring records the guards that live at that moment. The thread that drops the last of them
//!   frees the block, or calls the deferred function.
//! - Memory is kept until the execution ends, so that no address is reused (this checker cannot
//!   detect a reused address).
//! - When an execution ends, everything allocated must have been freed and everything deferred must
//!   have run.
//!
//! A thread may pin more than once. The checker distinguishes its guards; an epoch would keep
//! everything that the oldest of them keeps.
//!
//! # Orderings
//!
//! Loom explores another order of two steps only where it sees them touch the same object. So every
//! pin, unpin and retire first does a read-modify-write on one atomic, `events`. The book-keeping
//! follows without a switch of threads, and may be plain.
//!
//! - A retire is `AcqRel`, and a pin after it acquires: a thread that pins after the retire sees
//!   the unlinking before it. (The real collector has a `SeqCst` fence in either. A guard pinned
//!   between the unlinking and the fence is the one case that this hides.) Before the first retire,
//!   a pin acquires nothing: otherwise it would publish data that the library failed to publish.
//! - An unpin releases and the freeing acquires: everything done under a guard comes before the
//!   freeing.

mod pointer;
mod registry;

pub(crate) use pointer::{Atomic, Owned, Shared};
#[cfg(any(windrow_per_core, windrow_announced))]
pub(crate) use registry::is_pinned;
pub(crate) use registry::{Guard, pin};
