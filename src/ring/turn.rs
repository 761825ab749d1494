//! Turns of the ring: opening the next bucket, closing retired ones, changing the geometry. This
//! room may use all of the ring but `write` and `drain`. Start with `rotate`, then read `prefix`,
//! `settling`, `close` and `change`.

pub(super) mod change;
pub(super) mod close;
pub(super) mod prefix;
pub(super) mod rotate;
pub(super) mod settling;
