//! The questions that wait for a thread. It starts with the first question, and ends when none has
//! come for a while.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::oneshot::{Receiver, Sender, channel};

/// The answer to a question.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    /// A text, and its coding.
    Made(Bytes, Option<&'static str>),
    NoSeries,
}

/// The time for which a thread waits for a question.
pub(crate) const LINGER: Duration = Duration::from_secs(5);

/// Questions, each with the sender of its answer.
pub(crate) type Waiting<Q> = Vec<(Q, Sender<Answer>)>;

/// The questions, and whether there is a thread.
pub(crate) struct Queue<Q> {
    state: Mutex<State<Q>>,
    changed: Condvar,
    /// The greatest number of questions that wait.
    most: usize,
}

pub(crate) struct State<Q> {
    waiting: Waiting<Q>,
    pub(crate) has_thread: bool,
}

impl<Q> Queue<Q> {
    pub(crate) fn new(most: usize) -> Queue<Q> {
        let state = State { waiting: Vec::new(), has_thread: false };
        Queue { state: Mutex::new(state), changed: Condvar::new(), most }
    }

    /// Adds a question; returns `None` if too many wait. Without a thread, it starts one of this
    /// name, which does `run`. The sender of the answer is dropped without one if that fails.
    pub(crate) fn ask(
        &self,
        asked: Q,
        name: &str,
        run: impl FnOnce() + Send + 'static,
    ) -> Option<Receiver<Answer>> {
        let (sender, receiver) = channel();
        let mut state = self.lock();
        if state.waiting.len() >= self.most {
            state.waiting.retain(|(_, sender)| !sender.is_closed());
        }
        if state.waiting.len() >= self.most {
            return None;
        }
        state.waiting.push((asked, sender));
        if state.has_thread {
            self.changed.notify_all();
        } else {
            state.has_thread = thread::Builder::new().name(name.to_owned()).spawn(run).is_ok();
            if !state.has_thread {
                state.waiting.clear();
            }
        }
        Some(receiver)
    }

    /// Waits for a question, for `linger` at most, and returns those that `take` takes. Returns
    /// `None` if none has come: the thread is to end. Without a time to linger, it goes on.
    pub(crate) fn next(
        &self,
        linger: Duration,
        take: impl FnOnce(&mut Waiting<Q>) -> Waiting<Q>,
    ) -> Option<Waiting<Q>> {
        let state = self.lock();
        let waited =
            self.changed.wait_timeout_while(state, linger, |state| state.waiting.is_empty());
        let mut state = waited.unwrap_or_else(PoisonError::into_inner).0;
        state.has_thread = !state.waiting.is_empty() || linger.is_zero();
        state.has_thread.then(|| take(&mut state.waiting))
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<Q>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
