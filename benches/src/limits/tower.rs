//! tower's: the budget of retries, and the rate limit of a service.

use std::convert::Infallible;
use std::future::{Ready, ready};
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};
use tower::limit::RateLimit;
use tower::limit::rate::Rate;
use tower::retry::budget::{Budget as _, TpsBudget};
use tower_service::Service;

use super::{Limiter, Terms};

/// Withdrawals from the reserve of a budget without deposits: a sum over ten slots, and then an
/// add.
pub struct Budget(TpsBudget);

impl Budget {
    /// The shortest interval that there is; the longest is a minute.
    pub const SHORTEST: Duration = Duration::from_secs(1);

    /// Returns a reserve of the limit in whole seconds; where that is less than one a second, of
    /// nothing.
    ///
    /// # Panics
    /// If that is more than 31 bits.
    pub fn new(terms: Terms) -> Budget {
        let interval = terms.interval.clamp(Budget::SHORTEST, Duration::from_mins(1));
        let each_second = terms.limit / interval.as_secs();
        Budget(TpsBudget::new(interval, each_second.try_into().expect("it fits"), 0.0))
    }
}

impl Limiter for Budget {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        self.0.withdraw()
    }
}

/// The service whose calls are limited.
struct Nothing;

impl Service<()> for Nothing {
    type Response = ();
    type Error = Infallible;
    type Future = Ready<Result<(), Infallible>>;

    fn poll_ready(&mut self, _context: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (): ()) -> Self::Future {
        ready(Ok(()))
    }
}

/// A service with a rate limit, behind a lock, since it is called by `&mut`. It is made to wait,
/// not to refuse: here a call that would wait counts as refused. An interval begins with the first
/// call after the last one's end.
pub struct Rated(Mutex<RateLimit<Nothing>>);

impl Rated {
    /// Returns a limit in each interval.
    ///
    /// # Panics
    /// If there can be no thread for timers.
    pub fn new(terms: Terms) -> Rated {
        static TIMERS: LazyLock<Runtime> = LazyLock::new(|| {
            let runtime = Builder::new_multi_thread().worker_threads(1).enable_time().build();
            runtime.expect("a thread")
        });
        let _entered = TIMERS.enter();
        Rated(Mutex::new(RateLimit::new(Nothing, Rate::new(terms.limit, terms.interval))))
    }
}

impl Limiter for Rated {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        let mut service = self.0.lock().expect("no thread panics in here");
        let is_ready = service.poll_ready(&mut Context::from_waker(Waker::noop())).is_ready();
        if is_ready {
            drop(service.call(()));
        }
        is_ready
    }
}
