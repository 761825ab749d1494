//! Reading the ring at a time. This room may use all of the ring but `turn`, `write` and `drain`.
//! Start with `attempt`, then read `view`, and `at_once` for the ordinary sum.

pub(super) mod at_once;
pub(super) mod attempt;
mod boundary;
mod in_span;
pub(super) mod span;
pub(super) mod tier_view;
pub(super) mod view;
pub(super) mod walk;
