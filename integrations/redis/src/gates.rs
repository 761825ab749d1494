//! Rate limiters that many processes share, one for each key.

use std::sync::Arc;
use std::time::Duration;

use windrow::AtMost;
use windrow::gate::Admission;

use crate::builder::{Built, Checked, SharedBuilder};
use crate::change::Change;
use crate::engine::Engine;
use crate::error::SharedError;
use crate::gate::SharedGate;
use crate::limit::Limit;
use crate::shared::Shared;
use crate::table::Table;
use crate::wait::Admit;

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
/// A key may come from a stranger, and has any bytes. No key reaches that of another limit. Of the
/// keys in use, a process remembers at most [`max_keys`](SharedBuilder::max_keys). Further
/// ones, and keys longer than [`MAX_KEY`](Self::MAX_KEY), share one limit, the *overflow*.
///
/// Keys that were not used for some buckets make room: a new key that finds none looks at eight
/// others, in turn, and takes the place of the first such one. A key takes about a kilobyte in the
/// process, until another takes its place, and on the engine some 300 bytes for each process, for
/// as long as it is in use.
#[derive(Clone)]
#[doc(alias = "distributed rate limiter")]
pub struct SharedGates {
    of: Arc<Of>,
}

struct Of {
    checked: Checked,
    table: Table<Arc<Limit>>,
    overflow: SharedGate,
}

impl SharedBuilder<SharedGates> {
    /// Sets the number of keys that a process remembers, at least 1: 10 000 unless it is set. (They
    /// are spread over 16 parts by a hash, and each has a sixteenth of the number, rounded up.)
    pub fn max_keys(mut self, max_keys: usize) -> SharedBuilder<SharedGates> {
        self.max_keys = max_keys.max(1);
        self
    }
}

impl SharedGates {
    /// The greatest length of a key, in bytes.
    pub const MAX_KEY: usize = 128;

    /// Returns a builder of rate limiters by which all processes together admit at most `limit` of
    /// each key in each interval: one second in ten buckets, unless the builder is told otherwise.
    pub fn builder(limit: AtMost) -> SharedBuilder<SharedGates> {
        SharedBuilder::new(limit)
    }

    /// Returns the limiter of a key. If the key is longer than [`MAX_KEY`](Self::MAX_KEY), or there
    /// are too many keys, it is the one that all such keys share.
    pub fn of(&self, key: &[u8]) -> SharedGate {
        let Of { checked, table, overflow } = &*self.of;
        let engine = overflow.engine();
        // (In a forked child a thread of the parent may have held a lock, for ever. All limits
        // refuse there.)
        let has_own =
            key.len() <= SharedGates::MAX_KEY && !engine.hub().time().is_of_another_process();
        // No other thread has a limit that is idle. So it holds no permits, and no ask of it is
        // under way: the thread that asks keeps those for some buckets. (A share that is used would
        // be had again.)
        let is_idle =
            |limit: &Arc<Limit>| Arc::strong_count(limit) == 1 && !limit.has_used_its_share();
        // (The letter tells the empty key from the overflow.)
        let new =
            || checked.limit(engine, &[b"k", key].concat(), overflow.shared.limit.machine().terms);
        let own = if has_own { table.get(key, is_idle, new) } else { None };
        match own {
            Some(limit) => SharedGate { shared: Shared { engine: engine.clone(), limit } },
            None => overflow.clone(),
        }
    }

    /// Admits a call of weight `n` of a key, if this process has permits for it: see
    /// [`SharedGate::try_admit`].
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn try_admit(&self, key: &[u8], n: u64) -> bool {
        self.of(key).try_admit(n)
    }

    /// Returns a future that admits a call of weight `n` of a key, and waits for that at most
    /// `max_wait`: see [`SharedGate::admit`].
    pub fn admit(&self, key: &[u8], n: u64, max_wait: Duration) -> Admit<'static> {
        self.of(key).admit_owned(n, max_wait)
    }

    /// Admits a call as [`admit`](Self::admit), and blocks the thread meanwhile.
    pub fn admit_blocking(&self, key: &[u8], n: u64, max_wait: Duration) -> Admission {
        self.of(key).admit_blocking(n, max_wait)
    }

    /// Changes the limit of each key, for all processes: see [`SharedGate::set_limit`]. A process
    /// learns of it with the next answer of the engine to a key, for that key.
    ///
    /// # Errors
    ///
    /// Those of [`SharedGate::set_limit`].
    pub fn set_limit(&self, limit: AtMost) -> Result<Change, SharedError> {
        self.of.overflow.set_limit(limit)
    }

    /// Returns the limit of a new key, as this process knows it.
    pub fn limit(&self) -> u64 {
        self.of.overflow.limit()
    }

    /// Returns the number of keys that this process remembers.
    pub fn keys(&self) -> usize {
        self.of.table.len()
    }

    /// Returns the name of the limits.
    pub fn name(&self) -> &str {
        self.of.overflow.name()
    }

    /// Returns the engine that keeps the limits.
    pub fn engine(&self) -> &Engine {
        self.of.overflow.engine()
    }
}

impl Built for SharedGates {
    const SUFFIX: &'static str = "/";

    fn on(engine: &Engine, checked: Checked, max_keys: usize) -> Result<SharedGates, SharedError> {
        let (table, overflow) = (Table::new(max_keys), SharedGate::begin(engine, &checked)?);
        Ok(SharedGates { of: Arc::new(Of { checked, table, overflow }) })
    }
}

shown! {
    /// Shows the name, the number of keys, and the engine.
    SharedGates(gates) { name: gates.name(), keys: gates.keys(), engine: gates.engine() }
}
