//! Reading heavy keys.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::hash::BuildHasher;
use std::time::Duration;

use super::key::Key;
use super::shard::Shard;
use super::snapshot::{Bounds, Heavy, HeavySnapshot};
use super::{HeavyKeys, OutOfRangeError};
use crate::clock::Clock;
use crate::timestamp::Timestamp;

/// # Reading
///
/// A read is of the newest buckets that cover the interval, or a span of it, the current bucket
/// included. A span that is longer than the interval is read from the finest
/// [tier](super::HeavyKeysBuilder::tier) that covers it: an hour, a day. [Bounds](Self#bounds) says
/// what its numbers are while other threads add.
impl<K: Key + ?Sized, C: Clock> HeavyKeys<K, C> {
    /// Returns the `n` keys with the most weight in the interval, the heaviest first, each with its
    /// bounds. Fewer, if the interval has fewer keys.
    ///
    /// They are sorted by their lower bounds: see [`HeavySnapshot::top`].
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// clients.add("acme", 40);
    /// clients.add("initech", 2);
    /// let [first, second] = &clients.top(2)[..] else { panic!("there are two") };
    /// assert_eq!((first.key.as_str(), first.at_least, first.at_most), ("acme", 40, 40));
    /// assert_eq!(second.key, "initech");
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "heavy hitters")]
    pub fn top(&self, n: usize) -> Vec<Heavy<K>> {
        self.snapshot().top(n)
    }

    /// Returns the bounds of all keys in the interval, as plain numbers: to ask several questions
    /// about one reading, and to merge those of several machines.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// clients.add("acme", 40);
    /// let snapshot = clients.snapshot();
    /// assert_eq!((snapshot.total(), snapshot.top(9).len()), (40, 1));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn snapshot(&self) -> HeavySnapshot<K> {
        self.snapshot_of(self.geometry.interval())
    }

    /// Returns the bounds of all keys in the newest buckets that cover `span`; those of the finest
    /// [tier](super::HeavyKeysBuilder::tier) that covers it, if it is longer than the interval.
    ///
    /// # Errors
    ///
    /// [`OutOfRangeError`] if the span is zero, or longer than the interval and each tier.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{HeavyKeys, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let clients = HeavyKeys::<str>::builder(100)
    ///     .interval(Duration::from_secs(60))
    ///     .buckets(6)
    ///     .clock(clock.clone())
    ///     .build()?;
    /// clients.add("acme", 40);
    /// clock.advance(Duration::from_secs(10));
    /// clients.add("initech", 2);
    /// let heaviest = |seconds| clients.snapshot_over(Duration::from_secs(seconds));
    /// assert_eq!(heaviest(20)?.top(1)[0].key, "acme");
    /// assert_eq!(heaviest(10)?.top(1)[0].key, "initech");
    /// assert!(heaviest(61).is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "top_over")]
    pub fn snapshot_over(&self, span: Duration) -> Result<HeavySnapshot<K>, OutOfRangeError> {
        self.check_span(span)?;
        Ok(self.snapshot_of(span.as_nanos() as u64)) // at most a tier's interval, which fits
    }

    /// Returns whether a span can be read.
    pub(crate) fn check_span(&self, span: Duration) -> Result<(), OutOfRangeError> {
        if span.is_zero() {
            return Err(OutOfRangeError::ZeroSpan);
        }
        if span > self.longest_span() {
            return Err(OutOfRangeError::SpanTooLong { span, interval: self.longest_span() });
        }
        Ok(())
    }

    fn snapshot_of(&self, span: u64) -> HeavySnapshot<K> {
        let made = self.made();
        let new = || HeavySnapshot::new(made.random());
        let now = || self.nanos();
        if span <= self.geometry.interval() {
            return made.read(now, span, new, |read, _, summary| read.include(summary));
        }
        let tier = self.tiers.iter().position(|tier| span <= tier.interval());
        let tier = tier.expect("the span is at most the longest");
        made.read_tier(tier, now, span, new, HeavySnapshot::include)
    }

    /// Returns the buckets of the interval that have ended by the clock, and begin at `from` or
    /// later, the oldest first: the start of each, and its bounds. Empty buckets are left out.
    ///
    /// A log asks periodically, each time for what begins behind the last bucket that it has. Then
    /// the totals add up to the [lifetime](Self::lifetime), except for the open bucket,
    /// [late](Self::late) adds, adds that came to an ended bucket after it was returned (of a
    /// suspended thread, or on a clock that stepped back), and buckets that left the interval
    /// between two calls.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{HeavyKeys, Timestamp, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// clock.set(Timestamp::from_secs(100));
    /// let clients = HeavyKeys::<str>::builder(100).clock(clock.clone()).build()?;
    /// clients.add("acme", 40);
    /// assert!(clients.closed_since(Timestamp::from_secs(0)).is_empty());
    /// clock.advance(clients.interval() / 2); // a bucket
    /// let closed = clients.closed_since(Timestamp::from_secs(0));
    /// let [(start, bucket)] = &closed[..] else { panic!("one has ended") };
    /// assert_eq!((*start, bucket.total()), (Timestamp::from_secs(100), 40));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn closed_since(&self, from: Timestamp) -> Vec<(Timestamp, HeavySnapshot<K>)> {
        let (made, now, length) = (self.made(), Cell::new(0), self.geometry.length());
        let read_clock = || {
            now.set(self.nanos());
            now.get()
        };
        let all = made.read(
            read_clock,
            self.geometry.interval(),
            BTreeMap::new,
            |all: &mut BTreeMap<u64, HeavySnapshot<K>>, start, summary| {
                // After the clock was read, in each attempt.
                let has_ended = start.saturating_add(length) <= now.get();
                if start >= from.as_nanos() && has_ended && summary.total() > 0 {
                    let bucket = all.entry(start);
                    bucket.or_insert_with(|| HeavySnapshot::new(made.random())).include(summary);
                }
            },
        );
        all.into_iter().map(|(start, bucket)| (Timestamp::from_nanos(start), bucket)).collect()
    }

    /// Returns the bounds of a key's weight in the interval. Allocates nothing. For a text that is
    /// longer than [`MAX_TEXT_BYTES`](crate::heavy::MAX_TEXT_BYTES), they are those of the key that
    /// it begins with.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(100).build()?;
    /// clients.add("acme", 40);
    /// assert_eq!(clients.bounds("acme").at_least, 40);
    /// assert_eq!(clients.bounds("initech").at_most, 0);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    #[doc(alias = "estimate")]
    pub fn bounds(&self, key: &K) -> Bounds {
        let (made, key) = (self.made(), key.kept());
        let hash = made.random().hash_one(key);
        made.read(
            || self.nanos(),
            self.geometry.interval(),
            Bounds::default,
            |bounds, _, summary| {
                bounds.include(summary, hash, key);
            },
        )
    }

    /// Returns the exact weight of all keys together in the interval. Allocates nothing.
    ///
    /// It lies between the true weight when the call began and the true weight when it returned. It
    /// stops at `u64::MAX`.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(10).build()?;
    /// (0..1_000).for_each(|client| clients.add(&client, 3));
    /// assert_eq!(clients.total(), 3_000);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn total(&self) -> u64 {
        let all = self.geometry.interval();
        self.made().read(
            || self.nanos(),
            all,
            u64::default,
            |total, _, summary| {
                *total = total.saturating_add(summary.total());
            },
        )
    }

    /// Returns the weight of all adds ever made, those before a [`clear`](Self::clear) and
    /// [late](Self::late) ones included. Never goes back. It stops at `u64::MAX`.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(10).build()?;
    /// clients.add(&7, 3);
    /// assert_eq!(clients.lifetime(), 3);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn lifetime(&self) -> u64 {
        self.made().sum(Shard::lifetime)
    }

    /// Returns the weight of the late adds ever made: their bucket had left the interval, because
    /// the clock had stepped back, or the thread was suspended for an interval in the call. No
    /// bucket counts them.
    ///
    /// ```
    /// use windrow::{HeavyKeys, Timestamp, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let clients = HeavyKeys::<u32>::builder(10).clock(clock.clone()).build()?;
    /// clock.set(Timestamp::from_secs(10));
    /// clients.increment(&7);
    /// clock.set(Timestamp::from_secs(5));
    /// clients.increment(&7);
    /// assert_eq!((clients.total(), clients.late(), clients.lifetime()), (1, 1, 2));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn late(&self) -> u64 {
        self.made().sum(Shard::late)
    }
}

/// Shows the capacity, the geometry, the total, and the ten keys with the most weight.
impl<K: Key<Owned: Debug> + ?Sized, C: Clock> Debug for HeavyKeys<K, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let snapshot = self.snapshot();
        f.debug_struct("HeavyKeys")
            .field("capacity", &self.capacity)
            .field("interval", &self.interval())
            .field("buckets", &self.buckets())
            .field("total", &snapshot.total())
            .field("top", &snapshot.top(10))
            .finish_non_exhaustive()
    }
}
