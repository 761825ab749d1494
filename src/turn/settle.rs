//! Limiters that change the cost of a turn after they have granted it.

use super::undo::Undo;
use super::vacancies::Turn;

/// A limiter that has granted a turn.
pub(crate) trait Settle: std::fmt::Debug + Sync {
    /// Returns whether a turn that has not come can go to a later call: not if it was granted under
    /// other terms than the current ones.
    fn passes_on(&self, turn: Turn) -> bool;

    /// Counts `actual` for a turn that has come, or that has cost more, instead of its weight,
    /// which is another. Returns whether anything was given back.
    fn settle(&self, turn: Turn, made: &Undo<'_>, actual: u64, clock: &dyn Fn() -> u64) -> bool;
}
