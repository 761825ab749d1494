//! The future of a request that may wait for the engine.

use std::fmt::{self, Debug, Formatter};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use windrow::gate::Admission;

use crate::decision::Decision;
use crate::shared::{Parked, Shared};
use crate::time::NEVER;
use crate::waiter::Waiter;

/// The future of [`SharedGate::admit`](crate::SharedGate::admit), which yields an [`Admission`].
#[must_use = "a future does nothing until it is polled"]
pub struct Admit<'a> {
    /// `None` if it is refused for ever.
    of: Option<Of<'a>>,
    weight: u64,
    max_wait: Duration,
    state: State,
}

enum Of<'a> {
    Borrowed(&'a Shared),
    Owned(Shared),
}

impl Of<'_> {
    fn shared(&self) -> &Shared {
        match self {
            Of::Borrowed(shared) => shared,
            Of::Owned(shared) => shared,
        }
    }
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
    /// The time for which the alarm is set.
    alarm: Option<Instant>,
}

/// What a look at the limit has found.
enum Look {
    Over(Admission),
    /// To be looked at again at this time, or when the waiter is woken.
    Until(Instant),
}

impl<'a> Admit<'a> {
    pub(crate) fn borrowed(shared: &'a Shared, weight: u64, max_wait: Duration) -> Admit<'a> {
        Admit { of: Some(Of::Borrowed(shared)), weight, max_wait, state: State::New }
    }

    pub(crate) fn owned(shared: Shared, weight: u64, max_wait: Duration) -> Admit<'static> {
        Admit { of: Some(Of::Owned(shared)), weight, max_wait, state: State::New }
    }

    /// Returns the future of a request that is refused for ever.
    pub(crate) fn refused() -> Admit<'static> {
        Admit { of: None, weight: 0, max_wait: Duration::ZERO, state: State::New }
    }

    /// Blocks the thread until the future is ready. (It parks for as long as it may, so no alarm is
    /// needed.)
    pub(crate) fn block(mut self) -> Admission {
        let waker = Parked::waker();
        loop {
            match self.look(&waker) {
                Look::Over(admission) => return admission,
                Look::Until(at) => {
                    thread::park_timeout(at.saturating_duration_since(Instant::now()))
                }
            }
        }
    }

    fn look(&mut self, waker: &Waker) -> Look {
        let Some(of) = &self.of else {
            return Look::Over(Admission::Refused { retry_after: None });
        };
        let look = of.shared().look(self.weight, self.max_wait, &mut self.state, waker);
        if let Look::Over(_) = look {
            self.leave();
        }
        look
    }

    fn leave(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Ready);
        if let (State::Waiting(waiting), Some(of)) = (state, &self.of) {
            of.shared().limit.waiters().remove(&waiting.waiter);
        }
    }
}

impl Shared {
    fn look(&self, weight: u64, max_wait: Duration, state: &mut State, waker: &Waker) -> Look {
        let now = self.now();
        if self.limit.take(now, weight) || weight == 0 {
            return Look::Over(Admission::Now);
        }
        let fresh = !matches!(state, State::Waiting(_));
        if fresh && now != NEVER && !max_wait.is_zero() {
            // A wait of a year is a wait without end.
            let max_wait = max_wait.min(Duration::from_secs(366 * 24 * 60 * 60));
            let waiter = Waiter::new(weight);
            self.limit.waiters().add(&waiter);
            let ends = Instant::now() + max_wait;
            *state = State::Waiting(Waiting { waiter, ends, alarm: None });
        }
        if let State::Waiting(waiting) = state {
            waiting.waiter.wait(waker);
            // An answer may have come before the waiter was there to be woken.
            if self.limit.take(now, weight) {
                return Look::Over(Admission::Now);
            }
        }
        let decision = self.decide(now, weight, fresh);
        let refused = |retry_after| Look::Over(Admission::Refused { retry_after });
        match (decision, state) {
            (Decision::Admitted, _) => Look::Over(Admission::Now),
            (Decision::Asked, State::Waiting(waiting)) if Instant::now() < waiting.ends => {
                Look::Until(waiting.ends)
            }
            (Decision::Asked, _) => {
                let bucket = Duration::from_micros(self.limit.bucket());
                refused(Some(bucket))
            }
            (Decision::Refused(Some(after)), State::Waiting(waiting))
                if Instant::now() + after < waiting.ends && !self.is_by_policy(now) =>
            {
                Look::Until(Instant::now() + after)
            }
            (Decision::Refused(after), _) => refused(after),
        }
    }
}

impl Future for Admit<'_> {
    type Output = Admission;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Admission> {
        assert!(!matches!(self.state, State::Ready), "a future is not polled once it is ready");
        match self.look(context.waker()) {
            Look::Over(admission) => {
                self.state = State::Ready;
                Poll::Ready(admission)
            }
            Look::Until(at) => {
                let this = &mut *self;
                if let (State::Waiting(waiting), Some(of)) = (&mut this.state, &this.of)
                    && waiting.alarm != Some(at)
                {
                    waiting.alarm = Some(at);
                    of.shared().engine.core().alarm().set(at, &waiting.waiter);
                }
                Poll::Pending
            }
        }
    }
}

impl Drop for Admit<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl Debug for Admit<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Admit")
            .field("weight", &self.weight)
            .field("max_wait", &self.max_wait)
            .field("is_ready", &matches!(self.state, State::Ready))
            .finish_non_exhaustive()
    }
}
