//! The rate limiters that layers ask, one for all requests or one for each key.

#[cfg(feature = "redis")]
mod shared;

use std::future::Pending;
use std::time::Duration;

use windrow::LimitError;
use windrow::gate::{Admission, admit_and_tell, leave_unused};
use windrow::pace::{RefusedError, Reservation, Ticket};
use windrow::{Clock, Gate, Pace, Paces, Timestamp};

use crate::rules::{Problem, Rate};

/// A rate limiter that [`Limits`](crate::Limits) hold for each key, or a
/// [`PaceLayer`](crate::PaceLayer) asks: a [`Gate`], a [`Pace`] or [`Paces`], on any clock; with
/// the feature `redis` also a `SharedGate` of `windrow-redis`.
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

    /// Gives up a turn whose caller has gone away while it waited. By default, it stays granted.
    fn give_up(&self, _: Self::Grant) {}

    /// Returns the largest weight that would be granted now.
    fn left(&self) -> u64;

    /// Returns the state of each limit.
    fn quotas(&self) -> impl Iterator<Item = Quota>;

    /// Prepares a new limiter for a key that may have used grants of `overflow`. Returns the time
    /// until which the key has to ask both, if it has to.
    fn succeed(&self, _: &Self) -> Option<Timestamp> {
        None
    }

    /// Retires the limiter if none of its grants counts. Returns whether it is retired.
    fn retire(&self) -> bool;

    /// Returns whether the limiter is retired.
    fn is_retired(&self) -> bool;

    /// Returns a new limiter with a rate, or as it is if it cannot have that.
    #[must_use]
    fn begun_with(self, _: Rate) -> Self {
        self
    }

    /// Gives the limiter a rate; returns whether it had another. A retired one has none. By
    /// default, all rates are refused.
    fn apply(&self, _: Rate) -> Result<bool, Problem> {
        Err(unsuited("limit"))
    }
}

/// Returns the problem of a rate with a field that a limiter does not take.
fn unsuited(field: &str) -> Problem {
    format!("the limiters of these keys take no `{field}` from rules").into()
}

/// The state of a gate, or of one limit of a pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quota {
    pub limit: u64,
    pub interval: Duration,
    pub left: u64,
}

impl From<windrow::pace::Quota> for Quota {
    fn from(quota: windrow::pace::Quota) -> Quota {
        Quota { limit: quota.burst, interval: quota.refill, left: quota.left }
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

/// A grant of a gate: its weight, and the start of its bucket.
#[derive(Clone, Copy, Debug)]
pub struct Granted {
    weight: u64,
    start: Timestamp,
}

impl<C: Clock + Send + Sync + 'static> Decides for Gate<C> {
    type Clock = C;
    type Grant = Granted;
    type Ask = Pending<Admission>; // it never asks

    fn clock(&self) -> &C {
        Gate::clock(self)
    }

    fn decide(&self, weight: u64, max_wait: Duration) -> (Admission, Option<Granted>) {
        let (admission, start) = admit_and_tell(self, weight, max_wait);
        (admission, start.map(|start| Granted { weight, start }))
    }

    fn leave_unused(&self, Granted { weight, start }: Granted) {
        leave_unused(self, weight, start);
    }

    fn left(&self) -> u64 {
        Gate::left(self)
    }

    fn quotas(&self) -> impl Iterator<Item = Quota> {
        let (limit, interval, left) = (self.limit(), self.interval(), self.left());
        [Quota { limit, interval, left }].into_iter()
    }

    /// The key asks both gates while a grant of `overflow` counts, or is waited for: an interval,
    /// from now on or from the end of the last wait.
    fn succeed(&self, overflow: &Gate<C>) -> Option<Timestamp> {
        let interval = overflow.interval();
        // In this order: a grant that no longer waits is in the second look.
        let last_wait = last_wait(overflow);
        if last_wait.is_none() && overflow.granted() == 0 {
            return None;
        }
        // (The interval may have changed since.)
        let lasts = last_wait.unwrap_or_default() + interval.max(overflow.interval());
        let nanos = u64::try_from(lasts.as_nanos()).unwrap_or(u64::MAX);
        let until = overflow.clock().now().as_nanos().saturating_add(nanos);
        Some(Timestamp::from_nanos(until))
    }

    fn retire(&self) -> bool {
        Gate::retire(self)
    }

    fn is_retired(&self) -> bool {
        Gate::is_retired(self)
    }

    /// Without memory for more buckets, the gate keeps its buckets, and the lower limit.
    fn begun_with(self, rate: Rate) -> Gate<C> {
        let _ = self.apply(rate);
        self
    }

    /// While the geometry changes, the lower of the two limits is in force. So no mixture of the
    /// two rates grants what both of them would refuse.
    fn apply(&self, rate: Rate) -> Result<bool, Problem> {
        if rate.burst.is_some() {
            return Err(unsuited("burst"));
        }
        match change(self, rate) {
            Err(LimitError::Retired) => Ok(false),
            changed => Ok(changed?),
        }
    }
}

/// Returns the longest time until the last request that waits now goes on; `None` if none waits.
fn last_wait<C: Clock>(overflow: &Gate<C>) -> Option<Duration> {
    if overflow.waiting() == 0 {
        return None;
    }
    // While requests wait, nothing is granted before the bucket in which the last of them goes on.
    match overflow.admit(1, Duration::ZERO) {
        Admission::Refused { retry_after } => {
            let length = overflow.interval() / overflow.buckets() as u32;
            Some(retry_after.unwrap_or_default() + length)
        }
        Admission::Now | Admission::After(_) => Some(Duration::ZERO),
    }
}

fn change<C: Clock>(gate: &Gate<C>, rate: Rate) -> Result<bool, LimitError> {
    let terms = || (gate.limit(), gate.interval(), gate.buckets());
    let before = terms();
    if rate.limit < before.0 {
        gate.set_limit(rate.limit)?;
    }
    shape(gate, rate)?;
    if rate.limit > before.0 {
        gate.set_limit(rate.limit)?;
    }
    Ok(terms() != before)
}

/// Gives a gate the geometry of a rate. A gate that was built strict stays strict, and adds the
/// spare bucket itself; any other gate gets that bucket from a strict rate.
fn shape<C: Clock>(gate: &Gate<C>, rate: Rate) -> Result<(), LimitError> {
    let length = rate.interval / rate.buckets as u32; // even, and few: it is checked
    let spare = usize::from(rate.strict && !gate.is_strict());
    let buckets = rate.buckets + spare;
    let all = buckets + usize::from(gate.is_strict());
    if (gate.interval(), gate.buckets()) == (length * all as u32, all) {
        return Ok(());
    }
    gate.reconfigure(length * buckets as u32, buckets)
}

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

    fn apply(&self, rate: Rate) -> Result<bool, Problem> {
        if rate.strict {
            return Err(unsuited("strict"));
        }
        let (before, (period, burst)) = (self.quota(), rate.pace());
        match self.reconfigure(period, burst) {
            Ok(()) => {
                let refill = period.as_nanos() as u64 * burst; // at most 2^62
                Ok((before.refill, before.burst) != (Duration::from_nanos(refill), burst))
            }
            Err(LimitError::Retired) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }
}

/// Rules are refused: a rate is that of one limit.
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
}
