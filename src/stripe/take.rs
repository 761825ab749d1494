//! Taking of a row's ration, and putting another in its place, whichever strategy a column's word
//! says.
//!
//! # Theorem
//!
//! Let a ration be put into a row after it was granted. Then each unit of it is taken by one
//! thread, or is found by one [`swap`], or still lies there; and none is taken after the ration's
//! last nanosecond, by the taker's clock.
//!
//! # Why
//!
//! A row's ration is a pair of neighbouring cells, which two operations write:
//!
//! ```text
//!   take n     left >= n and last >= now ?     left: -> left - n
//!   swap       (last, left): -> another pair   the caller has what was there
//! ```
//!
//! Per core each is one restartable sequence, whose last instruction is its one store to the pair
//! ([`per_core`]). Portably each is made of plain loads and stores by the thread that has leased
//! the row, which alone writes there ([`portable`]). So two operations on a row come one after the
//! other, and a taker that finds a ration finds it whole. What is taken was there, so nothing is
//! taken twice; what is swapped out is there no more.
//!
//! A thread without a row of its own takes nothing: rows that threads share would need a locked
//! instruction, and then the gate itself is as good.
//!
//! No operation orders other memory. A pair holds numbers, and who takes of it has the right to so
//! much whatever else it has seen.

use super::miss::{Miss, MissCell};
use super::per_core::{self, Numbering, PerCoreColumn};
use super::portable::{self, Mine};
use super::ration::{Ration, Untaken};
use super::retry::{attempt, retry};
use super::{TaggedColumn, rare::cold};
use crate::sync::AtomicU64;

/// Takes `n` of the ration of this thread's row, if there is so much, and `now` is not after its
/// last nanosecond. Where rows are told apart by the processor's number it takes nothing: see
/// [`take_by_processor`].
///
/// # Safety
/// `word` is an encoded [`TaggedColumn`], the first of two that were claimed together.
#[inline(always)]
#[allow(clippy::inline_always)] // no call on the path of a grant
pub(crate) unsafe fn take(word: *mut AtomicU64, now: u64, n: u64) -> Result<(), Untaken> {
    if let Some(column) = per_core::by_id(word) {
        per_core::take(column, now, n)
    // SAFETY: by contract.
    } else if let Some(row) = unsafe { portable::leased(word) } {
        row.take(now, n)
    } else {
        cold();
        Err(Untaken::Otherwise)
    }
}

/// As [`take`], where rows are told apart by the processor's number. (Apart from that, which then
/// makes no call: so no register is saved.)
pub(crate) fn take_by_processor(word: *mut AtomicU64, now: u64, n: u64) -> Result<(), Untaken> {
    let column = per_core::by_processor(word).ok_or(Untaken::Otherwise)?;
    per_core::take(column, now, n)
}

/// Puts a ration in the place of that of this thread's row, and returns what was there. `None` if
/// the thread has no row of its own, or is interrupted all the time: then nothing was put.
///
/// # Safety
/// As for [`take`].
#[cold]
pub(crate) unsafe fn swap(word: *mut AtomicU64, new: Ration) -> Option<Ration> {
    // SAFETY: by contract; `any` is given a word that is portable.
    unsafe {
        match TaggedColumn::decode(word) {
            TaggedColumn::PerCore(column) => in_sequence(column, new),
            TaggedColumn::PerProcessor(column) => in_sequence(column, new),
            TaggedColumn::Portable(_) => match portable::any(word) {
                Mine::Leased(row) => Some(row.swap(new)),
                Mine::Dealt(_) => None,
            },
            TaggedColumn::Unavailable | TaggedColumn::Unclaimed => None,
        }
    }
}

fn in_sequence<N: Numbering>(column: PerCoreColumn<N>, new: Ration) -> Option<Ration> {
    let mut old = Ration::NONE;
    let place = &raw mut old;
    // SAFETY: `place` is this thread's, and lives as long as the sequences.
    let sequence = |missed: &MissCell| unsafe { per_core::swap(column, new, place, missed) };
    let missed = match attempt(sequence) {
        Some(Miss::Aborted) => retry(sequence),
        missed => missed,
    };
    missed.is_none().then_some(old)
}
