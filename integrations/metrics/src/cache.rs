//! The handles of a thread, by key: with them a macro call takes no lock and touches no shared
//! cache line.
//!
//! A table with open addressing: a key's hash says where to begin to look, and a free slot ends the
//! search, or the [`WAYS`] that a key has. It is never more than half full. It grows up to [`MOST`]
//! keys; after that each new one takes the place of some other. So a thread's memory is bounded,
//! and a key that lost its place is found in the registry again.
//!
//! `metrics` hashes keys in a known way. The beginning of a search is decided by that hash and by a
//! secret of the thread: so values that were chosen to collide are as far apart as any. Keys with
//! equal hashes share their ways, and displace each other.
//!
//! Slots carry the number of their recorder. Numbers are never used twice, so a handle of a dropped
//! recorder is never found; it keeps that recorder's cells in memory until its slot is needed, or
//! the thread ends.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::ptr;
use std::sync::Arc;

use metrics::{Counter, Gauge, Histogram, Key};

use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::own::Own;
use crate::registry::EPOCH_BITS;

/// Slots of a thread that has used a metric.
const LEAST: usize = 32;

/// The number of keys that a thread keeps. Each takes two slots of 88 bytes, and a handle of 128.
const MOST: usize = 1024;

/// The number of slots, one after the other, that a key may be in. In a table that is half full,
/// about one key in a hundred thousand would need more.
const WAYS: usize = 32;

/// The handle that a thread keeps for a key.
pub(crate) enum Cached {
    Counter(Arc<Own<CounterCell>>),
    Gauge(Arc<Own<GaugeCell>>),
    Histogram(Arc<Own<HistogramCell>>),
    /// The metric of this name has been described.
    Described,
}

impl Cached {
    pub(crate) fn counter(&self) -> Option<Counter> {
        match self {
            Cached::Counter(own) => Some(Counter::from_arc(Arc::clone(own))),
            _ => None,
        }
    }

    pub(crate) fn gauge(&self) -> Option<Gauge> {
        match self {
            Cached::Gauge(own) => Some(Gauge::from_arc(Arc::clone(own))),
            _ => None,
        }
    }

    pub(crate) fn histogram(&self) -> Option<Histogram> {
        match self {
            Cached::Histogram(own) => Some(Histogram::from_arc(Arc::clone(own))),
            _ => None,
        }
    }

    pub(crate) fn described(&self) -> Option<()> {
        matches!(self, Cached::Described).then_some(())
    }
}

struct Slot {
    recorder: u64,
    key: Key,
    cached: Cached,
}

/// The slots of one thread: none at first, then a power of two.
#[cfg_attr(test, derive(Default))]
struct Cache {
    slots: Vec<Option<Slot>>,
    /// The number of used slots.
    keys: usize,
    /// The position of the search for the next key to evict.
    turn: usize,
    /// The recorder of the last key that was kept.
    newest: u64,
    /// The secret; `None` before the first key.
    seed: Option<[u64; 2]>,
}

thread_local! {
    static CACHE: RefCell<Cache> =
        const { RefCell::new(Cache { slots: Vec::new(), keys: 0, turn: 0, newest: 0, seed: None }) };
}

/// Returns what this thread has kept for `key` of that recorder, if `pick` accepts it. Returns
/// `None` also while the thread's destructors run.
#[inline]
pub(crate) fn find<T>(recorder: u64, key: &Key, pick: fn(&Cached) -> Option<T>) -> Option<T> {
    let find = |cache: &RefCell<Cache>| cache.try_borrow().ok()?.find(recorder, key, pick);
    CACHE.try_with(find).ok().flatten()
}

/// Keeps what `find` has not found. Does nothing while the thread's destructors run.
pub(crate) fn keep(recorder: u64, key: Key, cached: Cached) {
    let slot = Slot { recorder, key, cached };
    let keep = |cache: &RefCell<Cache>| Some(cache.try_borrow_mut().ok()?.keep(slot));
    // Evicted handles are dropped here, when the cache is no longer borrowed: a handle may be the
    // last reference to its recorder.
    drop(CACHE.try_with(keep));
}

impl Cache {
    #[inline]
    fn find<T>(&self, recorder: u64, key: &Key, pick: fn(&Cached) -> Option<T>) -> Option<T> {
        if self.slots.is_empty() {
            return None;
        }
        let mut at = self.home(key);
        for _ in 0..WAYS {
            let slot = self.slots[at].as_ref()?;
            if slot.recorder == recorder
                && same(&slot.key, key)
                && let Some(picked) = pick(&slot.cached)
            {
                return Some(picked);
            }
            at = self.next(at);
        }
        None
    }

    /// Returns where the search for a key begins.
    #[inline]
    fn home(&self, key: &Key) -> usize {
        // All bits of the hash, and of the secret, take part in all bits of one half of the product
        // or of the other.
        let [one, other] = self.seed.unwrap_or_default();
        let product = u128::from(key.get_hash() ^ one) * u128::from(other);
        ((product >> 64) as u64 ^ product as u64) as usize & (self.slots.len() - 1)
    }

    #[inline]
    fn next(&self, at: usize) -> usize {
        (at + 1) & (self.slots.len() - 1)
    }

    /// Inserts a slot; returns the evicted slots.
    fn keep(&mut self, slot: Slot) -> Vec<Slot> {
        let random = |n: u64| RandomState::new().hash_one(n);
        self.seed.get_or_insert_with(|| [random(0), random(1) | 1]);
        let mut gone = self.let_go(slot.recorder);
        gone.extend(if self.keys == MOST { self.remove_some() } else { None });
        if 2 * (self.keys + 1) > self.slots.len() {
            let size = (2 * self.slots.len()).max(LEAST);
            let before = mem::take(&mut self.slots);
            self.slots.resize_with(size, || None);
            self.keys = 0;
            for slot in before.into_iter().flatten() {
                gone.extend(self.put(slot));
            }
        }
        gone.extend(self.put(slot));
        gone
    }

    /// Removes the handles kept for a recorder under an earlier number of it.
    fn let_go(&mut self, recorder: u64) -> Vec<Slot> {
        let is_first = recorder.trailing_zeros() >= EPOCH_BITS; // it had no number before
        if mem::replace(&mut self.newest, recorder) == recorder || is_first {
            return Vec::new();
        }
        let is_old = |slot: &Slot| {
            slot.recorder != recorder && slot.recorder >> EPOCH_BITS == recorder >> EPOCH_BITS
        };
        if !self.slots.iter().flatten().any(is_old) {
            return Vec::new();
        }
        let size = self.slots.len();
        let before = mem::take(&mut self.slots);
        self.slots.resize_with(size, || None);
        self.keys = 0;
        let (mut gone, kept): (Vec<Slot>, Vec<Slot>) =
            before.into_iter().flatten().partition(is_old);
        for slot in kept {
            gone.extend(self.put(slot));
        }
        gone
    }

    /// Puts a slot into the first free way of its key, or replaces another slot in them; returns
    /// the evicted slot.
    fn put(&mut self, slot: Slot) -> Option<Slot> {
        let home = self.home(&slot.key);
        let mut at = home;
        for _ in 0..WAYS {
            if self.slots[at].is_none() {
                self.slots[at] = Some(slot);
                self.keys += 1;
                return None;
            }
            at = self.next(at);
        }
        self.turn = self.next(self.turn);
        let at = (home + self.turn % WAYS) & (self.slots.len() - 1);
        self.slots[at].replace(slot)
    }

    /// Removes a key, and closes the gap, so that no search ends at it before its key.
    fn remove_some(&mut self) -> Option<Slot> {
        self.turn &= self.slots.len() - 1;
        while self.slots[self.turn].is_none() {
            self.turn = self.next(self.turn);
        }
        let mut gap = self.turn;
        self.turn = self.next(gap);
        let gone = self.slots[gap].take();
        let mut at = self.next(gap);
        while let Some(slot) = &self.slots[at] {
            let mask = self.slots.len() - 1;
            let from_home = at.wrapping_sub(self.home(&slot.key)) & mask;
            if from_home >= at.wrapping_sub(gap) & mask {
                self.slots[gap] = self.slots[at].take();
                gap = at;
            }
            at = self.next(at);
        }
        self.keys -= 1;
        gone
    }
}

/// Returns whether two keys are equal. Keys of one macro call are the same static, and need no
/// comparison of their letters.
#[inline]
fn same(one: &Key, other: &Key) -> bool {
    let static_parts = ptr::eq(one.name(), other.name())
        && ptr::eq(one.labels().as_slice(), other.labels().as_slice());
    static_parts || one == other
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use metrics::Label;

    use super::*;

    fn slot(key: Key) -> Slot {
        Slot { recorder: 7, key, cached: Cached::Described }
    }

    fn finds(cache: &Cache, recorder: u64, key: &Key) -> bool {
        cache.find(recorder, key, Cached::described).is_some()
    }

    fn key(n: usize) -> Key {
        Key::from_name(format!("metric_{n}"))
    }

    /// Returns 99 % of `all`, or four fewer, if that is less. Secrets are random, and a key in a
    /// hundred thousand finds its ways taken: in 20 000 caches of 1024 keys three were the most.
    fn nearly(all: usize) -> usize {
        all.saturating_sub((all / 100).max(4))
    }

    #[test]
    fn a_cache_keeps_its_keys_while_it_grows() {
        let mut cache = Cache::default();
        for n in 0..MOST {
            cache.keep(slot(key(n)));
            let found = (0..=n).rev().step_by(7).filter(|m| finds(&cache, 7, &key(*m))).count();
            assert!(found >= nearly(n / 7 + 1), "{found} of every seventh of {n}");
        }
        let found = (0..MOST).filter(|n| finds(&cache, 7, &key(*n))).count();
        assert!(found >= nearly(MOST), "{found}");
        assert!(!finds(&cache, 8, &key(1)), "another recorder's");
        assert!(!finds(&cache, 7, &key(MOST)));
        assert_eq!(cache.slots.len(), 2 * MOST);
    }

    #[test]
    fn a_full_cache_gives_up_one_key_for_each_new_one() {
        let mut cache = Cache::default();
        let mut kept: HashSet<usize> = HashSet::new();
        for n in 0..5 * MOST {
            for gone in cache.keep(slot(key(n))) {
                let gone = gone.key.name().trim_start_matches("metric_").parse().expect("a number");
                assert!(kept.remove(&gone), "{gone} was not kept");
            }
            kept.insert(n);
            let most = (n + 1).min(MOST);
            assert!((nearly(most)..=most).contains(&kept.len()), "{} of {most}", kept.len());
            if n % 97 == 0 {
                assert!(kept.iter().all(|kept| finds(&cache, 7, &key(*kept))), "{n}");
            }
        }
        assert_eq!((cache.keys, cache.slots.len()), (kept.len(), 2 * MOST));
    }

    /// Returns the distance of each key from the place where a search for it begins.
    fn distances(cache: &Cache) -> impl Iterator<Item = usize> {
        let full =
            cache.slots.iter().enumerate().filter_map(|(at, slot)| Some((at, slot.as_ref()?)));
        full.map(|(at, slot)| at.wrapping_sub(cache.home(&slot.key)) & (cache.slots.len() - 1))
    }

    /// Returns values whose searches begin at one place, in a table that takes the hash as it is,
    /// or mixes it in a known way.
    fn chosen(mut from: impl Iterator<Item = Key>, home: fn(u64) -> u64) -> Vec<Key> {
        let mut keys = Vec::new();
        while keys.len() < 1_000 {
            keys.extend(from.next().filter(|key| home(key.get_hash()) == 7));
        }
        keys
    }

    #[test]
    fn values_that_are_chosen_for_their_hash_gain_nothing() {
        let all =
            || (0_u64..).map(|n| Key::from_parts("x", vec![Label::new("user", n.to_string())]));
        let homes: [fn(u64) -> u64; 2] =
            [|hash| hash & 2_047, |hash| (hash.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) & 2_047];
        for home in homes {
            let (keys, mut cache) = (chosen(all(), home), Cache::default());
            for key in &keys {
                cache.keep(slot(key.clone()));
            }
            assert!(distances(&cache).all(|distance| distance < WAYS));
            let found = keys.iter().filter(|key| finds(&cache, 7, key)).count();
            assert!(found >= nearly(1_000), "{found} of 1000 are kept");
        }
    }

    #[test]
    fn keys_of_one_hash_take_no_more_than_their_ways() {
        // As if their hashes were equal.
        let mut cache = Cache { seed: Some([0, 0]), ..Cache::default() };
        for n in 0..1_000 {
            cache.keep(slot(key(n)));
        }
        assert!(distances(&cache).all(|distance| distance < WAYS));
        assert_eq!(distances(&cache).count(), WAYS);
    }

    #[test]
    fn a_key_is_found_whatever_the_order_of_its_labels() {
        let mut cache = Cache::default();
        cache.keep(slot(Key::from_parts("x", &[("a", "1"), ("b", "2")])));
        assert!(finds(&cache, 7, &Key::from_parts("x", &[("b", "2"), ("a", "1")])));
        assert!(!finds(&cache, 7, &Key::from_parts("x", &[("b", "1"), ("a", "2")])));
        assert!(!finds(&cache, 7, &Key::from_name("x")));
    }

    #[test]
    fn what_was_kept_for_a_recorder_under_another_number_is_let_go() {
        let mut cache = Cache::default();
        let (one, other) = (5 << EPOCH_BITS, 6 << EPOCH_BITS);
        let of = |recorder, n| Slot { recorder, ..slot(key(n)) };
        for n in 0..100 {
            cache.keep(of(one, n));
            cache.keep(of(other, n));
        }
        let gone = cache.keep(of(one + 1, 7));
        assert_eq!(gone.len(), 100);
        assert!(gone.iter().all(|slot| slot.recorder == one));
        assert!(cache.keep(of(one + 1, 8)).is_empty());
        assert!(finds(&cache, one + 1, &key(7)) && !finds(&cache, one, &key(8)));
        assert!((0..100).all(|n| finds(&cache, other, &key(n))));
        assert_eq!(cache.keys, 102);
    }

    #[test]
    fn a_slot_is_as_large_as_is_said() {
        assert!(size_of::<Option<Slot>>() <= 88, "{}", size_of::<Option<Slot>>());
    }
}
