//! A reclaimer for models: it frees at the earliest moment that the contract of epochs allows, and
//! fails the model at the first access after that.
//!
//! `crossbeam-epoch` itself frees late: a bag fills, the epoch advances twice. In a model of a few
//! steps nothing is ever freed, and a block that was retired too early, or used after its guard, or
//! never retired at all goes unnoticed. This module has the same interface and none of the mercy.
//!
//! # How it checks
//!
//! - Every block carries a checked cell, `alive`. Dereferencing reads it, freeing writes it: an
//!   access that is not ordered before the freeing is a data race, which loom reports, and one that
//!   comes after it finds `false`. The cell is also written when the block is made, so that a block
//!   published without Release fails at its first reader. (Shuttle knows no races: there only the
//!   `false` is left.)
//! - Retiring notes the guards that live at that moment. When the last of them is gone, the block is
//!   freed, or the deferred function called, by whoever dropped that guard.
//! - Memory is kept until the execution ends, so that no address ever comes back (a recycled
//!   address is outside what this checker sees).
//! - When an execution ends, everything allocated must have been freed and everything deferred must
//!   have run.
//!
//! A thread may pin more than once; the checker tells its guards apart, where an epoch would keep
//! all that the oldest of them keeps.
//!
//! # Orderings
//!
//! Loom explores another order of two steps only where it sees them touch the same object. So every
//! pin, unpin and retire first does a read-modify-write on one atomic, `events`; the book-keeping
//! behind it is then changed without a switch of threads, and may be plain.
//!
//! - A retire is `AcqRel` and a pin after it acquires: who pins after the retire sees the unlinking
//!   before it. (The real collector has a `SeqCst` fence in either. A guard pinned between the
//!   unlinking and the fence is the one case that this hides.) Before the first retire a pin
//!   acquires nothing, lest it vouch for what the library forgot to publish.
//! - An unpin releases and the freeing acquires: what was done under a guard comes before it.

mod ledger;
mod pointer;

#[cfg(windrow_per_core)]
pub(crate) use ledger::is_pinned;
pub(crate) use ledger::{Guard, pin};
pub(crate) use pointer::{Atomic, Owned, Shared};
