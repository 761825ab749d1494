//! Permits that can be given back: of requests whose cost is known when they are over.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::task::{Context, Poll};

use windrow::gate::{Admission, RefusedError};

use crate::shared::Shared;
use crate::wait::{Outcome, Wait};

/// The future of [`SharedGate::reserve`](crate::SharedGate::reserve), which yields a
/// [`SharedReservation`].
#[derive(Debug)]
#[must_use = "a future does nothing until it is polled"]
pub struct Reserve {
    wait: Wait<'static>,
    weight: u64,
}

/// Permits that were taken, and can be given back: to this process's ration while that lasts, and
/// otherwise to the engine.
///
/// A reservation that is dropped counts as used.
#[must_use = "a reservation that is dropped counts as used"]
pub struct SharedReservation {
    shared: Shared,
    /// `None` without permits.
    lease: Option<u64>,
    weight: u64,
}

impl Reserve {
    pub(crate) fn after(wait: Wait<'static>, weight: u64) -> Reserve {
        Reserve { wait, weight }
    }
}

impl Future for Reserve {
    type Output = Result<SharedReservation, RefusedError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let weight = self.weight;
        let polled = Pin::new(&mut self.wait).poll(context);
        polled.map(|outcome| match (outcome, self.wait.shared()) {
            (Outcome { admission: Admission::Refused { retry_after }, .. }, _) => {
                Err(RefusedError::after(retry_after))
            }
            (Outcome { lease, .. }, Some(shared)) => {
                Ok(SharedReservation { shared: shared.clone(), lease, weight })
            }
            (_, None) => Err(RefusedError::after(None)),
        })
    }
}

impl SharedReservation {
    pub(crate) fn new(shared: Shared, lease: u64, weight: u64) -> SharedReservation {
        SharedReservation { shared, lease: Some(lease), weight }
    }

    /// Gives back what was reserved beyond `used`.
    ///
    /// A weight above the reserved one is not charged: reserve the most that a call may cost.
    pub fn settle(self, used: u64) {
        if let Some(lease) = self.lease {
            self.shared.limit.put_back(lease, self.weight.saturating_sub(used));
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

impl Debug for SharedReservation {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedReservation").field("weight", &self.weight).finish_non_exhaustive()
    }
}
