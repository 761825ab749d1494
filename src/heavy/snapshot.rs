//! A snapshot: the bounds of all keys that a span's summaries held, as plain numbers.

use std::borrow::Borrow;
use std::cmp::Reverse;
use std::fmt::{self, Debug, Formatter};
use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use super::key::Key;
use super::summary::Summary;
use super::table::Table;

#[cfg(feature = "serde")]
mod serde;

/// A key and the bounds of its weight: from [`HeavyKeys::top`](crate::HeavyKeys::top).
///
/// ```
/// let bytes = windrow::HeavyKeys::<u16>::builder(10).build()?;
/// bytes.add(&443, 1_500);
/// let heavy = &bytes.top(1)[0];
/// assert_eq!((heavy.key, heavy.at_least, heavy.at_most), (443, 1_500, 1_500));
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[non_exhaustive]
pub struct Heavy<K: ToOwned + ?Sized> {
    /// The key; a text is [cut](super::MAX_TEXT_BYTES) if it is too long.
    pub key: K::Owned,
    /// Its weight is this or more.
    pub at_least: u64,
    /// Its weight is this or less; any weight if this is `u64::MAX`.
    pub at_most: u64,
}

/// The bounds of a key's weight: from [`HeavyKeys::bounds`](crate::HeavyKeys::bounds).
///
/// ```
/// use windrow::heavy::Bounds;
///
/// let bytes = windrow::HeavyKeys::<u16>::builder(10).build()?;
/// bytes.add(&443, 1_500);
/// let bounds: Bounds = bytes.bounds(&443);
/// assert_eq!((bounds.at_least, bounds.at_most), (1_500, 1_500));
/// assert_eq!(bytes.bounds(&80).at_most, 0);
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Bounds {
    /// The weight is this or more.
    pub at_least: u64,
    /// The weight is this or less; any weight if this is `u64::MAX`.
    pub at_most: u64,
}

impl Bounds {
    /// Adds the bounds of a key's weight in a summary.
    pub(super) fn include<K: Key + ?Sized>(&mut self, summary: &Summary<K>, hash: u64, key: &K) {
        let held = summary.find(hash, key);
        let (at_least, at_most) =
            held.map_or((0, summary.floor()), |held| (held.count - held.error, held.count));
        self.at_least = self.at_least.saturating_add(at_least);
        self.at_most = self.at_most.saturating_add(at_most);
    }
}

/// The bounds of all keys of a span, as plain numbers: from
/// [`HeavyKeys::snapshot`](crate::HeavyKeys::snapshot).
///
/// Snapshots can be [merged](Self::merge): those of several machines, or of consecutive spans. The
/// bounds stay guaranteed, and exact keys exact.
///
/// ```
/// let here = windrow::HeavyKeys::<str>::builder(100).build()?;
/// let there = windrow::HeavyKeys::<str>::builder(100).build()?;
/// here.add("acme", 40);
/// there.add("acme", 2);
/// there.add("initech", 7);
/// let mut all = here.snapshot();
/// all.merge(&there.snapshot());
/// assert_eq!(all.total(), 49);
/// assert_eq!(all.bounds("acme").at_least, 42);
/// assert_eq!(all.top(2)[1].key, "initech");
/// # Ok::<(), windrow::BuildError>(())
/// ```
pub struct HeavySnapshot<K: Key + ?Sized> {
    random: RandomState,
    known: Table<K, Known>,
    /// The sum of all summaries' floors: any key that is not known has at most this weight.
    floors: u64,
    total: u64,
}

/// The bounds of a known key.
#[derive(Clone, Copy)]
struct Known {
    at_least: u64,
    /// The key has at most this weight and all floors together: for each summary that holds it,
    /// this has the count less the floor.
    above: u64,
}

const UNKNOWN: Known = Known { at_least: 0, above: 0 };

impl<K: Key + ?Sized> HeavySnapshot<K> {
    pub(super) fn new(random: &RandomState) -> HeavySnapshot<K> {
        HeavySnapshot { random: random.clone(), known: Table::growing(), floors: 0, total: 0 }
    }

    /// Includes a summary whose hashes are by this snapshot's seed.
    pub(super) fn include(&mut self, summary: &Summary<K>) {
        let floor = summary.floor();
        self.floors = self.floors.saturating_add(floor);
        self.total = self.total.saturating_add(summary.total());
        for (number, held) in summary.held().values().enumerate() {
            self.known.merge(summary.held(), number, UNKNOWN, |known| {
                // Of a count that has stopped at the end, the floor is subtracted here and added
                // again in `at_most`: so that, too, is the end.
                known.at_least = known.at_least.saturating_add(held.count - held.error);
                known.above = known.above.saturating_add(held.count - floor);
            });
        }
    }

    /// Returns the exact weight of all keys together. It stops at `u64::MAX`.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(10).build()?;
    /// (0..1_000).for_each(|client| clients.add(&client, 3));
    /// assert_eq!(clients.snapshot().total(), 3_000);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn total(&self) -> u64 {
        self.total
    }

    /// Returns the maximum weight of a key that the snapshot does not know: at most the
    /// [`total`](Self::total) divided by the capacity, and zero as long as no bucket of a shard had
    /// more keys than the capacity. No bounds of a key are further apart.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u32>::builder(10).build()?;
    /// (0..10).for_each(|client| clients.add(&client, 3));
    /// assert_eq!(clients.snapshot().max_error(), 0);
    /// (10..1_000).for_each(|client| clients.add(&client, 3));
    /// assert!(clients.snapshot().max_error() <= 3_000 / 10);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn max_error(&self) -> u64 {
        self.floors
    }

    /// Returns the bounds of a key's weight; those of its beginning, for a text that is longer than
    /// [`MAX_TEXT_BYTES`](crate::heavy::MAX_TEXT_BYTES).
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(10).build()?;
    /// clients.add("acme", 42);
    /// let bounds = clients.snapshot().bounds("acme");
    /// assert_eq!((bounds.at_least, bounds.at_most), (42, 42));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn bounds(&self, key: &K) -> Bounds {
        let key = key.kept();
        let found = self.known.find(self.random.hash_one(key), key);
        self.bounds_of(found.map_or(UNKNOWN, |number| self.known.value(number)))
    }

    fn bounds_of(&self, known: Known) -> Bounds {
        Bounds { at_least: known.at_least, at_most: self.floors.saturating_add(known.above) }
    }

    /// Returns the `n` keys with the most weight, by their lower bounds, the heaviest first; keys
    /// with equal lower bounds by their upper ones.
    ///
    /// Fewer than `n` if the snapshot knows fewer. Each key that is heavier than
    /// [`max_error`](Self::max_error) is known, so it is in the list of all keys,
    /// `top(usize::MAX)`. One of these `n` is certainly among the `n` heaviest if its lower bound
    /// is at least `max_error` and the upper bounds of all keys behind the first `n`.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(10).build()?;
    /// clients.add("acme", 42);
    /// clients.add("initech", 7);
    /// assert_eq!(clients.snapshot().top(1)[0].key, "acme");
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn top(&self, n: usize) -> Vec<Heavy<K>> {
        let weight =
            |(number, known): (usize, Known)| Reverse((known.at_least, known.above, number));
        let mut all: Vec<_> = self.known.values().enumerate().map(weight).collect();
        if n < all.len() {
            all.select_nth_unstable(n);
            all.truncate(n);
        }
        all.sort_unstable();
        let heavy = |Reverse((at_least, above, number))| {
            let Bounds { at_least, at_most } = self.bounds_of(Known { at_least, above });
            Heavy { key: self.known.key(number), at_least, at_most }
        };
        all.into_iter().map(heavy).collect()
    }

    /// Adds another snapshot's weights to this one: of another machine, or of another span.
    ///
    /// The bounds are those of the sums: lower bounds are added, and upper bounds, where a key that
    /// one of the two does not know has at most that one's [`max_error`](Self::max_error) there. So
    /// the greatest error is at most the sum of both: with equal capacities, the common total
    /// divided by the capacity.
    ///
    /// If a comparison of keys panics, this snapshot must not be used any more. The merged snapshot
    /// knows all keys of both. [`truncate`](Self::truncate) bounds their
    /// number.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<str>::builder(10).build()?;
    /// clients.add("acme", 42);
    /// let mut twice = clients.snapshot();
    /// twice.merge(&clients.snapshot());
    /// assert_eq!((twice.total(), twice.bounds("acme").at_least), (84, 84));
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn merge(&mut self, other: &HeavySnapshot<K>) {
        self.floors = self.floors.saturating_add(other.floors);
        self.total = self.total.saturating_add(other.total);
        for (number, theirs) in other.known.values().enumerate() {
            let owned = other.known.key(number);
            let key: &K = owned.borrow();
            let hash = self.random.hash_one(key); // the other's seed may be another
            let ours = self.known.find(hash, key).unwrap_or_else(|| {
                self.known.push(hash, key, UNKNOWN);
                self.known.len() - 1
            });
            let ours = self.known.value_mut(ours);
            ours.at_least = ours.at_least.saturating_add(theirs.at_least);
            ours.above = ours.above.saturating_add(theirs.above);
        }
    }

    /// Forgets all keys but the `n` or so with the greatest upper bounds. The bounds stay
    /// guaranteed: [`max_error`](Self::max_error) rises to the greatest upper bound that is
    /// forgotten.
    ///
    /// For a long sequence of [merges](Self::merge), whose memory it bounds. Keys with the same
    /// upper bound as the first one to be forgotten are forgotten, too.
    ///
    /// ```
    /// let clients = windrow::HeavyKeys::<u64>::builder(10).build()?;
    /// (1..=10).for_each(|client| clients.add(&client, client));
    /// let mut snapshot = clients.snapshot();
    /// snapshot.truncate(2);
    /// assert_eq!((snapshot.top(9).len(), snapshot.max_error()), (2, 8));
    /// assert_eq!(snapshot.bounds(&10).at_least, 10);
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn truncate(&mut self, n: usize) {
        if n >= self.known.len() {
            return;
        }
        let mut above: Vec<Reverse<u64>> =
            self.known.values().map(|known| Reverse(known.above)).collect();
        let Reverse(forgotten) = *above.select_nth_unstable(n).1;
        self.known.retain(|known| known.above > forgotten);
        self.floors = self.floors.saturating_add(forgotten);
        (0..self.known.len()).for_each(|number| self.known.value_mut(number).above -= forgotten);
    }
}

impl<K: Key + ?Sized> Clone for HeavySnapshot<K> {
    fn clone(&self) -> HeavySnapshot<K> {
        let mut clone = HeavySnapshot::new(&self.random);
        clone.merge(self);
        clone
    }
}

/// Shows the total, the greatest error, and the ten keys with the most weight.
impl<K: Key<Owned: Debug> + ?Sized> Debug for HeavySnapshot<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("HeavySnapshot")
            .field("total", &self.total)
            .field("max_error", &self.floors)
            .field("top", &self.top(10))
            .finish_non_exhaustive()
    }
}

impl<K: ToOwned<Owned: Clone> + ?Sized> Clone for Heavy<K> {
    fn clone(&self) -> Heavy<K> {
        Heavy { key: self.key.clone(), ..*self }
    }
}

impl<K: ToOwned<Owned: Debug> + ?Sized> Debug for Heavy<K> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Heavy")
            .field("key", &self.key)
            .field("at_least", &self.at_least)
            .field("at_most", &self.at_most)
            .finish()
    }
}

impl<K: ToOwned<Owned: PartialEq> + ?Sized> PartialEq for Heavy<K> {
    fn eq(&self, other: &Heavy<K>) -> bool {
        let bounds = |heavy: &Heavy<K>| (heavy.at_least, heavy.at_most);
        self.key == other.key && bounds(self) == bounds(other)
    }
}

impl<K: ToOwned<Owned: Eq> + ?Sized> Eq for Heavy<K> {}
