//! A limit, as a type of its own.

/// A limit, inclusive.
///
/// It is a type of its own, so that it cannot be mixed up with another argument: the weight of an
/// [enter](crate::InFlight::try_enter), or the buckets of a [gate](crate::Gate::of).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AtMost(pub u64);
