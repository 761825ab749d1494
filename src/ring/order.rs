//! The order of buckets in time: the geometry, buckets, and the slots that lead to them. This room
//! may use `cells`. Its circle is data: a bucket points to its generation, which owns slots and
//! tiers, which lead to buckets. Start with `bucket`, then read `slot` and `generation`.

pub(super) mod bucket;
pub(super) mod bucket_ref;
pub(super) mod carried;
pub(super) mod generation;
pub(super) mod geometry;
pub(super) mod level;
pub(super) mod marks;
pub(super) mod opening;
pub(super) mod slot;
pub(super) mod slots;
pub(super) mod ticket;
pub(super) mod tier;
