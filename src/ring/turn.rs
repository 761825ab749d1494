//! How the ring moves on: opening the next bucket, closing retired ones, changing the geometry.
//! It may use all of the ring but `write` and `read`.
//! Start with `rotate`, then `close`.

pub(super) mod change;
pub(super) mod close;
pub(super) mod prefix;
pub(super) mod rotate;
