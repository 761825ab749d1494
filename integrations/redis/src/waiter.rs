//! The requests that wait for an answer of the engine.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::task::Waker;

use crate::lock::locked;

/// A request that waits.
pub(crate) struct Waiter {
    /// The weight, and the place in line.
    key: (Place, Place),
    /// `None` while the request does not wait: it was woken, or its future is gone.
    waker: Mutex<Option<Waker>>,
}

impl Waiter {
    /// Waits with this waker from now on.
    pub(crate) fn wait(&self, waker: &Waker) {
        let mut own = locked(&self.waker);
        match &mut *own {
            Some(old) => old.clone_from(waker),
            none => *none = Some(waker.clone()),
        }
    }

    /// Wakes the request, if it waits. A waker that panics ends no thread of the engine's: all
    /// other requests hang on these.
    pub(crate) fn wake(&self) {
        let waker = locked(&self.waker).take();
        if let Some(waker) = waker {
            let _ = catch_unwind(AssertUnwindSafe(|| waker.wake()));
        }
    }
}

shown! {
    /// Shows the weight.
    Waiter(waiter) { weight: waiter.key.0.0 }
}

/// The requests that wait at one limit. Each call but
/// [`wake`](Self::wake) takes steps by the logarithm of their number.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    line: Mutex<Line>,
}

#[derive(Debug, Default)]
struct Line {
    /// By weight and place.
    waiting: BTreeMap<(Place, Place), Arc<Waiter>>,
    /// The number of requests that have ever come.
    came: u64,
}

impl Waiters {
    /// Adds a request of this weight, which has no waker yet.
    pub(crate) fn add(&self, weight: u64) -> Arc<Waiter> {
        let mut line = locked(&self.line);
        line.came += 1;
        let key = (Place(weight), Place(line.came));
        let waiter = Arc::new(Waiter { key, waker: Mutex::new(None) });
        line.waiting.insert(key, waiter.clone());
        waiter
    }

    /// Removes a request of this line.
    pub(crate) fn remove(&self, waiter: &Waiter) {
        *locked(&waiter.waker) = None;
        locked(&self.line).waiting.remove(&waiter.key);
    }

    /// Returns the largest weight below a bound that waits; zero if there is none.
    pub(crate) fn largest(&self, below: u64) -> u64 {
        let below = (Place(below), Place(0)); // no request has the place 0
        locked(&self.line).waiting.range(..below).next_back().map_or(0, |(key, _)| key.0.0)
    }

    /// Returns whether none waits.
    pub(crate) fn is_empty(&self) -> bool {
        locked(&self.line).waiting.is_empty()
    }

    /// Wakes all, in the order in which they came.
    pub(crate) fn wake(&self) {
        let mut all: Vec<_> = locked(&self.line).waiting.values().cloned().collect();
        all.sort_unstable_by_key(|waiter| waiter.key.1);
        for waiter in all {
            waiter.wake();
        }
    }
}

/// A number by which a map is ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u64);

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Place) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Place) -> Ordering {
        #[cfg(test)]
        tests::STEPS.set(tests::STEPS.get() + 1);
        self.0.cmp(&other.0)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    thread_local! {
        /// The comparisons of this thread.
        pub(super) static STEPS: Cell<u64> = const { Cell::new(0) };
    }

    fn steps(call: impl FnOnce()) -> u64 {
        let before = STEPS.get();
        call();
        STEPS.get() - before
    }

    #[test]
    fn a_hundred_thousand_waiters_cost_a_call_few_steps() {
        let waiters = Waiters::default();
        let all: Vec<_> = (0..100_000).map(|i| waiters.add(i * 7_919 % 100_003)).collect();
        // A tree of 17 levels of two, in nodes of up to eleven.
        let mut most = 0;
        for i in 0..1_000 {
            most = most.max(steps(|| assert!(waiters.largest(1 + i * 97) <= i * 97)));
            most = most.max(steps(|| waiters.remove(&all[i as usize * 97])));
            most = most.max(steps(|| waiters.remove(&waiters.add(i))));
        }
        println!("{most} steps at most");
        assert!(most <= 400, "{most}");
        drop(all);
        let mut left = 0;
        while !waiters.is_empty() {
            let first = locked(&waiters.line).waiting.first_key_value().unwrap().1.clone();
            waiters.remove(&first);
            left += 1;
        }
        assert_eq!((left, waiters.largest(u64::MAX)), (99_000, 0));
    }

    #[test]
    fn the_largest_weight_below_a_bound_is_told_while_it_waits() {
        let waiters = Waiters::default();
        let [two, _, other_two] = [2, 9, 2].map(|weight| waiters.add(weight));
        assert_eq!([1, 2, 3, 9, 10].map(|below| waiters.largest(below)), [0, 0, 2, 2, 9]);
        waiters.remove(&two);
        waiters.remove(&two);
        assert_eq!(waiters.largest(9), 2, "the other one waits");
        waiters.remove(&other_two);
        assert_eq!(waiters.largest(9), 0);
    }
}
