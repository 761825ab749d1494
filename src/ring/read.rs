//! What the ring holds at a time, and which closed buckets a drain hands out.
//! It may use all of the ring but `write`.
//! Start with `attempt`, then `view`.

pub(super) mod at_once;
pub(super) mod attempt;
pub(super) mod drain;
pub(super) mod span;
pub(super) mod tier_view;
pub(super) mod view;
pub(super) mod walk;
