//! How an add reaches its bucket.
//! It may use all of the ring but `read`.
//! Start with `add`.

pub(super) mod add;
#[allow(clippy::inline_always)] // it is on the path of an add
pub(super) mod hold;
