//! A pace, or several limits, as the limiter of a layer.

use std::future::Pending;
use std::time::Duration;

use windrow::LimitError;
use windrow::gate::Admission;
use windrow::pace::{RefusedError, Reservation, Ticket};
use windrow::{Clock, Pace, Paces, Timestamp};

use crate::limiter::{Decides, Quota};
use crate::rules::{Rate, RateError};

/// Returns the decision that a reservation stands for, and its ticket.
fn told<C: Clock>(
    reserved: Result<Reservation<'_, C>, RefusedError>,
) -> (Admission, Option<Ticket>) {
    match reserved {
        Ok(turn) if turn.wait().is_zero() => (Admission::Now, Some(turn.into_ticket())),
        Ok(turn) => (Admission::After(turn.wait()), Some(turn.into_ticket())),
        Err(refused) => (Admission::Refused { retry_after: refused.retry_after }, None),
    }
}

/// Implements the operations that both have under the same names.
macro_rules! by_reservations {
    ($limiter:ident) => {
        type Clock = C;
        type Grant = Ticket;
        type Ask = Pending<Admission>; // it never asks

        fn clock(&self) -> &C {
            $limiter::clock(self)
        }

        fn decide(&self, weight: u64, max_wait: Duration) -> (Admission, Option<Ticket>) {
            told(self.reserve(weight, max_wait))
        }

        fn leave_unused(&self, grant: Ticket) {
            self.redeem(grant).settle(0);
        }

        fn give_up(&self, grant: Ticket) {
            drop(self.redeem(grant));
        }

        fn left(&self) -> u64 {
            $limiter::left(self)
        }

        fn retire(&self) -> bool {
            $limiter::retire(self)
        }

        fn is_retired(&self) -> bool {
            $limiter::is_retired(self)
        }
    };
}

impl<C: Clock + Send + Sync + 'static> Decides for Pace<C> {
    by_reservations!(Pace);

    fn quotas(&self) -> impl Iterator<Item = Quota> {
        [Quota::from(self.quota())].into_iter()
    }

    /// The pace begins where `overflow` stands, so the key asks it alone.
    fn succeed(&self, overflow: &Pace<C>) -> Option<Timestamp> {
        self.take_over(overflow);
        None
    }

    /// A pace that is changed later takes more memory, and a call of it more time.
    fn begun_with(self, rate: Rate) -> Pace<C> {
        let (period, burst) = rate.pace();
        Pace::begun_with(self, period, burst)
    }

    fn apply(&self, rate: Rate) -> Result<bool, RateError> {
        if rate.strict {
            return Err(RateError::Unsuited("strict"));
        }
        let (before, (period, burst)) = (self.quota(), rate.pace());
        match self.reconfigure(period, burst) {
            Ok(()) => {
                let refill = period.as_nanos() as u64 * burst; // at most 2^62
                Ok((before.refill, before.burst) != (Duration::from_nanos(refill), burst))
            }
            Err(LimitError::Retired) => Ok(false),
            Err(error) => Err(RateError::Pace(error)),
        }
    }
}

impl<C: Clock + Send + Sync + 'static> Decides for Paces<C> {
    by_reservations!(Paces);

    fn quotas(&self) -> impl Iterator<Item = Quota> {
        Paces::quotas(self).map(Quota::from)
    }

    /// Each limit begins where `overflow` stands, so the key asks its own limits alone.
    fn succeed(&self, overflow: &Paces<C>) -> Option<Timestamp> {
        self.take_over(overflow);
        None
    }

    /// Rules are refused: a rate is that of one limit.
    fn begun_with(self, _: Rate) -> Paces<C> {
        self
    }

    /// A rate is that of one limit.
    fn apply(&self, _: Rate) -> Result<bool, RateError> {
        Err(RateError::Unsuited("limit"))
    }
}
