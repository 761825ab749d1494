//! Which bucket counts for which time: the geometry, buckets, and the slots that lead to them.
//! It may use `cells`. A bucket points to its generation, whose slots lead to buckets: the one circle.
//! Start with `bucket`, then `slot` and `generation`.

pub(super) mod bucket;
pub(super) mod bucket_ref;
pub(super) mod generation;
pub(super) mod geometry;
pub(super) mod slot;
pub(super) mod slots;
pub(super) mod ticket;
pub(super) mod tier;
