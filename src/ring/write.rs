//! The way of an add to its bucket. This room may use all of the ring but `drain`. Start with
//! `add`; `bucket_hold` has what a portable add does instead of a sequence, `missed_add` what an
//! add does that is not for the live bucket, or could not be done there quickly.

pub(super) mod add;
#[allow(clippy::inline_always)] // it is on the path of an add
pub(super) mod bucket_hold;
mod missed_add;
