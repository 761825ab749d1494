//! A change of the limit, until the engine has heard of it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::error::SharedError;
use crate::shared::Shared;
use crate::waiter::Waiter;

/// A change of the limit, from [`SharedGate::set_limit`](crate::SharedGate::set_limit): a future
/// that tells which limit holds, once the engine has heard of the change.
///
/// The change goes on, also if this is dropped.
///
/// # Errors
///
/// [`SharedError::OtherLimit`] if another change holds: another process's, or a later one. Why the
/// engine is away, if it is, or why the limit's keys are unusable: then the change is told once
/// that is over.
#[derive(Debug)]
pub struct Change {
    shared: Shared,
    limit: u64,
    version: u64,
    waiter: Arc<Waiter>,
}

impl Change {
    pub(crate) fn new(shared: Shared, limit: u64, version: u64) -> Change {
        let waiter = shared.limit.waiters.add(0);
        Change { shared, limit, version, waiter }
    }

    /// Waits for the outcome, and blocks the thread meanwhile: for some time-outs of the engine, if
    /// that does not answer.
    ///
    /// # Errors
    ///
    /// Those of a [`Change`].
    pub fn block(self) -> Result<(), SharedError> {
        loop {
            self.shared
                .block(&self.waiter, 0, |limit| limit.machine().heard(self.version).is_some())?;
            if let Some(outcome) = self.outcome() {
                return outcome;
            } // otherwise the engine has lost its memory in between
        }
    }

    fn outcome(&self) -> Option<Result<(), SharedError>> {
        let limit = self.limit;
        let fits = |in_force| {
            let other = SharedError::OtherLimit { limit, in_force };
            if in_force == limit { Ok(()) } else { Err(other) }
        };
        self.shared.limit.machine().heard(self.version).map(fits)
    }
}

impl Future for Change {
    type Output = Result<(), SharedError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.waiter.wait(context.waker());
        let fault = || self.shared.fault().map(Err);
        self.outcome().or_else(fault).map_or(Poll::Pending, Poll::Ready)
    }
}

impl Drop for Change {
    fn drop(&mut self) {
        self.shared.limit.waiters.remove(&self.waiter);
    }
}
