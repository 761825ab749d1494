//! The wait of a request for the engine, which ends with the caller's patience.

use std::borrow::Cow;
use std::fmt::{self, Debug, Formatter};
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
pub(crate) struct Wait<'a> {
    pub(crate) shared: Cow<'a, Shared>,
    request: Request,
    state: State,
}

/// A request.
#[derive(Clone, Copy, Debug)]
struct Request {
    weight: u64,
    patience: Duration,
    /// The permits must be of a lease, so that they can be given back.
    is_of_lease: bool,
}

enum State {
    New,
    Waiting(Waiting),
    Ready,
}

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

/// A look at the limit.
enum Look {
    Over(Outcome),
    /// To be looked at again at this time, or when the waiter is woken.
    Until(Instant),
}

impl Look {
    fn admitted(lease: Option<u64>) -> Look {
        Look::Over(Outcome { admission: Admission::Now, lease })
    }

    fn refused(retry_after: Option<Duration>) -> Look {
        Look::Over(Outcome { admission: Admission::Refused { retry_after }, lease: None })
    }
}

impl<'a> Wait<'a> {
    pub(crate) fn new(shared: Cow<'a, Shared>, weight: u64, patience: Duration) -> Wait<'a> {
        let request = Request { weight, patience, is_of_lease: false };
        Wait { shared, request, state: State::New }
    }

    /// Returns the same wait, for permits of a lease.
    pub(crate) fn of_a_lease(mut self) -> Wait<'a> {
        self.request.is_of_lease = true;
        self
    }

    pub(crate) fn weight(&self) -> u64 {
        self.request.weight
    }

    /// Blocks the thread until the future is ready. (It parks for as long as it may, so no alarm is
    /// needed.)
    pub(crate) fn block(mut self) -> Outcome {
        loop {
            match self.look(Parked::waker) {
                Look::Over(outcome) => return outcome,
                Look::Until(at) => {
                    thread::park_timeout(at.saturating_duration_since(Instant::now()));
                }
            }
        }
    }

    fn look(&mut self, waker: impl FnOnce() -> Waker) -> Look {
        let look = self.shared.look(&self.request, &mut self.state, waker);
        if let Look::Over(_) = look {
            self.leave();
        }
        look
    }

    fn leave(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Ready);
        if let State::Waiting(waiting) = state {
            self.shared.limit.waiters.remove(&waiting.waiter);
        }
    }
}

impl Shared {
    fn look(&self, request: &Request, state: &mut State, waker: impl FnOnce() -> Waker) -> Look {
        let &Request { weight, patience, .. } = request;
        if weight == 0 {
            return Look::admitted(None);
        }
        if let Some(admitted) = self.take_for(request) {
            return admitted;
        }
        let now = self.now();
        let is_new = matches!(state, State::New);
        if is_new {
            // A call that is refused at once needs no waiter.
            let decision = self.decide(now, weight, weight);
            // A wait of a year is a wait without end.
            let patience = patience.min(Duration::from_secs(366 * 24 * 60 * 60));
            let look = self.answer(decision, now, (!patience.is_zero()).then_some(patience));
            if let Look::Over(_) = look {
                return look;
            }
            let waiter = self.limit.waiters.add(weight);
            let ends = Instant::now() + patience;
            *state = State::Waiting(Waiting { waiter, ends, alarm: None });
        }
        let State::Waiting(waiting) = state else { return Look::refused(None) };
        waiting.waiter.wait(&waker());
        // An answer may have come before the waiter was there to be woken.
        if let Some(admitted) = self.take_for(request) {
            return admitted;
        }
        let decision = self.decide(now, weight, u64::from(!is_new));
        self.answer(decision, now, waiting.ends.checked_duration_since(Instant::now()))
    }

    /// Answers a request by a decision, with the rest of the caller's patience, if there is any.
    fn answer(&self, decision: Decision, now: u64, rest: Option<Duration>) -> Look {
        let wait = match decision {
            Decision::Admitted => return Look::admitted(None),
            Decision::Asked => rest,
            Decision::Refused(after) if self.is_by_policy(now) => return Look::refused(after),
            Decision::Refused(after) => {
                after.filter(|after| rest.is_some_and(|rest| *after < rest))
            }
        };
        match (wait, decision) {
            (Some(wait), _) => Look::Until(Instant::now() + wait),
            (None, Decision::Refused(after)) => Look::refused(after),
            (None, _) => Look::refused(Some(Duration::from_micros(self.limit.bucket))),
        }
    }

    /// Takes permits for a request, if there are enough.
    fn take_for(&self, request: &Request) -> Option<Look> {
        if request.is_of_lease {
            let lease = self.limit.permits.take_for(self.now(), request.weight)?;
            Some(Look::admitted(Some(lease)))
        } else {
            self.take(request.weight).then(|| Look::admitted(None))
        }
    }
}

impl Future for Wait<'_> {
    type Output = Outcome;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        assert!(!matches!(self.state, State::Ready), "a future is not polled once it is ready");
        match self.look(|| context.waker().clone()) {
            Look::Over(outcome) => Poll::Ready(outcome),
            Look::Until(at) => {
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

impl Debug for Wait<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("request", &self.request)
            .field("is_ready", &matches!(self.state, State::Ready))
            .finish_non_exhaustive()
    }
}
