//! The circuit breaker: what other breakers promise, its own contract, and programs that mean it
//! ill.

mod clocks_and_panics;
mod conformance;
mod contract;
mod settings;

use std::time::Duration;

use windrow::Breaker;
use windrow::breaker::{Call, Settings, State};
use windrow::clock::Manual;

const SECOND: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_nanos(1);

/// Returns a time that is shorter by a tick.
fn before(time: Duration) -> Duration {
    time.saturating_sub(TICK)
}

/// A breaker on a clock that the test sets.
struct Tested {
    breaker: Breaker<Manual>,
    clock: Manual,
}

impl Tested {
    fn new(settings: Settings) -> Tested {
        let clock = Manual::default();
        let breaker = Breaker::with_clock(settings, clock.clone()).expect("sound settings");
        Tested { breaker, clock }
    }

    fn call(&self) -> Call<&Breaker<Manual>> {
        self.breaker.try_call().expect("let through")
    }

    fn succeed(&self, calls: u64) {
        (0..calls).for_each(|_| self.call().success());
    }

    fn fail(&self, calls: u64) {
        (0..calls).for_each(|_| self.call().failure());
    }

    /// Makes calls that take a time.
    fn take(&self, time: Duration, calls: u64) {
        for _ in 0..calls {
            let call = self.call();
            self.clock.advance(time);
            call.success();
        }
    }

    fn state(&self) -> State {
        self.breaker.state()
    }

    fn refuses(&self) -> bool {
        self.breaker.try_call().is_err()
    }

    /// Returns calls, failures and slow calls that count now.
    fn totals(&self) -> (u64, u64, u64) {
        let totals = self.breaker.totals();
        (totals.calls, totals.failed, totals.slow)
    }
}
