//! Rate limiters that many processes share, one for each key.

use std::collections::HashMap;
use std::collections::hash_map::{Entry, RandomState};
use std::fmt::{self, Debug, Formatter};
use std::hash::BuildHasher;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use windrow::AtMost;
use windrow::gate::Admission;

use crate::absence::Absence;
use crate::admit::Admit;
use crate::engine::Engine;
use crate::error::SharedError;
use crate::gate::SharedGate;
use crate::limit::Limit;
use crate::names::Kind;
use crate::settings::{Checked, Settings};
use crate::shared::Shared;
use crate::wait::Wait;

/// The number of parts of the table, each behind a lock of its own.
const PARTS: usize = 16;

/// Rate limiters that many processes share, one for each key, such as a tenant or an address: of
/// each key, all processes together admit at most `limit` in each interval.
///
/// ```no_run
/// use std::time::Duration;
/// use windrow::AtMost;
/// use windrow_redis::SharedGates;
///
/// let tenants = SharedGates::builder(AtMost(50)).name("tenants").connect("redis://127.0.0.1/")?;
/// # async {
/// let admission = tenants.admit(b"acme", 1, Duration::from_millis(5)).await;
/// if admission.is_granted() {
///     // ... answer the request
/// }
/// # };
/// # Ok::<(), windrow_redis::SharedError>(())
/// ```
///
/// Each key has the [promises of a `SharedGate`](SharedGate#what-is-promised). One epoch of the
/// engine's memory serves all keys: the first request of a key is not cold.
///
/// A small limit has no permits to spare for a ration: a process asks for each of its requests, by
/// the same script. So take [`admit`](Self::admit), which waits for the answer.
///
/// # Bounds
///
/// A key may come from a stranger. It has at most [`MAX_KEY`](Self::MAX_KEY) bytes, of any value; a
/// longer one is refused. No key reaches that of another limit. Of the keys in use, a process
/// remembers at most [`max_keys`](SharedGatesBuilder::max_keys), and forgets those that were not
/// used for some buckets. Further ones share one limit, the *overflow*, until there is room. On the
/// engine each key and process takes some 300 bytes, for as long as it is in use.
#[derive(Clone)]
#[doc(alias = "distributed rate limiter")]
pub struct SharedGates {
    of: Arc<Table>,
}

type Part = HashMap<Box<[u8]>, Arc<Limit>>;

struct Table {
    engine: Engine,
    checked: Checked,
    max_keys: usize,
    hasher: RandomState,
    parts: [Mutex<Part>; PARTS],
    overflow: Arc<Limit>,
}

impl SharedGates {
    /// The greatest length of a key, in bytes.
    pub const MAX_KEY: usize = 128;

    /// Returns a builder of rate limiters by which all processes together admit at most `limit` of
    /// each key in each interval: one second in ten buckets, unless the builder is told otherwise.
    pub fn builder(limit: AtMost) -> SharedGatesBuilder {
        SharedGatesBuilder { settings: Settings::new(limit), max_keys: 10_000 }
    }

    /// Returns the limiter of a key; `None` if the key is too long. If there are too many keys, it
    /// is the limiter that further keys share.
    pub fn of(&self, key: &[u8]) -> Option<SharedGate> {
        if key.len() > SharedGates::MAX_KEY {
            return None;
        }
        let Table { engine, checked, overflow, .. } = &*self.of;
        if engine.hub().time().is_of_another_process() {
            // A thread of the parent may have held a lock, for ever. All limits refuse here.
            return Some(SharedGate::of(Shared {
                engine: engine.clone(),
                limit: overflow.clone(),
            }));
        }
        let limit = {
            let mut part = self.of.part(key);
            if let Some(limit) = part.get(key) {
                limit.clone()
            } else if self.of.has_room(&mut part) {
                // (The letter tells the empty key from the overflow.)
                let limit = checked.limit(engine, &[b"k", key].concat(), overflow.terms());
                match part.entry(key.into()) {
                    Entry::Occupied(there) => there.get().clone(),
                    Entry::Vacant(place) => place.insert(limit).clone(),
                }
            } else {
                overflow.clone()
            }
        };
        Some(SharedGate::of(Shared { engine: engine.clone(), limit }))
    }

    /// Admits a call of weight `n` of a key, if this process has permits for it: see
    /// [`SharedGate::try_admit`]. A key that is too long is refused.
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, key: &[u8], n: u64) -> bool {
        self.of(key).is_some_and(|gate| gate.try_admit(n))
    }

    /// Returns a future that admits a call of weight `n` of a key, and waits for that at most
    /// `max_wait`: see [`SharedGate::admit`]. A key that is too long is refused for ever.
    pub fn admit(&self, key: &[u8], n: u64, max_wait: Duration) -> Admit<'static> {
        match self.of(key) {
            Some(gate) => gate.admit_owned(n, max_wait),
            None => Admit::after(Wait::refused()),
        }
    }

    /// Admits a call as [`admit`](Self::admit), and blocks the thread meanwhile.
    pub fn admit_blocking(&self, key: &[u8], n: u64, max_wait: Duration) -> Admission {
        let refused = Admission::Refused { retry_after: None };
        self.of(key).map_or(refused, |gate| gate.admit_blocking(n, max_wait))
    }

    /// Changes the limit of each key, for all processes: see [`SharedGate::set_limit`]. A process
    /// learns of it with the next answer of the engine to a key, for that key.
    ///
    /// # Errors
    ///
    /// [`SharedError::LimitTooLarge`]; [`SharedError::NoThread`] in a forked child.
    pub fn set_limit(&self, limit: AtMost) -> Result<(), SharedError> {
        let Table { engine, overflow, .. } = &*self.of;
        SharedGate::of(Shared { engine: engine.clone(), limit: overflow.clone() }).set_limit(limit)
    }

    /// Returns the limit of a new key, as this process knows it.
    pub fn limit(&self) -> u64 {
        self.of.overflow.limit()
    }

    /// Returns the number of keys that this process remembers.
    pub fn keys(&self) -> usize {
        self.of.parts.iter().map(|part| locked(part).len()).sum()
    }

    /// Returns the name of the limits.
    pub fn name(&self) -> &str {
        self.of.checked.name()
    }

    /// Returns the engine that keeps the limits.
    pub fn engine(&self) -> &Engine {
        &self.of.engine
    }
}

impl Table {
    fn part(&self, key: &[u8]) -> MutexGuard<'_, Part> {
        locked(&self.parts[self.hasher.hash_one(key) as usize % PARTS])
    }

    /// Returns whether a part has room for a key; forgets those that are not in use.
    fn has_room(&self, part: &mut Part) -> bool {
        let max = self.max_keys.div_ceil(PARTS);
        if part.len() >= max {
            // No other thread has such a limit. So it holds no permits, and no ask of it is under
            // way: the thread that asks keeps those for some buckets. (A share that is used would
            // be had again.)
            part.retain(|_, limit| Arc::strong_count(limit) > 1 || limit.has_used_its_share());
        }
        part.len() < max
    }
}

fn locked(part: &Mutex<Part>) -> MutexGuard<'_, Part> {
    part.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A builder of [`SharedGates`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until it builds"]
pub struct SharedGatesBuilder {
    settings: Settings,
    max_keys: usize,
}

impl SharedGatesBuilder {
    /// Sets the interval in which the limits hold: a second unless it is set, and at most a week.
    pub fn interval(mut self, interval: Duration) -> SharedGatesBuilder {
        self.settings.interval = interval;
        self
    }

    /// Sets the number of buckets in the interval, 1 to 100: 10 unless it is set.
    pub fn buckets(mut self, buckets: usize) -> SharedGatesBuilder {
        self.settings.buckets = buckets;
        self
    }

    /// Sets the name of the limits: `windrow` unless it is set. Processes that name the same one
    /// share them. At most 64 letters, digits, `_`, `-` and `.` of ASCII.
    pub fn name(mut self, name: impl Into<String>) -> SharedGatesBuilder {
        self.settings.name = name.into();
        self
    }

    /// Sets what is admitted of each key while the engine is away: nothing unless it is set.
    pub fn on_absence(mut self, absence: Absence) -> SharedGatesBuilder {
        self.settings.absence = absence;
        self
    }

    /// Sets the number of keys that a process remembers, at least 1: 10 000 unless it is set. (They
    /// are spread over 16 parts by a hash, and each has a sixteenth of the number, rounded up.)
    pub fn max_keys(mut self, max_keys: usize) -> SharedGatesBuilder {
        self.max_keys = max_keys.max(1);
        self
    }

    /// Builds the limits on an engine of their own, connected to by a URL: see [`Engine::connect`].
    ///
    /// # Errors
    ///
    /// Those of [`Engine::connect`] and of [`build`](Self::build).
    pub fn connect(&self, url: &str) -> Result<SharedGates, SharedError> {
        self.settings.check(Kind::Keyed)?;
        self.build(&Engine::connect(url)?)
    }

    /// Builds the limits on an engine, and waits for its first answer.
    ///
    /// # Errors
    ///
    /// Those of [`SharedGateBuilder::build`](crate::SharedGateBuilder::build).
    pub fn build(&self, engine: &Engine) -> Result<SharedGates, SharedError> {
        let checked = self.settings.check(Kind::Keyed)?;
        let overflow = checked.limit(engine, b"", checked.terms);
        let shared = Shared { engine: engine.clone(), limit: overflow.clone() };
        shared.first_answer()?;
        let parts = Default::default();
        let (engine, max_keys) = (engine.clone(), self.max_keys);
        let hasher = RandomState::new();
        Ok(SharedGates {
            of: Arc::new(Table { engine, checked, max_keys, hasher, parts, overflow }),
        })
    }
}

impl Debug for SharedGates {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedGates")
            .field("name", &self.name())
            .field("keys", &self.keys())
            .field("engine", self.engine())
            .finish_non_exhaustive()
    }
}
