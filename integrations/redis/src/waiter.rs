//! The requests that wait for an answer of the engine.

use std::fmt::{self, Debug, Formatter};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::Waker;

/// A request that waits.
pub(crate) struct Waiter {
    weight: u64,
    /// `None` while the request does not wait: it was woken, or its future is gone.
    waker: Mutex<Option<Waker>>,
}

impl Waiter {
    /// A request of this weight, which does not wait yet.
    pub(crate) fn new(weight: u64) -> Arc<Waiter> {
        Arc::new(Waiter { weight, waker: Mutex::new(None) })
    }

    /// Waits with this waker from now on.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut own = self.waker();
        match &mut *own {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Wakes the request, if it waits. A waker that panics ends no thread of the engine's: all
    /// other requests hang on these.
    pub(crate) fn wake(&self) {
        let waker = self.waker().take();
        if let Some(waker) = waker {
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }

    /// Waits no more.
    pub(crate) fn leave(&self) {
        *self.waker() = None;
    }

    fn waker(&self) -> MutexGuard<'_, Option<Waker>> {
        // A waker that panics leaves `None` behind, which is in order.
        self.waker.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Debug for Waiter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Waiter").field("weight", &self.weight).finish_non_exhaustive()
    }
}

/// The requests that wait at one limit, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    list: Mutex<Vec<Arc<Waiter>>>,
}

impl Waiters {
    /// Adds a request.
    pub(crate) fn add(&self, waiter: &Arc<Waiter>) {
        self.list().push(waiter.clone());
    }

    /// Removes a request.
    pub(crate) fn remove(&self, waiter: &Arc<Waiter>) {
        waiter.leave();
        let mut list = self.list();
        if let Some(at) = list.iter().position(|other| Arc::ptr_eq(other, waiter)) {
            list.remove(at);
        }
    }

    /// Returns the largest weight that waits and counts; zero if there is none.
    pub(crate) fn largest(&self, counts: impl Fn(u64) -> bool) -> u64 {
        let weights = self.list().iter().map(|waiter| waiter.weight).filter(|it| counts(*it)).max();
        weights.unwrap_or(0)
    }

    /// Returns whether none waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.list().is_empty()
    }

    /// Wakes all.
    pub(crate) fn wake(&self) {
        let all = self.list().clone();
        for waiter in all {
            waiter.wake();
        }
    }

    fn list(&self) -> MutexGuard<'_, Vec<Arc<Waiter>>> {
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
