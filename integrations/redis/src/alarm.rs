//! The alarm that ends waits: a thread that wakes futures at their time.
//!
//! A request's patience must not depend on I/O. The thread that asks may be in a system call that
//! takes seconds, such as the resolution of a name; this one only sleeps. It begins with the first
//! future that waits, and it needs no runtime.
//!
//! A future that is over leaves its entry behind. Such entries are swept out when there are twice
//! the entries that the last sweep has left: so a patience of years costs no memory for years.

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Instant;

use crate::lock::locked;
use crate::waiter::Waiter;

/// The alarm of one engine's futures.
#[derive(Debug, Default)]
pub(crate) struct Alarm {
    state: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// By time, and by the number of the entry. Each is gone with its future.
    queue: BTreeMap<(Instant, u64), Weak<Waiter>>,
    /// The number of entries that have ever come.
    came: u64,
    /// The length of the queue at which it is swept.
    full: usize,
    is_running: bool,
    is_over: bool,
}

impl Alarm {
    /// Wakes a waiter at a time, or earlier if there can be no thread.
    pub(crate) fn set(&self, at: Instant, waiter: &Arc<Waiter>) {
        let mut state = locked(&self.state.state);
        state.sweep();
        state.came += 1;
        let place = (at, state.came);
        state.queue.insert(place, Arc::downgrade(waiter));
        if !state.is_running {
            let shared = self.state.clone();
            let thread = thread::Builder::new().name("windrow-patience".into());
            state.is_running = thread.spawn(move || shared.run()).is_ok();
            if !state.is_running {
                drop(state);
                waiter.wake(); // it asks again and again, which is better than never
                return;
            }
        }
        // (A time that is the earliest ends the thread's sleep.)
        if state.first() == Some(at) {
            self.state.changed.notify_one();
        }
    }
}

impl State {
    /// Returns the earliest time.
    fn first(&self) -> Option<Instant> {
        self.queue.first_key_value().map(|((at, _), _)| *at)
    }

    /// Removes the entries of futures that are gone, if there are many.
    fn sweep(&mut self) {
        if self.queue.len() >= self.full {
            self.queue.retain(|_, waiter| waiter.strong_count() > 0);
            self.full = (2 * self.queue.len()).max(64);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        locked(&self.state.state).is_over = true;
        self.state.changed.notify_one();
    }
}

impl Shared {
    fn run(&self) {
        let mut state = locked(&self.state);
        while !state.is_over {
            let now = Instant::now();
            let mut due = Vec::new();
            while state.first().is_some_and(|at| at <= now) {
                due.extend(state.queue.pop_first().and_then(|(_, waiter)| waiter.upgrade()));
            }
            if !due.is_empty() {
                drop(state); // a waker may call anything
                for waiter in due {
                    waiter.wake();
                }
                state = locked(&self.state);
                continue;
            }
            state = match state.first().map(|at| at - now) {
                Some(rest) => {
                    let waited = self.changed.wait_timeout(state, rest);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::waiter::Waiters;

    #[test]
    fn futures_that_are_gone_leave_no_memory_behind() {
        let alarm = Alarm::default();
        let at = Instant::now() + Duration::from_secs(3_600);
        let waiters = Waiters::default();
        let waits = waiters.add(1);
        for _ in 0..10_000 {
            let gone = waiters.add(1);
            waiters.remove(&gone);
            alarm.set(at, &gone);
        }
        alarm.set(at, &waits);
        let state = alarm.state.state.lock().unwrap();
        assert!(state.queue.len() <= 65, "{} entries", state.queue.len());
    }
}
