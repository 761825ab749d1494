//! The rate limiters that layers ask, one for all requests or one for each key.

mod gate;
mod pace;
mod quota;
pub(crate) mod sealed;
#[cfg(feature = "redis")]
mod shared;

pub(crate) use quota::Quota;

/// A rate limiter that [`Limits`](crate::Limits) hold for each key: a [`Gate`](windrow::Gate), a
/// [`Pace`](windrow::Pace) or [`Paces`](windrow::Paces), on any clock; with the feature `redis`
/// also a `SharedGate` of `windrow-redis`.
///
/// The trait is sealed.
///
/// ```
/// use windrow::{Gate, Pace, Paces};
///
/// fn is_a_limiter<G: windrow_tower::Limiter>() {}
/// is_a_limiter::<Gate>();
/// is_a_limiter::<Pace>();
/// is_a_limiter::<Paces>();
/// ```
pub trait Limiter: sealed::Decides {}

impl<G: sealed::Decides> Limiter for G {}
