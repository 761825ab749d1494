//! The index: finds a key's cell, whatever the number of keys.
//!
//! Hash tables in shards, each behind a lock of its own, which a look-up takes as a reader. Only a
//! new key, and a look for idle ones, takes it alone, for a moment. An export does not use the
//! index: so no known key waits for it.
//!
//! The hash has [secrets](crate::secret) of the recorder, so keys that were chosen for their hash
//! gain nothing. Two keys may have one hash all the same: the second one is at the next number.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use metrics::Key;

use crate::secret::Secret;

/// The keys of a shard, on the average, of a recorder that has all that it may have.
const KEYS: usize = 2_048;

/// The shards of a recorder, however many keys it may have.
const FEWEST: usize = 16;
const MOST: usize = 4_096;

/// All keys of one kind that have a cell.
pub(crate) struct Index<T> {
    secret: Secret,
    shards: Box<[Shard<T>]>,
}

/// A lock and its keys, which no other shard's lines are beside.
#[repr(align(64))]
pub(crate) struct Shard<T>(RwLock<Map<T>>);

/// Keys by hash. A key whose hash another one has is at the next number that is free.
pub(crate) struct Map<T>(HashMap<u64, Known<T>, BuildHasherDefault<Spread>>);

/// A key that has a cell.
pub(crate) struct Known<T> {
    /// A key that is cheap to clone.
    key: Key,
    cell: Arc<T>,
    /// The look for idle keys since which no thread could count in the cell, and none has found it.
    /// 0 if there is none.
    quiet_since: AtomicU64,
}

/// The number of references to a cell in which no thread can count: its key's, and its series'.
const OWN: usize = 2;

impl<T> Index<T> {
    pub(crate) fn new(keys: usize) -> Index<T> {
        let shards = (keys / KEYS).clamp(FEWEST, MOST).next_power_of_two();
        let empty = |_| Shard(RwLock::new(Map(HashMap::default())));
        Index { secret: Secret::random(), shards: (0..shards).map(empty).collect() }
    }

    #[inline]
    pub(crate) fn hash(&self, key: &Key) -> u64 {
        self.secret.hash(key)
    }

    /// Returns the shard of a key with this hash.
    #[inline]
    pub(crate) fn shard(&self, hash: u64) -> &Shard<T> {
        &self.shards[(spread(hash) >> 32) as usize & (self.shards.len() - 1)]
    }

    pub(crate) fn shards(&self) -> &[Shard<T>] {
        &self.shards
    }

    /// Returns a known key as it is kept here: cheap to clone.
    pub(crate) fn kept(&self, key: &Key) -> Option<Key> {
        let hash = self.hash(key);
        self.shard(hash).read().get(hash, key).map(|known| known.key.clone())
    }
}

impl<T> Shard<T> {
    #[inline]
    pub(crate) fn read(&self) -> RwLockReadGuard<'_, Map<T>> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn write(&self) -> RwLockWriteGuard<'_, Map<T>> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cell of a key.
    #[inline]
    pub(crate) fn find(&self, hash: u64, key: &Key) -> Option<Arc<T>> {
        let map = self.read();
        let known = map.get(hash, key)?;
        // Relaxed: it is read under the lock for writing.
        if known.quiet_since.load(Ordering::Relaxed) != 0 {
            known.quiet_since.store(0, Ordering::Relaxed);
        }
        Some(Arc::clone(&known.cell))
    }
}

impl<T> Map<T> {
    #[inline]
    fn get(&self, hash: u64, key: &Key) -> Option<&Known<T>> {
        (hash..).map_while(|at| self.0.get(&at)).find(|known| same(&known.key, key))
    }

    /// Adds a key that is not there.
    pub(crate) fn insert(&mut self, hash: u64, key: Key, cell: Arc<T>) {
        let mut at = hash;
        while self.0.contains_key(&at) {
            at += 1;
        }
        self.0.insert(at, Known { key, cell, quiet_since: AtomicU64::new(0) });
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Adds to `quiet` the keys that are quiet at this look as at an earlier one, with their
    /// places, while it has room. Notes at the others whether they are quiet.
    pub(crate) fn quiet(&mut self, look: u64, quiet: &mut Vec<(u64, Key)>) {
        for (at, known) in &mut self.0 {
            if known.has_been_quiet(look) && quiet.len() < quiet.capacity() {
                quiet.push((*at, known.key.clone()));
            }
        }
    }

    /// Removes the key at a place, if it is still quiet. One with another key behind it stays: the
    /// other one may be found through it.
    pub(crate) fn remove(&mut self, at: u64, look: u64) -> Option<Known<T>> {
        let is_last = !self.0.contains_key(&(at + 1));
        if is_last && self.0.get_mut(&at)?.has_been_quiet(look) { self.0.remove(&at) } else { None }
    }
}

impl<T> Known<T> {
    /// Notes whether the key is quiet at this look. Returns whether it was at an earlier one, too.
    fn has_been_quiet(&mut self, look: u64) -> bool {
        let since = self.quiet_since.get_mut();
        if Arc::strong_count(&self.cell) != OWN {
            *since = 0;
        } else if *since == 0 {
            *since = look;
        }
        *since != 0 && *since < look
    }
}

/// Returns whether two keys are equal. Keys of one macro call are the same static, and need no
/// comparison of their letters.
#[inline]
pub(crate) fn same(one: &Key, other: &Key) -> bool {
    let static_parts = ptr::eq(one.name(), other.name())
        && ptr::eq(one.labels().as_slice(), other.labels().as_slice());
    static_parts || alike(one, other)
}

/// Returns whether two keys have the same letters. The facade's comparison sorts three labels and
/// more: it is left for keys that have the same ones in another order.
fn alike(one: &Key, other: &Key) -> bool {
    let labels = one.labels().as_slice();
    if labels.len() < 3 || one.get_hash() != other.get_hash() {
        return one == other;
    }
    let others = other.labels().as_slice();
    match labels.iter().zip(others).find(|(label, other)| label != other) {
        None => labels.len() == others.len() && one.name() == other.name(),
        Some((label, _)) => others.contains(label) && one == other,
    }
}

/// Spreads a hash below 2^61 over all bits: a table uses the highest and the lowest ones.
#[inline]
fn spread(hash: u64) -> u64 {
    hash.wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

/// Hashes a number that is a hash already.
#[derive(Default)]
pub(crate) struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are `u64`");
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = spread(hash);
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::iter;

    use metrics::Label;

    use super::*;
    use crate::counter::CounterCell;
    use crate::secret::chosen;

    fn key(n: usize) -> Key {
        Key::from_parts("x", vec![Label::new("user", n.to_string())])
    }

    /// Returns the number of keys that a look-up of each key compares.
    fn compared(map: &Map<CounterCell>, hash: u64, key: &Key) -> usize {
        let passed = |at: &u64| map.0.get(at).is_some_and(|known| !same(&known.key, key));
        1 + (hash..=u64::MAX).take_while(passed).count()
    }

    /// Adds keys to an index, and by their hashes to one map, where each look-up must compare one
    /// key. Returns the greatest number of keys in a shard.
    fn crowd(index: &Index<CounterCell>, keys: impl Iterator<Item = Key>) -> usize {
        let (mut map, mut all) = (Map(HashMap::default()), Vec::new());
        for key in keys {
            let hash = index.hash(&key);
            map.insert(hash, key.clone(), Arc::default());
            index.shard(hash).write().insert(hash, key.clone(), Arc::default());
            all.push(key);
        }
        assert!(all.iter().all(|key| compared(&map, index.hash(key), key) == 1));
        index.shards().iter().map(|shard| shard.read().len()).max().unwrap_or(0)
    }

    #[test]
    fn keys_that_are_chosen_for_their_hash_are_as_far_apart_as_any() {
        // A thousand keys on 16 shards: 62 each. More than 120 on one have a chance of 10^-10.
        let homes: [fn(u64) -> u64; 4] =
            [|_| 7, |hash| hash & 0x3FF, |hash| hash >> 54, |hash| spread(hash) >> 32 & 0x3FF];
        for home in homes {
            let keys = (0..).map(key).filter(|key| home(key.get_hash()) == 7);
            let most = crowd(&Index::new(1), keys.take(1_000));
            assert!(most <= 120, "{most}");
        }
        // 32 on 16 shards: more than 20 on one have a chance of 10^-15.
        let most = crowd(&Index::new(1), chosen::keys());
        assert!(most <= 20, "{most}");
    }

    #[test]
    fn keys_are_equal_in_any_order_of_their_labels_and_in_no_other_case() {
        let of = |values: [&str; 4]| {
            let labels = ["a", "b", "c", "d"].into_iter().zip(values);
            labels.map(|(name, value)| Label::new(name, value.to_owned())).collect::<Vec<_>>()
        };
        let key = |mut labels: Vec<Label>, len: usize, by: usize| {
            labels.truncate(len);
            labels.rotate_left(by);
            Key::from_parts("x", labels)
        };
        for len in 1..=4 {
            let one = key(of(["1", "2", "3", "4"]), len, 0);
            for by in 0..len {
                assert!(same(&one, &key(of(["1", "2", "3", "4"]), len, by)), "{len} {by}");
                assert!(!same(&one, &key(of(["2", "1", "3", "4"]), len, by)), "{len} {by}");
            }
        }
        let named = |name: &'static str| Key::from_parts(name, of(["1", "2", "3", "4"]));
        assert!(same(&named("x"), &named("x")) && !same(&named("x"), &named("y")));
        let all: Vec<Key> = chosen::keys().collect();
        for (n, one) in all.iter().enumerate() {
            assert!(chosen::keys().enumerate().all(|(m, other)| same(one, &other) == (n == m)));
        }
    }

    #[test]
    fn keys_of_one_hash_are_told_apart() {
        let mut map = Map(HashMap::default());
        let cells: Vec<Arc<CounterCell>> = iter::repeat_with(Arc::default).take(100).collect();
        for (n, cell) in cells.iter().enumerate() {
            map.insert(5, key(n), Arc::clone(cell));
        }
        for (n, cell) in cells.iter().enumerate() {
            let known = map.get(5, &key(n)).expect("it was added");
            assert!(Arc::ptr_eq(&known.cell, cell) && same(&known.key, &key(n)));
            assert_eq!(compared(&map, 5, &key(n)), n + 1);
        }
        assert!(map.get(5, &key(100)).is_none() && map.get(4, &key(0)).is_none());
    }

    #[test]
    fn a_key_is_removed_at_a_second_look_unless_another_one_may_be_found_through_it() {
        let mut map = Map(HashMap::default());
        let series: Vec<Arc<CounterCell>> = iter::repeat_with(Arc::default).take(4).collect();
        let keys = [(5, key(0)), (5, key(1)), (5, key(2)), (9, key(3))];
        for ((hash, key), cell) in keys.iter().zip(&series) {
            map.insert(*hash, key.clone(), Arc::clone(cell));
        }
        let mut remove_quiet = |look| {
            let mut quiet = Vec::with_capacity(map.len());
            map.quiet(look, &mut quiet);
            for (at, _) in quiet {
                drop(map.remove(at, look));
            }
            keys.iter().filter(|(hash, key)| map.get(*hash, key).is_some()).count()
        };
        let handle = Arc::clone(&series[2]); // of the last one of three
        assert_eq!([remove_quiet(1), remove_quiet(1)], [4, 4]);
        assert_eq!([remove_quiet(2), remove_quiet(3)], [3, 3]);
        drop(handle);
        assert_eq!(remove_quiet(4), 3);
        // One of them at least at each look: none may be behind it.
        assert!(
            (5..8)
                .map(&mut remove_quiet)
                .is_sorted_by(|before, after| *before == 0 || before > after)
        );
        assert_eq!(remove_quiet(8), 0);
    }

    #[test]
    fn a_key_that_was_found_since_a_look_is_not_quiet() {
        let index = Index::new(1);
        let hash = index.hash(&key(1));
        let series = Arc::<CounterCell>::default();
        let shard = index.shard(hash);
        shard.write().insert(hash, key(1), Arc::clone(&series));
        let mut quiet = Vec::with_capacity(1);
        shard.write().quiet(1, &mut quiet);
        drop(shard.find(hash, &key(1)));
        shard.write().quiet(2, &mut quiet);
        assert!(quiet.is_empty(), "found between the looks");
        shard.write().quiet(3, &mut quiet);
        assert_eq!(quiet, [(hash, key(1))]);
        drop(shard.find(hash, &key(1)));
        assert!(shard.write().remove(hash, 3).is_none(), "found since the last look");
    }

    #[test]
    fn a_shard_has_few_keys_of_however_many() {
        let shards = [(0, 16), (40_000, 32), (100_000, 64), (usize::MAX, MOST)];
        for (keys, expected) in shards {
            assert_eq!(Index::<CounterCell>::new(keys).shards().len(), expected, "{keys}");
        }
    }
}
