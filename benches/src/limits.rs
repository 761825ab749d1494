//! Limiters: windrow's gate and what else says yes or no, all asked alike.
//!
//! Each lets through a limit in an interval, as it understands that.

mod governor;
mod mutex_ring;
mod ours;
#[cfg(feature = "sentinel")]
mod sentinel;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crossbeam_utils::CachePadded;
use windrow::Clock;

pub use self::governor::{Governor, KeyedGovernor, Timed};
pub use self::mutex_ring::MutexRing;
pub use self::ours::{Gates, Settled, Soft, gate, paced, rationed, several, strict};
#[cfg(feature = "sentinel")]
pub use self::sentinel::Flow;
use crate::harness::Rival;

/// Keys, where there are many.
pub const KEYS: u64 = 10_000;

/// The terms of a limiter: limit, interval and steps.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// The limit of an interval.
    pub limit: u64,
    /// The span for which it holds.
    pub interval: Duration,
    /// The number of steps of the interval, for limiters that divide it.
    pub buckets: u32,
}

impl Terms {
    /// A limit that is not reached by asking for one at a time.
    pub const ENDLESS: Terms =
        Terms { limit: 4_000_000_000, interval: Duration::from_secs(1_000), buckets: 10 };
    /// One, and then nothing for longer than any run.
    pub const SPENT: Terms =
        Terms { limit: 1, interval: Duration::from_secs(100_000), buckets: 10 };

    /// Returns the terms scaled to an interval of at least this.
    #[must_use]
    pub fn at_least(self, interval: Duration) -> Terms {
        Terms { interval: self.interval.max(interval), ..self }
    }
}

/// Says yes or no.
pub trait Limiter: Send + Sync {
    /// Returns whether one more is let through, of this key.
    fn ask(&self, key: u64) -> bool;
}

/// A limiter for each of [`KEYS`] keys, in a map that does not change any more.
pub struct Each<L>(HashMap<u64, L>);

impl<L> Each<L> {
    /// Makes a limiter for each key.
    pub fn of(make: impl Fn() -> L) -> Each<L> {
        Each((0..KEYS).map(|key| (key, make())).collect())
    }
}

impl<L: Limiter> Limiter for Each<L> {
    #[inline]
    fn ask(&self, key: u64) -> bool {
        self.0[&key].ask(key)
    }
}

/// A yardstick: a number that is added to, and nothing else.
#[derive(Default)]
pub struct Counted(CachePadded<AtomicU64>);

impl Limiter for Counted {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        self.0.fetch_add(1, Ordering::Relaxed) < u64::MAX
    }
}

/// A floor: adds by a compare-exchange, which succeeds only if no other thread has added since the
/// number was read.
#[derive(Default)]
pub struct Exchanged(CachePadded<AtomicU64>);

impl Limiter for Exchanged {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        let add = |number: u64| (number < u64::MAX).then_some(number + 1);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, add).is_ok()
    }
}

/// A floor: reads a clock, and then asks another limiter, if there is one.
pub struct Read<C, L = ()>(pub C, pub L);

impl Limiter for () {
    #[inline]
    fn ask(&self, _key: u64) -> bool {
        true
    }
}

impl<C: Clock + Send + Sync, L: Limiter> Limiter for Read<C, L> {
    #[inline]
    fn ask(&self, key: u64) -> bool {
        self.0.quick().as_nanos() > 0 && self.1.ask(key)
    }
}

/// A limiter that is asked over and over, for one key or for one of many at random, and has always
/// the same answer.
pub struct Asked<L> {
    limiter: L,
    keys: u64,
    answer: bool,
    /// On a line of its own: each turn of a thread may write it, and each call reads the limiter.
    others: CachePadded<AtomicU64>,
}

impl<L: Limiter> Asked<L> {
    /// Wraps a limiter for `keys` keys that gives this answer; asks it once for each.
    pub fn new(limiter: L, keys: u64, answer: bool) -> Asked<L> {
        (0..keys).for_each(|key| _ = limiter.ask(key));
        Asked { limiter, keys, answer, others: CachePadded::default() }
    }

    fn note(&self, others: u64) {
        if others > 0 {
            self.others.fetch_add(others, Ordering::Relaxed); // seldom: threads share it
        }
    }
}

impl<L: Limiter> Rival for Asked<L> {
    fn add(&self, _n: u64) {
        self.note(u64::from(self.limiter.ask(0) != self.answer));
    }

    /// Returns the number of other answers.
    fn sum(&self) -> u64 {
        self.others.load(Ordering::Relaxed)
    }

    fn add_many(&self, times: u64) {
        let mut others = 0;
        if self.keys == 1 {
            for _ in 0..times {
                others += u64::from(self.limiter.ask(0) != self.answer);
            }
        } else {
            let mut random = fastrand::Rng::new();
            for _ in 0..times {
                others += u64::from(self.limiter.ask(random.u64(..self.keys)) != self.answer);
            }
        }
        self.note(others);
    }
}
