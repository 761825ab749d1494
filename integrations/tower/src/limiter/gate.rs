//! A gate as the limiter of a layer.

use std::future::Pending;
use std::time::Duration;

use windrow::LimitError;
use windrow::gate::{Admission, admit_and_tell, leave_unused};
use windrow::{Clock, Gate, Timestamp};

use crate::limiter::{Decides, Quota};
use crate::rules::{Rate, RateError};

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

    /// A grant of a gate stays granted.
    fn give_up(&self, _: Granted) {}

    fn left(&self) -> u64 {
        Gate::left(self)
    }

    fn quotas(&self) -> impl Iterator<Item = Quota> {
        let (limit, interval, left) = (self.limit(), self.interval(), self.left());
        [Quota { limit, interval, left, retry_after: None }].into_iter()
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
    fn apply(&self, rate: Rate) -> Result<bool, RateError> {
        if rate.burst.is_some() {
            return Err(RateError::Unsuited("burst"));
        }
        match change(self, rate) {
            Err(LimitError::Retired) => Ok(false),
            changed => changed.map_err(RateError::Gate),
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
