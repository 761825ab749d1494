//! A limit, as a type of its own.

/// A limit: so much, and no more.
///
/// It is a type of its own, so that no other number beside it can be taken for it: a weight that
/// [enters](crate::InFlight::try_enter), or the buckets of a [gate](crate::Gate::of).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtMost(pub u64);
