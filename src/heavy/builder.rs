//! The builder of heavy keys.

use std::fmt::{self, Debug, Formatter};
use std::marker::PhantomData;
use std::time::Duration;

use super::HeavyKeys;
use super::key::Key;
use crate::clock::{Clock, Coarse};
use crate::error::BuildError;
use crate::ring::Geometry;

/// The greatest capacity, 2^20 keys.
pub(super) const MOST: usize = 1 << 20;

/// A builder of [`HeavyKeys`], made by [`HeavyKeys::builder`].
///
/// The defaults are those of a window: one second in two buckets, on the [`Coarse`] clock.
///
/// ```
/// use std::time::Duration;
/// use windrow::{HeavyKeys, clock::Precise};
///
/// let clients = HeavyKeys::<str>::builder(1_000)
///     .interval(Duration::from_millis(100))
///     .buckets(10)
///     .clock(Precise::default())
///     .build()?;
/// clients.increment("acme");
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[must_use]
pub struct HeavyKeysBuilder<K: ?Sized, C = Coarse> {
    capacity: usize,
    interval: Duration,
    buckets: usize,
    tiers: Vec<(Duration, usize)>,
    shards: usize,
    clock: C,
    is_preallocated: bool,
    keys: PhantomData<fn(&K)>,
}

impl<K: Key + ?Sized> HeavyKeysBuilder<K> {
    pub(super) fn new(capacity: usize) -> HeavyKeysBuilder<K> {
        HeavyKeysBuilder {
            capacity,
            interval: Duration::from_secs(1),
            buckets: 2,
            tiers: Vec::new(),
            shards: usize::MAX,
            clock: Coarse::default(),
            is_preallocated: false,
            keys: PhantomData,
        }
    }
}

impl<K: Key + ?Sized, C: Clock> HeavyKeysBuilder<K, C> {
    /// Sets the interval whose keys are counted; one second by default.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let minute = Duration::from_secs(60);
    /// let clients = windrow::HeavyKeys::<str>::builder(100).interval(minute).build()?;
    /// assert_eq!(clients.interval(), minute);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn interval(self, interval: Duration) -> HeavyKeysBuilder<K, C> {
        HeavyKeysBuilder { interval, ..self }
    }

    /// Sets the number of equal buckets in the interval; two by default.
    ///
    /// The interval slides by one bucket at a time. [Memory](HeavyKeys#memory) and the cost of a
    /// read are proportional to the number of buckets.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).buckets(10).build()?;
    /// assert_eq!(clients.buckets(), 10);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn buckets(self, buckets: usize) -> HeavyKeysBuilder<K, C> {
        HeavyKeysBuilder { buckets, ..self }
    }

    /// Adds a tier: `buckets` coarser buckets, each `length` long, which buckets that leave the
    /// interval are added to. Each call adds one tier; a tier's buckets must be a whole number of
    /// the buckets before, those of the tier added last or of the interval.
    ///
    /// A tier is for the heavy keys of an hour or a day:
    /// [`snapshot_over`](HeavyKeys::snapshot_over) reads spans up to what the coarsest tier covers.
    /// The [bounds](HeavyKeys#bounds) are those of the interval: `at_most - at_least` is at most
    /// the span's total divided by the capacity, because summaries merge without a greater error.
    ///
    /// The setting costs an add nothing. The add that opens a bucket in a shard adds the bucket
    /// that leaves to each tier: a pass over its entries, under the shard's lock. A tier's bucket
    /// takes the [memory](HeavyKeys#memory) of any other.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{HeavyKeys, clock::Manual};
    ///
    /// let (minute, hour) = (Duration::from_secs(60), Duration::from_secs(3_600));
    /// let clock = Manual::default();
    /// let clients = HeavyKeys::<str>::builder(100)
    ///     .interval(minute)
    ///     .buckets(6)
    ///     .tier(minute, 60)
    ///     .tier(hour, 24)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// clients.add("acme", 40);
    /// clock.advance(20 * minute);
    /// clients.add("initech", 2);
    /// assert_eq!(clients.top(10).len(), 1);
    /// assert_eq!(clients.snapshot_over(hour)?.top(10)[0].key, "acme");
    /// clock.advance(5 * hour);
    /// assert_eq!(clients.snapshot_over(hour)?.top(10).len(), 0);
    /// assert_eq!(clients.snapshot_over(24 * hour)?.total(), 42);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn tier(mut self, length: Duration, buckets: usize) -> HeavyKeysBuilder<K, C> {
        self.tiers.push((length, buckets));
        self
    }

    /// Sets the maximum number of shards. By default, there is one for each core, and one more.
    ///
    /// An add locks one shard, mostly that of its core. With fewer shards,
    /// [memory](HeavyKeys#memory) is less, and adds on several cores meet more often. The bounds do
    /// not depend on it.
    ///
    /// ```
    /// let few = windrow::HeavyKeys::<str>::builder(100).shards(1).build()?;
    /// let usual = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// assert!(few.max_bytes() < usual.max_bytes());
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn shards(self, shards: usize) -> HeavyKeysBuilder<K, C> {
        HeavyKeysBuilder { shards, ..self }
    }

    /// Sets the clock; [`Coarse`] by default.
    ///
    /// ```
    /// let clock = windrow::clock::Manual::default();
    /// let clients = windrow::HeavyKeys::<str>::builder(100).clock(clock.clone()).build()?;
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn clock<D: Clock>(self, clock: D) -> HeavyKeysBuilder<K, D> {
        let HeavyKeysBuilder { capacity, interval, buckets, tiers, shards, .. } = self;
        let HeavyKeysBuilder { is_preallocated, keys, .. } = self;
        HeavyKeysBuilder {
            capacity,
            interval,
            buckets,
            tiers,
            shards,
            clock,
            is_preallocated,
            keys,
        }
    }

    /// Allocates all memory when the keys are built: no add allocates. Otherwise the first add of
    /// each shard in each slot of the ring allocates.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).preallocate().build()?;
    /// clients.increment("acme"); // allocates nothing
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn preallocate(self) -> HeavyKeysBuilder<K, C> {
        HeavyKeysBuilder { is_preallocated: true, ..self }
    }

    /// Builds heavy keys. The newest bucket is the one that contains the clock's time.
    ///
    /// # Errors
    ///
    /// [`BuildError`] if the capacity is zero or above 2^20, if the number of shards is zero,
    /// or for the reasons for which [`WindowBuilder::build`](crate::WindowBuilder::build) makes no
    /// window.
    ///
    /// ```
    /// let error = windrow::HeavyKeys::<str>::builder(0).build().unwrap_err();
    /// assert_eq!(error.to_string(), "the capacity is 0 keys; it must be at least 1");
    /// ```
    pub fn build(self) -> Result<HeavyKeys<K, C>, BuildError> {
        let HeavyKeysBuilder { capacity, buckets, shards, .. } = self;
        if capacity == 0 {
            return Err(BuildError::ZeroCapacity);
        }
        if capacity > MOST {
            return Err(BuildError::CapacityTooHigh { capacity, most: MOST });
        }
        if shards == 0 {
            return Err(BuildError::ZeroShards);
        }
        let geometry = Geometry::new(self.interval, buckets)?;
        geometry.check_clock(&self.clock)?;
        let (mut tiers, mut finer) = (Vec::with_capacity(self.tiers.len()), geometry);
        for (length, buckets) in self.tiers {
            let tier = Geometry::of_length(length, buckets)?;
            if !tier.length().is_multiple_of(finer.length()) {
                let finer = Duration::from_nanos(finer.length());
                return Err(BuildError::UnevenTier { length, finer });
            }
            tiers.push(tier);
            finer = tier;
        }
        let heavy =
            HeavyKeys { tiers, ..HeavyKeys::of_parts(capacity, geometry, shards, self.clock) };
        let made = heavy.make().ok_or(BuildError::TooManyBuckets { buckets })?;
        if self.is_preallocated {
            made.preallocate();
        }
        Ok(heavy.with(made))
    }
}

impl<K: ?Sized, C: Clone> Clone for HeavyKeysBuilder<K, C> {
    fn clone(&self) -> HeavyKeysBuilder<K, C> {
        HeavyKeysBuilder { clock: self.clock.clone(), tiers: self.tiers.clone(), ..*self }
    }
}

/// Shows the settings of the heavy keys to be built.
impl<K: ?Sized, C: Debug> Debug for HeavyKeysBuilder<K, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeavyKeysBuilder")
            .field("capacity", &self.capacity)
            .field("interval", &self.interval)
            .field("buckets", &self.buckets)
            .field("tiers", &self.tiers)
            .field("shards", &self.shards)
            .field("clock", &self.clock)
            .field("is_preallocated", &self.is_preallocated)
            .finish()
    }
}
