//! Heavy keys: [`HeavyKeys`] finds the keys with the most weight, of more keys than memory could
//! count.

use std::sync::OnceLock;
use std::time::Duration;

use crate::clock::{Clock, Coarse, quick_now};
use crate::error::OutOfRangeError;
use crate::ring::Geometry;
use crate::stripe;
use crate::timestamp::Timestamp;

mod builder;
mod key;
mod lock;
mod read;
mod shard;
mod shards;
mod snapshot;
#[cfg(not(any(loom, shuttle)))]
mod static_keys;
mod summary;
mod table;

pub use builder::HeavyKeysBuilder;
pub use key::{Key, MAX_TEXT_BYTES};
pub use snapshot::{Bounds, Heavy, HeavySnapshot};

use shards::{Shards, shards_for};

/// The keys with the most weight in a sliding window (heavy hitters, top k), of any number of keys,
/// in bounded memory: which client, which tenant, which URL.
///
/// A [`Family`](crate::Family) has a metric for each set of labels, whose number is bounded. This
/// is for keys whose number is not. Each key is added with a weight: 1 for a request, or its bytes.
/// A read returns the heaviest keys of the interval, each with a lower and an upper bound of its
/// weight, which are guaranteed.
///
/// ```
/// use std::time::Duration;
/// use windrow::HeavyKeys;
///
/// let clients = HeavyKeys::<str>::builder(100)
///     .interval(Duration::from_secs(60))
///     .buckets(6)
///     .build()?;
/// clients.add("initech", 1_500); // bytes, for example
/// clients.increment("acme");
/// for heavy in clients.top(10) {
///     println!("{}: {} to {}", heavy.key, heavy.at_least, heavy.at_most);
/// }
/// let bounds = clients.bounds("initech");
/// assert_eq!((bounds.at_least, bounds.at_most), (1_500, 1_500)); // few keys: exact
/// assert_eq!(clients.total(), 1_501); // always exact
/// # Ok::<(), windrow::BuildError>(())
/// ```
///
/// A key is a `str`, a `[u8]`, or any type that is `Copy`, `Eq` and `Hash`: see
/// [`Key`]. One in a `static` is made by [`of`](Self::of).
///
/// # Bounds
///
/// Let `W` be the total weight of a span, and `n` the capacity. For each key:
///
/// * `at_least <= true weight <= at_most`, and `at_most - at_least <= W / n`. For errors of at most
///   0.1 % of the total, take a capacity of 1000.
/// * A key that is heavier than `W / n` is in the list of all keys, `top(usize::MAX)`. A key that
///   is not in that list weighs at most `W / n`.
/// * If no bucket had more than `n` different keys, all weights are exact: `at_least == at_most`.
/// * [`total`](Self::total) is exact in any case.
///
/// The usual error is much smaller: what the heaviest keys weigh does not count towards it.
///
/// The adds of other threads that run at the same time as a read may be included or not. `at_least`
/// is at most the true weight when the read returned, and `at_most` at least the true weight when
/// it began, for any threads and any delays. A bucket that leaves the interval takes its weights
/// with it, as in a [`SlidingWindow`](crate::SlidingWindow): into the
/// [tiers](HeavyKeysBuilder::tier), if there are any, which keep those of an hour or a day.
///
/// Keys that strangers choose cannot break a bound, fill the memory, or slow adds down: hashes have
/// a random seed, a text counts by its first [`MAX_TEXT_BYTES`], and
/// a flood of new keys costs each add a bounded number of steps on average. It can only use up the
/// error, `W / n`.
///
/// # Time
///
/// An add counts in the bucket of the clock's time. The clock may step back, stand still or leap.
/// An add whose bucket has left the interval is [late](Self::late): it counts in no bucket.
///
/// # Cost and progress
///
/// | a call | costs |
/// |---|---|
/// | an add of a key that is held | the clock's reading, a hash, a lock, a comparison of keys |
/// | an add of any other key | also an entry, and the part of an eviction for five entries |
/// | an eviction | a pass over the entries of one bucket, under the shard's lock |
/// | [`bounds`](Self::bounds) | a lock and a lookup for each bucket and shard |
/// | [`total`](Self::total) | a lock for each bucket and shard |
/// | [`top`](Self::top), [`snapshot`](Self::snapshot) | a pass over all entries |
///
/// There is a *shard* for each core, and one more; each has a lock. An add uses the shard of its
/// core, or if that is locked, the next one that is not. So an add waits only if each shard is
/// locked. A read locks one shard after the other, for one bucket at a time. It
/// waits for an add that is under way there. (A read that has been overtaken by eight buckets takes
/// all locks at once, and adds wait for it.)
///
/// Do not use it in a signal handler, nor after a fork in the child, where a lock may be held by a
/// thread that is not there. Keys are compared, and memory is allocated, under a lock: so a key's
/// `Eq`, and a global allocator, must not use the same `HeavyKeys`.
///
/// # Memory
///
/// With capacity `n`, `B` buckets (those of tiers included), `S` shards and keys of `s` bytes (264
/// for a text; other keys in whole words of eight bytes, and 24 for a `u128`, whose alignment costs
/// a word), it takes at most `S n (B (50 + 1.25 s) + 10)` bytes, and a little:
/// [`max_bytes`](Self::max_bytes) returns the number. With a capacity of 100 integers of eight
/// bytes, two buckets and three shards that is some 36 kB.
///
/// The rings are allocated at once. A shard takes the memory of a bucket when it first adds to that
/// slot of its ring, and keeps it.
/// When each shard has used each slot, nothing is allocated any more; or from the beginning, if it
/// is [preallocated](crate::heavy::HeavyKeysBuilder::preallocate). A read allocates its result;
/// `bounds` and `total` allocate nothing.
#[doc(alias = "heavy hitters")]
#[doc(alias = "top k")]
#[doc(alias = "SpaceSaving")]
#[doc(alias = "Misra-Gries")]
#[doc(alias = "count-min")]
#[doc(alias = "HeavyKeeper")]
#[doc(alias = "frequent items")]
#[doc(alias = "hot keys")]
pub struct HeavyKeys<K: Key + ?Sized, C = Coarse> {
    capacity: usize,
    geometry: Geometry,
    /// The coarser buckets, the finest first.
    tiers: Vec<Geometry>,
    /// The maximum number of shards.
    most_shards: usize,
    clock: C,
    /// Made by the builder, or, in a static, at the first use.
    made: OnceLock<Shards<K>>,
}

impl<K: Key + ?Sized> HeavyKeys<K> {
    /// Returns a builder of heavy keys. Up to `capacity` different keys in a bucket are counted
    /// exactly; and with more of them, no bounds are further apart than the total divided by
    /// `capacity`. The interval is one second in two buckets, on the [`Coarse`] clock, unless the
    /// builder is told otherwise.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// assert_eq!((clients.buckets(), clients.interval().as_secs()), (2, 1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn builder(capacity: usize) -> HeavyKeysBuilder<K> {
        HeavyKeysBuilder::new(capacity)
    }
}

impl<K: Key + ?Sized, C: Clock> HeavyKeys<K, C> {
    /// Returns heavy keys whose shards are not made yet.
    const fn of_parts(
        capacity: usize,
        geometry: Geometry,
        most_shards: usize,
        clock: C,
    ) -> HeavyKeys<K, C> {
        HeavyKeys {
            capacity,
            geometry,
            tiers: Vec::new(),
            most_shards,
            clock,
            made: OnceLock::new(),
        }
    }

    /// Returns new shards; `None` if there is no memory for their rings.
    fn make(&self) -> Option<Shards<K>> {
        Shards::new(self.shards(), self.geometry, &self.tiers, self.capacity, self.nanos())
    }

    fn with(self, made: Shards<K>) -> HeavyKeys<K, C> {
        HeavyKeys { made: OnceLock::from(made), ..self }
    }

    /// Returns the number of shards.
    fn shards(&self) -> usize {
        stripe::strategy(); // decides the number of rows
        shards_for(stripe::rows()).min(self.most_shards)
    }

    #[inline]
    fn made(&self) -> &Shards<K> {
        self.made.get_or_init(|| self.make().expect("there is memory for the ring of a static"))
    }

    fn nanos(&self) -> u64 {
        self.clock.now().as_nanos()
    }

    /// Adds a weight to a key, in the current bucket.
    ///
    /// Never fails or loses weight. Numbers stop at `u64::MAX`. A weight of 0 is no add. If the
    /// key's `Hash` or `Eq` panics, the caller gets the panic: nothing is counted, and other keys
    /// keep what they have. (Where an add closes a bucket, keys of two buckets are compared. If
    /// that panics, the two keys are taken for equal, because they have the same hash.) Costs some
    /// tens of nanoseconds: see [the table](Self#cost-and-progress).
    ///
    /// ```
    /// let bytes = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// bytes.add("/cart", 1_500);
    /// bytes.add("/cart", 700);
    /// assert_eq!(bytes.bounds("/cart").at_least, 2_200);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call, with registers to save, costs a sixth of an add
    pub fn add(&self, key: &K, weight: u64) {
        self.add_and_weigh(key, weight);
    }

    /// Adds 1 to a key, in the current bucket.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(100).build()?;
    /// clients.increment(&7);
    /// assert_eq!(clients.total(), 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline]
    #[doc(alias = "inc")]
    #[doc(alias = "observe")]
    pub fn increment(&self, key: &K) {
        self.add(key, 1);
    }

    /// Adds a weight as [`add`](Self::add) does, and returns a lower bound of the key's weight in
    /// the interval, this add included.
    ///
    /// The bound costs nothing: it is that of the one [shard](Self#cost-and-progress) that was
    /// added to, in the current bucket. [`bounds`](Self::bounds) looks at all of them, and has a
    /// better one. But this one is never too high, so it tells the keys that need a closer look:
    /// `windrow-tower` limits heavy keys alone by it. With `S` shards and `B` buckets, a key that
    /// weighs more than `S B (x + W / n)` in an interval has been told a bound above `x`. The bound
    /// is zero if the add is [late](Self::late), or no add.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// assert_eq!(clients.add_and_weigh("acme", 40), 40);
    /// let at_least = clients.add_and_weigh("acme", 2);
    /// assert!((2..=42).contains(&at_least)); // 42, unless another core or bucket has the 40
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `HeavyKeys::add`
    pub fn add_and_weigh(&self, key: &K, weight: u64) -> u64 {
        if weight == 0 {
            return 0;
        }
        let made = self.made();
        made.add(key.kept(), weight, quick_now(&self.clock).as_nanos())
    }

    /// Empties the interval and begins anew at the clock's time, while adds and reads go on.
    ///
    /// Each add is before the call or after it, as a whole. An add before it counts from then on in
    /// [`lifetime`](Self::lifetime) only. Waits for the adds and reads under way, which do not wait
    /// for each other meanwhile. Ends a state in which all adds are [late](Self::late), because the
    /// clock was far ahead once.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(100).build()?;
    /// clients.increment(&7);
    /// clients.clear();
    /// assert_eq!((clients.total(), clients.lifetime()), (0, 1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "reset")]
    pub fn clear(&self) {
        self.made().clear(self.nanos()); // the clock, before any lock
    }

    /// Returns the span that the interval covers.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(100).build()?;
    /// assert_eq!(clients.interval().as_secs(), 1);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn interval(&self) -> Duration {
        Duration::from_nanos(self.geometry.interval())
    }

    /// Returns the clock's time. For `windrow-log`, which has no other way to the clock.
    #[doc(hidden)]
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Returns the longest span that can be read: the interval, or what the coarsest
    /// [tier](HeavyKeysBuilder::tier) covers. For `windrow-console`, which shows keys that others
    /// built.
    #[doc(hidden)]
    pub fn longest_span(&self) -> Duration {
        let tiers = self.tiers.iter().map(|tier| tier.interval());
        Duration::from_nanos(tiers.fold(self.geometry.interval(), u64::max))
    }

    /// Returns the number of buckets into which the interval is cut.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(100).build()?;
    /// assert_eq!(clients.buckets(), 2);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn buckets(&self) -> usize {
        self.geometry.buckets()
    }

    /// Returns the maximum of the bytes that adds allocate, all shards and buckets together: see
    /// [memory](Self#memory).
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u64>::builder(100).shards(3).build()?;
    /// assert!(clients.max_bytes() < 50_000);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn max_bytes(&self) -> usize {
        Shards::<K>::bytes(self.shards(), self.geometry, &self.tiers, self.capacity)
    }
}
