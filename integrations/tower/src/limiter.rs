//! The rate limiters that layers ask, one for all requests or one for each key.

mod gate;
mod pace;
#[cfg(feature = "redis")]
mod shared;

use std::time::Duration;

use windrow::gate::Admission;
use windrow::{Clock, Timestamp};

use crate::rules::{Rate, RateError};

/// A rate limiter that [`Limits`](crate::Limits) hold for each key, or a
/// [`PaceLayer`](crate::PaceLayer) asks: a [`Gate`](windrow::Gate), a [`Pace`](windrow::Pace) or
/// [`Paces`](windrow::Paces), on any clock; with the feature `redis` also a `SharedGate` of
/// `windrow-redis`.
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
pub trait Limiter: Decides {}

impl<G: Decides> Limiter for G {}

/// The reply of a limiter to a request.
pub enum Reply<D: Decides> {
    /// The limiter has decided.
    Told(Admission, Option<D::Grant>),
    /// The limiter has to ask elsewhere first: the future yields its decision.
    Asks(D::Ask),
}

/// The operations of a limiter.
pub trait Decides: Send + Sync + Sized + 'static {
    type Clock: Clock + Send + Sync + 'static;

    /// A grant that can be given back: plain data, whose drop does nothing.
    type Grant: Send + Sync + Unpin + 'static;

    /// The decision of a limiter that asks elsewhere. If it is dropped, nothing is taken.
    type Ask: Future<Output = Admission> + Send + Sync + Unpin + 'static;

    /// Returns the clock.
    fn clock(&self) -> &Self::Clock;

    /// Grants a weight, now or after a wait of at most `max_wait`; or refuses it.
    fn decide(&self, weight: u64, max_wait: Duration) -> (Admission, Option<Self::Grant>);

    /// Decides as `decide`, or asks elsewhere if there is patience for that.
    fn answer(&self, weight: u64, max_wait: Duration) -> Reply<Self> {
        let (admission, grant) = self.decide(weight, max_wait);
        Reply::Told(admission, grant)
    }

    /// Gives back a grant that its caller has not used, right after the decision.
    fn leave_unused(&self, grant: Self::Grant);

    /// Gives up a turn whose caller has gone away while it waited.
    fn give_up(&self, grant: Self::Grant);

    /// Returns the largest weight that would be granted now.
    fn left(&self) -> u64;

    /// Returns the state of each limit.
    fn quotas(&self) -> impl Iterator<Item = Quota>;

    /// Prepares a new limiter for a key that may have used grants of `overflow`. Returns the time
    /// until which the key has to ask both, if it has to.
    fn succeed(&self, overflow: &Self) -> Option<Timestamp>;

    /// Retires the limiter if none of its grants counts. Returns whether it is retired.
    fn retire(&self) -> bool;

    /// Returns whether the limiter is retired.
    fn is_retired(&self) -> bool;

    /// Returns a new limiter with a rate, or as it is if it cannot have that.
    #[must_use]
    fn begun_with(self, rate: Rate) -> Self;

    /// Gives the limiter a rate; returns whether it had another. A retired one has none.
    fn apply(&self, rate: Rate) -> Result<bool, RateError>;
}

/// The state of a gate, or of one limit of a pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub limit: u64,
    pub interval: Duration,
    pub left: u64,
    /// The wait, if this limit refuses the request.
    pub retry_after: Option<Duration>,
}

impl From<windrow::pace::Quota> for Quota {
    fn from(quota: windrow::pace::Quota) -> Quota {
        Quota { limit: quota.burst, interval: quota.refill, left: quota.left, retry_after: None }
    }
}

impl Quota {
    /// Returns whether less than a weight is left.
    pub(crate) fn is_short_of(&self, weight: u64) -> bool {
        self.left < weight
    }

    /// Returns the time in which the limit admits a weight, on average.
    pub(crate) fn takes(&self, weight: u64) -> Duration {
        let nanos = self.interval.as_nanos() * u128::from(weight) / u128::from(self.limit.max(1));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
}
