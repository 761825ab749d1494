//! The way of an add to its bucket. This room may use all of the ring but `drain`. Start with
//! `add`; `hold` has what a portable add does instead of a sequence.

pub(super) mod add;
#[allow(clippy::inline_always)] // it is on the path of an add
pub(super) mod hold;
