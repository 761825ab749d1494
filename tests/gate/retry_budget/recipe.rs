use std::error::Error;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use windrow::clock::Coarse;
use windrow::{Clock, Pace, SlidingWindow, events};

events! {
    enum Retry { Balance: Signed }
}

/// The amount that a call pays in.
const DEPOSIT: i64 = 1;
/// The amount that a retry takes: that of five calls.
const WITHDRAWAL: i64 = 5;

pub struct RetryBudget<C = Coarse> {
    calls: SlidingWindow<Retry, C>,
    /// Two withdrawals must not see the same balance.
    withdrawing: Mutex<()>,
    reserve: Pace<C>,
}

impl<C: Clock + Clone> RetryBudget<C> {
    pub fn new(clock: C) -> Result<RetryBudget<C>, Box<dyn Error>> {
        let calls = SlidingWindow::builder().interval(Duration::from_millis(10_100)).buckets(101);
        let reserve = Pace::builder(Duration::from_millis(100)).burst(10);
        Ok(RetryBudget {
            calls: calls.clock(clock.clone()).build()?,
            withdrawing: Mutex::new(()),
            reserve: reserve.clock(clock).build()?,
        })
    }

    /// After each call that was not a retry.
    pub fn deposit(&self) {
        self.calls.add(Retry::Balance, DEPOSIT);
    }

    /// Before each retry: `false` says not to make it.
    pub fn withdraw(&self) -> bool {
        self.withdraw_from_calls() || self.reserve.try_admit(1)
    }

    fn withdraw_from_calls(&self) -> bool {
        let _one_at_a_time = self.withdrawing.lock().unwrap_or_else(PoisonError::into_inner);
        let is_enough = self.calls.sum(Retry::Balance) >= WITHDRAWAL;
        if is_enough {
            self.calls.add(Retry::Balance, -WITHDRAWAL);
        }
        is_enough
    }
}
