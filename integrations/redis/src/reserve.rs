//! Permits that can be given back: of requests whose cost is known when they are over.

use std::pin::Pin;
use std::task::{Context, Poll};

use windrow::gate::{Admission, RefusedError};

use crate::shared::Shared;
use crate::time::NEVER;
use crate::wait::{Outcome, Wait};

/// The future of [`SharedGate::reserve`](crate::SharedGate::reserve), which yields a
/// [`SharedReservation`].
#[derive(Debug)]
#[must_use = "a future does nothing until it is polled"]
pub struct Reserve {
    pub(crate) wait: Wait<'static>,
}

/// Permits that were taken, and can be given back: to this process's ration while that lasts, and
/// otherwise to the engine.
///
/// A reservation that is dropped counts as used.
#[must_use = "a reservation that is dropped counts as used"]
pub struct SharedReservation {
    pub(crate) shared: Shared,
    /// `None` without permits.
    pub(crate) lease: Option<u64>,
    pub(crate) weight: u64,
}

impl Future for Reserve {
    type Output = Result<SharedReservation, RefusedError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let polled = Pin::new(&mut self.wait).poll(context);
        polled.map(|Outcome { admission, lease }| {
            if let Admission::Refused { retry_after } = admission {
                return Err(RefusedError::after(retry_after));
            }
            let (shared, weight) = (self.wait.shared.clone().into_owned(), self.wait.weight);
            Ok(SharedReservation { shared, lease, weight })
        })
    }
}

impl SharedReservation {
    /// Settles the call: gives back the weight that was reserved beyond `used`, or charges what was
    /// used beyond the reserved weight.
    ///
    /// A charge is paid from this process's permits, and the rest from its next grants. A process
    /// that dies before that does not pay. A reservation by a policy for an engine that is away is
    /// not settled.
    pub fn settle(self, used: u64) {
        let (shared, weight) = (&self.shared, self.weight);
        if used <= weight {
            self.lease.inspect(|lease| shared.limit.permits.put_back(*lease, weight - used));
        } else if (self.lease.is_some() || weight == 0) && shared.now() != NEVER {
            shared.limit.permits.charge(shared.now(), used - weight);
            shared.ask(1, 0);
        }
    }

    /// Gives back all.
    pub fn cancel(self) {
        self.settle(0);
    }

    /// Returns the reserved weight.
    pub fn weight(&self) -> u64 {
        self.weight
    }
}

shown! {
    /// Shows the weight.
    SharedReservation(reservation) { weight: reservation.weight }
}
