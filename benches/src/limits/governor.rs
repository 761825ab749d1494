//! governor: the generic cell rate algorithm, in one word.
//!
//! A cell comes back each `interval / limit`, and up to `limit` cells may be gone at once. So a
//! span of an interval may have the whole limit at its begin, and the whole limit that comes back
//! meanwhile: up to twice the limit.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock as Reads, QuantaClock};
use governor::middleware::NoOpMiddleware;
use governor::nanos::Nanos;
use governor::state::keyed::DashMapStateStore;
use governor::state::{InMemoryState, NotKeyed};
use governor::{Quota, RateLimiter};
use windrow::Clock;

use super::{Limiter, Terms};

/// A clock of windrow's as one of governor's.
#[derive(Clone)]
pub struct Timed<C>(pub C);

impl<C: Clock + Clone> Reads for Timed<C> {
    type Instant = Nanos;

    #[inline]
    fn now(&self) -> Nanos {
        Nanos::new(self.0.now().as_nanos())
    }
}

fn quota(terms: Terms) -> Quota {
    let limit = u32::try_from(terms.limit).ok().and_then(NonZeroU32::new).expect("it fits");
    let each = Duration::from_nanos(terms.interval.as_nanos() as u64 / terms.limit);
    Quota::with_period(each).expect("a nanosecond at least").allow_burst(limit)
}

/// One state.
pub struct Governor<C: Reads>(RateLimiter<NotKeyed, InMemoryState, C, NoOpMiddleware<C::Instant>>);

impl Governor<QuantaClock> {
    /// On the crate's own clock.
    pub fn own(terms: Terms) -> Governor<QuantaClock> {
        Governor::new(terms, QuantaClock::default())
    }
}

impl<C: Reads> Governor<C> {
    /// On this clock.
    pub fn new(terms: Terms, clock: C) -> Governor<C> {
        Governor(RateLimiter::direct_with_clock(quota(terms), clock))
    }
}

impl<C: Reads + Send + Sync> Limiter for Governor<C> {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        self.0.check().is_ok()
    }
}

/// A state for each key, in the crate's concurrent map.
pub struct KeyedGovernor<C: Reads>(
    RateLimiter<u64, DashMapStateStore<u64>, C, NoOpMiddleware<C::Instant>>,
);

impl KeyedGovernor<QuantaClock> {
    /// On the crate's own clock.
    pub fn own(terms: Terms) -> KeyedGovernor<QuantaClock> {
        KeyedGovernor::new(terms, QuantaClock::default())
    }
}

impl<C: Reads> KeyedGovernor<C> {
    /// On this clock.
    pub fn new(terms: Terms, clock: C) -> KeyedGovernor<C> {
        KeyedGovernor(RateLimiter::dashmap_with_clock(quota(terms), clock))
    }
}

impl<C: Reads + Send + Sync> Limiter for KeyedGovernor<C> {
    #[inline]
    fn ask(&self, key: u64) -> bool {
        self.0.check_key(&key).is_ok()
    }
}
