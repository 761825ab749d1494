//! Taking from a row's ration, and replacing it, by the strategy in a column's word.
//!
//! # Theorem
//!
//! If a ration is put into a row after it was granted, each unit of it is taken by one thread, or
//! is returned by one [`swap`], or is still there; and no unit is taken after the ration's last
//! nanosecond, by the taker's clock.
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
//! ([`per_core`]). In the portable strategy each is made of plain loads and stores by the thread
//! that has leased the row, the only one that writes there ([`portable`]). So two operations on a
//! row come one after the other, and a taker that finds a ration finds it whole. A unit that is
//! taken is no longer in the row, so none is taken twice; nor is a ration that was swapped out.
//!
//! A thread without a row of its own takes nothing: rows that threads share would need a locked
//! instruction, which would cost the same as an add to the gate itself.
//!
//! No operation orders other memory. A pair holds numbers, and a thread that takes units from it
//! may use them independently of other memory that it has seen.

use super::misses::{Miss, MissCell};
use super::per_core::{self, Numbering, PerCoreColumn};
use super::portable::{self, Mine};
use super::ration::{Ration, Untaken};
use super::retries::{attempt, retry};
use super::{branch_hint::cold, column_word::TaggedColumn};
use crate::sync::AtomicU64;

/// Takes `n` from the ration of this thread's row, if at least `n` is left, and `now` is not after
/// the ration's last nanosecond. If per-core adds are not in line it takes nothing: see
/// [`take_apart`].
///
/// # Safety
/// `word` is an encoded [`TaggedColumn`], the first of two that were claimed together.
#[inline(always)]
#[allow(clippy::inline_always)] // no call on the path of a grant
pub(crate) unsafe fn take(word: *mut AtomicU64, now: u64, n: u64) -> Result<(), Untaken> {
    if let Some(column) = per_core::in_line(word) {
        per_core::take(column, now, n)
    // SAFETY: by contract.
    } else if let Some(row) = unsafe { portable::leased(word) } {
        row.take(now, n)
    } else {
        cold();
        Err(Untaken::Otherwise)
    }
}

/// Takes from a ration as [`take`] does, if adds are per core and not in line. (It is separate so
/// that [`take`] makes no call and saves no register.)
#[inline]
pub(crate) fn take_apart(word: *mut AtomicU64, now: u64, n: u64) -> Result<(), Untaken> {
    if let Some(column) = per_core::by_id(word) {
        return per_core::take(column, now, n);
    }
    let column = per_core::by_processor(word).ok_or(Untaken::Otherwise)?;
    per_core::take(column, now, n)
}

/// Replaces the ration of this thread's row, and returns the old one. Returns `None`, with the
/// ration unchanged, if the thread has no row of its own, or is interrupted each time.
///
/// # Safety
/// The contract of [`take`].
#[cold]
pub(crate) unsafe fn swap(word: *mut AtomicU64, new: Ration) -> Option<Ration> {
    // SAFETY: by contract; `any` is given a portable word.
    unsafe {
        match TaggedColumn::decode(word) {
            TaggedColumn::InLine(column) => in_sequence(column, new),
            TaggedColumn::ById(column) => in_sequence(column, new),
            TaggedColumn::ByProcessor(column) => in_sequence(column, new),
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
    let missed = match attempt(&sequence) {
        Some(Miss::Aborted) => retry(&sequence),
        missed => missed,
    };
    missed.is_none().then_some(old)
}
