//! Heavy keys in statics.

use std::time::Duration;

use super::HeavyKeys;
use super::builder::MOST;
use super::key::Key;
use crate::clock::Coarse;
use crate::ring::Geometry;

/// # In a static
impl<K: Key + ?Sized> HeavyKeys<K> {
    /// Makes heavy keys that can stand in a `static`: with a capacity, and an interval cut into
    /// `buckets`, on the [`Coarse`] clock.
    ///
    /// The shards are made at the first use, with some 128 bytes for each bucket of each. Threads
    /// that use it meanwhile wait for the thread that makes them: some microseconds, if there are
    /// few buckets. If there is no memory for them, that use panics.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::HeavyKeys;
    ///
    /// static CLIENTS: HeavyKeys<str> = HeavyKeys::of(100, Duration::from_secs(60), 6);
    ///
    /// CLIENTS.increment("acme");
    /// assert_eq!(CLIENTS.top(1)[0].key, "acme");
    /// ```
    ///
    /// Do not put it into a `const`: each mention of a `const` is another value, and what is added
    /// to it is lost.
    ///
    /// # Panics
    ///
    /// Panics where a [builder](Self::builder) would return an error: if the capacity is zero or
    /// above 2^20, the interval or the number of buckets is zero, or the buckets do not divide the
    /// interval into whole nanoseconds. Also if a bucket is shorter than 100 ms, or if there are
    /// more than 100 000. In a `static`, each of these is a compile-time error:
    ///
    /// ```compile_fail,E0080
    /// use std::time::Duration;
    /// use windrow::HeavyKeys;
    ///
    /// static CLIENTS: HeavyKeys<str> = HeavyKeys::of(0, Duration::from_secs(60), 6);
    /// # CLIENTS.increment("acme");
    /// ```
    #[must_use]
    pub const fn of(capacity: usize, interval: Duration, buckets: usize) -> HeavyKeys<K> {
        assert!(capacity > 0, "the capacity is zero");
        assert!(capacity <= MOST, "the capacity is more than 2^20 keys");
        let geometry = Geometry::in_static(interval, buckets);
        HeavyKeys::of_parts(capacity, geometry, usize::MAX, Coarse::NEW)
    }
}
