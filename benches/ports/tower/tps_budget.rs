//! tower's `TpsBudget` on a window of windrow's: takes the place of
//! `src/retry/budget/tps_budget.rs`.
//!
//! The balance is one signed number of a window. Deposits and withdrawals leave it bucket by
//! bucket, so there is nothing to commit and no lock to commit it under. Amounts, limits and the
//! check before a withdrawal are tower's: as there, threads that withdraw at the same moment may
//! see one balance.

use std::fmt;
use std::time::Duration;

use tokio::time::Instant;
use windrow::{Clock, SlidingWindow, Timestamp};

use super::Budget;

windrow::events! {
    enum Tokens { Balance: Signed }
}

/// The time of tokio's clock, which its tests move, since a minute before the budget was made: time
/// zero counts as a time at which anything may have happened, and a sum takes longer there.
#[derive(Debug)]
pub struct TokioTime(Instant);

impl Clock for TokioTime {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_secs(60) + self.0.elapsed()
    }

    fn resolution(&self) -> Duration {
        Duration::from_nanos(1)
    }
}

/// The number of parts of the time after which a deposit is forgotten.
const PIECES: u32 = 10;

/// Tokens that requests bring and retries take.
pub struct TpsBudget<C = TokioTime> {
    window: SlidingWindow<Tokens, C>,
    /// The balance without any deposit.
    reserve: i64,
    deposit: i64,
    withdrawal: i64,
}

impl TpsBudget {
    /// Returns a budget that remembers deposits for `ttl` (1 to 60 s), allows for `min_per_sec`
    /// retries a second, and beside them for `retry_percent` (0 to 1000) retries a deposit.
    pub fn new(ttl: Duration, min_per_sec: u32, retry_percent: f32) -> TpsBudget {
        TpsBudget::with_clock(TokioTime(Instant::now()), ttl, min_per_sec, retry_percent)
    }
}

impl<C: Clock> TpsBudget<C> {
    /// Creates a budget on another clock.
    pub fn with_clock(
        clock: C,
        ttl: Duration,
        min_per_sec: u32,
        retry_percent: f32,
    ) -> TpsBudget<C> {
        assert!((Duration::from_secs(1)..=Duration::from_secs(60)).contains(&ttl));
        assert!((0.0..=1000.0).contains(&retry_percent));
        assert!(min_per_sec < i32::MAX as u32);
        // Tokens are whole: whichever of the two amounts is the smaller one is 1, or 1000 for
        // precision.
        let (deposit, withdrawal) = match retry_percent {
            0.0 => (0, 1),
            share if share <= 1.0 => (1, (1.0 / share) as i64),
            share => (1000, (1000.0 / share) as i64),
        };
        let retries = i64::from(min_per_sec).saturating_mul(ttl.as_secs() as i64);
        let window = SlidingWindow::builder()
            .interval(ttl / PIECES * (PIECES + 1)) // so that nothing is forgotten early
            .buckets(PIECES as usize + 1)
            .clock(clock)
            .build()
            .expect("a second in ten pieces, or more");
        TpsBudget { window, reserve: retries.saturating_mul(withdrawal), deposit, withdrawal }
    }

    fn balance(&self) -> i64 {
        self.reserve.saturating_add(self.window.sum(Tokens::Balance))
    }
}

impl<C: Clock> Budget for TpsBudget<C> {
    fn deposit(&self) {
        self.window.add(Tokens::Balance, self.deposit);
    }

    fn withdraw(&self) -> bool {
        let enough = self.balance() >= self.withdrawal;
        if enough {
            self.window.add(Tokens::Balance, -self.withdrawal);
        }
        enough
    }
}

impl Default for TpsBudget {
    fn default() -> TpsBudget {
        TpsBudget::new(Duration::from_secs(10), 10, 0.2)
    }
}

impl<C: Clock> fmt::Debug for TpsBudget<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Budget");
        shown.field("deposit", &self.deposit).field("withdraw", &self.withdrawal);
        shown.field("balance", &self.balance()).finish()
    }
}
