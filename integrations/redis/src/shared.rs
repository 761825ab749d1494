//! A limit on its engine: what each of the public limiters is made of.

use std::sync::Arc;
use std::task::{Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::error::SharedError;
use crate::limit::Limit;
use crate::time::NEVER;
use crate::waiter::Waiter;

/// A limit on its engine.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) engine: Engine,
    pub(crate) limit: Arc<Limit>,
}

impl Shared {
    /// Returns the time of the engine's limits.
    #[inline]
    pub(crate) fn now(&self) -> u64 {
        self.engine.hub().time().now()
    }

    /// Takes permits that this process has: of this core's row, or of a lease.
    #[inline]
    pub(crate) fn take(&self, weight: u64) -> bool {
        let quick = self.engine.hub().quick();
        quick.is_some_and(|quick| self.limit.permits.take_quickly(quick, weight))
            || self.refill(weight)
    }

    #[cold]
    #[inline(never)]
    fn refill(&self, weight: u64) -> bool {
        let hub = self.engine.hub();
        if hub.time().is_of_another_process() {
            return false;
        }
        let quick = hub.beat();
        self.limit.permits.refill(quick, quick / 1_000, weight)
    }

    /// Has the engine asked.
    pub(crate) fn ask(&self, weight: u64, demand: u64) {
        if self.limit.miss(weight, demand) {
            self.engine.hub().list(&self.limit);
        }
    }

    /// Returns whether the policy for an engine that is away is in force.
    pub(crate) fn is_by_policy(&self, now: u64) -> bool {
        self.engine.hub().is_away(now) || self.limit.is_unusable()
    }

    /// Returns why the policy is in force, if it is.
    pub(crate) fn fault(&self) -> Option<SharedError> {
        if self.now() == NEVER {
            return Some(SharedError::forked());
        }
        self.limit.fault().or_else(|| self.engine.hub().fault())
    }

    /// Has the engine asked for the first time, and waits for its answer, unless it is one that is
    /// connected to later.
    pub(crate) fn begin(&self) -> Result<(), SharedError> {
        if self.engine.is_lazy {
            self.ask(1, 1);
            return Ok(());
        }
        let waiter = self.limit.waiters.add(1);
        let outcome = self.block(&waiter, 1, Limit::is_answered);
        self.limit.waiters.remove(&waiter);
        outcome
    }

    /// Blocks the thread until the engine has told something, or cannot.
    pub(crate) fn block(
        &self,
        waiter: &Waiter,
        demand: u64,
        is_told: impl Fn(&Limit) -> bool,
    ) -> Result<(), SharedError> {
        let target = &self.engine.hub().target;
        let timeout = target.timeout * 15; // a connection may be made meanwhile
        let begun = Instant::now();
        let waker = Parked::waker();
        loop {
            waiter.wait(&waker);
            if is_told(&self.limit) {
                return Ok(());
            }
            if let Some(fault) = self.fault() {
                return Err(fault);
            }
            let Some(rest) = timeout.checked_sub(begun.elapsed()) else {
                let engine = target.shown.clone();
                return Err(SharedError::TimedOut { engine, after: timeout });
            };
            self.ask(demand, demand);
            thread::park_timeout(rest.min(Duration::from_millis(20)));
        }
    }
}

/// A thread that waits.
pub(crate) struct Parked(Thread);

impl Parked {
    /// Returns a waker of this thread.
    pub(crate) fn waker() -> Waker {
        Waker::from(Arc::new(Parked(thread::current())))
    }
}

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}
