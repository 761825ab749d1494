//! The wait of a request for the engine, which ends with the caller's patience; and the future of
//! a request that may wait.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use windrow::gate::Admission;

use crate::decision::Decision;
use crate::shared::{Parked, Shared};
use crate::waiter::Waiter;

/// The wait of a request.
#[derive(Debug)]
pub(crate) struct Wait<'a> {
    pub(crate) shared: Cow<'a, Shared>,
    pub(crate) weight: u64,
    patience: Duration,
    /// The permits must be of a lease, so that they can be given back.
    is_of_lease: bool,
    state: State,
}

#[derive(Debug)]
enum State {
    New,
    Waiting(Waiting),
    Ready,
}

#[derive(Debug)]
struct Waiting {
    waiter: Arc<Waiter>,
    /// The end of the caller's patience.
    ends: Instant,
    /// The time for which the alarm is set. It ends no wait by itself, so one that comes earlier
    /// than it must does no harm.
    alarm: Option<Instant>,
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Outcome {
    pub(crate) admission: Admission,
    /// The end of the lease of which the permits are; `None` without permits, also if a policy
    /// admits the request.
    pub(crate) lease: Option<u64>,
}

/// A look at the limit: the outcome, or the time at which to look again, if the waiter is not woken
/// before.
type Look = ControlFlow<Outcome, Instant>;

fn admitted<C>(lease: Option<u64>) -> ControlFlow<Outcome, C> {
    ControlFlow::Break(Outcome { admission: Admission::Now, lease })
}

fn refused(retry_after: Option<Duration>) -> Look {
    Look::Break(Outcome { admission: Admission::Refused { retry_after }, lease: None })
}

impl<'a> Wait<'a> {
    pub(crate) fn new(shared: Cow<'a, Shared>, weight: u64, patience: Duration) -> Wait<'a> {
        Wait { shared, weight, patience, is_of_lease: false, state: State::New }
    }

    /// Returns the same wait, for permits of a lease.
    pub(crate) fn of_a_lease(mut self) -> Wait<'a> {
        self.is_of_lease = true;
        self
    }

    /// Blocks the thread until the future is ready. (It parks for as long as it may, so no alarm is
    /// needed.)
    pub(crate) fn block(mut self) -> Outcome {
        loop {
            match self.look(Parked::waker) {
                Look::Break(outcome) => return outcome,
                Look::Continue(at) => {
                    thread::park_timeout(at.saturating_duration_since(Instant::now()));
                }
            }
        }
    }

    fn look(&mut self, waker: impl FnOnce() -> Waker) -> Look {
        let look = self.look_or_wait(waker);
        if look.is_break() {
            self.leave();
        }
        look
    }

    fn look_or_wait(&mut self, waker: impl FnOnce() -> Waker) -> Look {
        if self.weight == 0 {
            return admitted(None);
        }
        self.take()?;
        let now = self.shared.now();
        let is_new = matches!(self.state, State::New);
        if is_new {
            // A call that is refused at once needs no waiter.
            let decision = self.shared.decide(now, self.weight, self.weight);
            // A wait of a year is a wait without end.
            let patience = self.patience.min(Duration::from_secs(366 * 24 * 60 * 60));
            self.answer(decision, now, (!patience.is_zero()).then_some(patience))?;
            let waiter = self.shared.limit.waiters.add(self.weight);
            let ends = Instant::now() + patience;
            self.state = State::Waiting(Waiting { waiter, ends, alarm: None });
        }
        let State::Waiting(waiting) = &self.state else { return refused(None) };
        waiting.waiter.wait(&waker());
        // An answer may have come before the waiter was there to be woken.
        self.take()?;
        let decision = self.shared.decide(now, self.weight, u64::from(!is_new));
        self.answer(decision, now, waiting.ends.checked_duration_since(Instant::now()))
    }

    /// Answers the request by a decision, with the rest of the caller's patience, if there is any.
    fn answer(&self, decision: Decision, now: u64, rest: Option<Duration>) -> Look {
        let until = |wait| Look::Continue(Instant::now() + wait);
        match (decision, rest) {
            (Decision::Admitted, _) => admitted(None),
            (Decision::Asked, Some(rest)) => until(rest),
            (Decision::Asked, None) => {
                refused(Some(Duration::from_micros(self.shared.limit.bucket)))
            }
            (Decision::Refused(Some(after)), Some(rest))
                if after < rest && !self.shared.is_by_policy(now) =>
            {
                until(after)
            }
            (Decision::Refused(after), _) => refused(after),
        }
    }

    /// Takes permits for the request, if there are enough.
    fn take(&self) -> ControlFlow<Outcome> {
        let lease = if self.is_of_lease {
            self.shared.limit.permits.take_for(self.shared.now(), self.weight).map(Some)
        } else {
            self.shared.take(self.weight).then_some(None)
        };
        lease.map_or(ControlFlow::Continue(()), admitted)
    }

    fn leave(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Ready);
        if let State::Waiting(waiting) = state {
            self.shared.limit.waiters.remove(&waiting.waiter);
        }
    }
}

impl Future for Wait<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        assert!(!matches!(self.state, State::Ready), "a future is not polled once it is ready");
        match self.look(|| context.waker().clone()) {
            Look::Break(outcome) => Poll::Ready(outcome),
            Look::Continue(at) => {
                let this = &mut *self;
                if let State::Waiting(waiting) = &mut this.state
                    && waiting.alarm.is_none_or(|set| set > at || set <= Instant::now())
                {
                    waiting.alarm = Some(at);
                    this.shared.engine.hub().alarm.set(at, &waiting.waiter);
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

/// The future of [`SharedGate::admit`](crate::SharedGate::admit), which yields an [`Admission`].
#[derive(Debug)]
#[must_use = "a future does nothing until it is polled"]
pub struct Admit<'a> {
    pub(crate) wait: Wait<'a>,
}

impl Future for Admit<'_> {
    type Output = Admission;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Admission> {
        Pin::new(&mut self.wait).poll(context).map(|outcome| outcome.admission)
    }
}
