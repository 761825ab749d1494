//! The operations of a limiter that a layer needs.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use windrow::gate::Admission;
use windrow::{Clock, Timestamp};

use crate::limiter::quota::Quota;
use crate::rules::{Rate, RateError};

/// The answer of a limiter to a request.
pub enum Answer<D: Decides> {
    /// The limiter has decided.
    Told(Admission, Option<D::Grant>),
    /// The limiter has to ask elsewhere first: the future yields its decision.
    Asks(D::Ask),
}

/// The future of a limiter that never asks elsewhere.
#[derive(Debug)]
pub enum Never {}

impl Future for Never {
    type Output = Admission;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Admission> {
        match *self {}
    }
}

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
    fn answer(&self, weight: u64, max_wait: Duration) -> Answer<Self> {
        let (admission, grant) = self.decide(weight, max_wait);
        Answer::Told(admission, grant)
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
