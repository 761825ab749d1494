//! The handles of a thread, by key: with them a macro call takes no lock and touches no shared
//! cache line.
//!
//! A table of few sets, each with [`WAYS`] slots: a key's hash says in which set it may be. A key
//! that is not there is found in the registry's [index](crate::index). If its set is full, each
//! [`PATIENCE`]th such key takes the place of another one: so keys that are used often come in, and
//! many keys that are each used seldom cost no handle each. The memory of a thread is bounded.
//!
//! `metrics` hashes keys in a known way, and a secret of the thread says in which sets the hashes
//! are. Keys with equal hashes share a set, whatever the secret: they displace each other and a few
//! more, which all are in the index.
//!
//! Slots carry the number of their recorder. Numbers are never used twice, so a handle of a dropped
//! recorder is never found; it keeps that recorder's cells in memory until its slot is needed, or
//! the thread ends.

use std::cell::RefCell;
use std::hash::{BuildHasher, RandomState};
use std::mem;
use std::sync::Arc;

use metrics::{Counter, Gauge, Histogram, Key};

use crate::counter::CounterCell;
use crate::gauge::GaugeCell;
use crate::histogram::HistogramCell;
use crate::index::same;
use crate::own::Own;
use crate::registry::EPOCH_BITS;

/// The sets of a thread that has used a metric.
const SETS: usize = 48;

/// The slots of a set. Each takes 32 bytes, and its handle 128.
const WAYS: usize = 4;

/// The number of keys of full sets, of which the last one is kept.
const PATIENCE: usize = 128;

/// The length of a name, in bytes, that is kept as described: with its key, no larger than a
/// handle.
pub(crate) const NAME: usize = 56;

/// The handle that a thread keeps for a key.
pub(crate) enum Cached {
    Counter(Arc<Own<CounterCell>>),
    Gauge(Arc<Own<GaugeCell>>),
    Histogram(Arc<Own<HistogramCell>>),
    /// The metric of this name has been described.
    Described(Box<Key>),
}

impl Cached {
    #[inline]
    pub(crate) fn counter(&self, key: &Key) -> Option<Counter> {
        match self {
            Cached::Counter(own) if same(&own.key, key) => Some(Counter::from_arc(Arc::clone(own))),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn gauge(&self, key: &Key) -> Option<Gauge> {
        match self {
            Cached::Gauge(own) if same(&own.key, key) => Some(Gauge::from_arc(Arc::clone(own))),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn histogram(&self, key: &Key) -> Option<Histogram> {
        match self {
            Cached::Histogram(own) if same(&own.key, key) => {
                Some(Histogram::from_arc(Arc::clone(own)))
            }
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn described(&self, key: &Key) -> Option<()> {
        match self {
            Cached::Described(name) if same(name, key) => Some(()),
            _ => None,
        }
    }
}

struct Slot {
    recorder: u64,
    hash: u64,
    cached: Cached,
}

/// Tells that a key is not here, and whether it should be kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Missing {
    pub(crate) keeps: bool,
}

/// The slots of one thread: none at first, then all.
struct Cache {
    slots: Vec<Option<Slot>>,
    /// The number of keys of full sets that were not found.
    turn: usize,
    /// The recorder of the last key that was kept, of those with a changed number.
    newest: u64,
    secret: [u64; 2],
}

impl Cache {
    const EMPTY: Cache = Cache { slots: Vec::new(), turn: 0, newest: 0, secret: [0; 2] };
}

thread_local! {
    static CACHE: RefCell<Cache> = const { RefCell::new(Cache::EMPTY) };
}

/// Returns what this thread has kept for `key` of that recorder, as `pick` returns it. Finds
/// nothing, and keeps nothing, while the thread's destructors run.
#[inline]
pub(crate) fn find<T>(
    recorder: u64,
    key: &Key,
    pick: fn(&Cached, &Key) -> Option<T>,
) -> Result<T, Missing> {
    let find =
        |cache: &RefCell<Cache>| Some(cache.try_borrow_mut().ok()?.find(recorder, key, pick));
    CACHE.try_with(find).ok().flatten().unwrap_or(Err(Missing { keeps: false }))
}

/// Keeps what `find` has not found, by the key's own hash.
pub(crate) fn keep(recorder: u64, hash: u64, cached: Cached) {
    let slot = Slot { recorder, hash, cached };
    let keep = |cache: &RefCell<Cache>| Some(cache.try_borrow_mut().ok()?.keep(slot));
    // Evicted handles are dropped here, when the cache is no longer borrowed.
    drop(CACHE.try_with(keep));
}

impl Cache {
    #[inline]
    fn find<T>(
        &mut self,
        recorder: u64,
        key: &Key,
        pick: fn(&Cached, &Key) -> Option<T>,
    ) -> Result<T, Missing> {
        let hash = key.get_hash();
        let home = self.home(hash);
        // Empty slots are the last ones of a set; no slot is there before the first key.
        for slot in self.slots.get(home..home + WAYS).unwrap_or_default() {
            let Some(slot) = slot else { return Err(Missing { keeps: true }) };
            if slot.hash == hash
                && slot.recorder == recorder
                && let Some(picked) = pick(&slot.cached, key)
            {
                return Ok(picked);
            }
        }
        self.turn = self.turn.wrapping_add(1);
        let keeps = self.slots.is_empty()
            || self.turn.is_multiple_of(PATIENCE)
            || self.newest != recorder && has_changed(recorder);
        Err(Missing { keeps })
    }

    /// Returns the first slot of the set of keys with this hash.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        // All bits of the hash, and of the secret, take part in all bits of one half of the product
        // or of the other.
        let [one, other] = self.secret;
        let product = u128::from(hash ^ one) * u128::from(other);
        let mixed = (product >> 64) as u64 ^ product as u64;
        WAYS * ((u128::from(mixed) * SETS as u128) >> 64) as usize
    }

    /// Keeps a slot; returns the evicted ones.
    fn keep(&mut self, slot: Slot) -> (Vec<Slot>, Option<Slot>) {
        if self.slots.is_empty() {
            let random = |n: u8| RandomState::new().hash_one(n);
            self.secret = [random(0), random(1) | 1];
            self.slots.resize_with(SETS * WAYS, || None);
        }
        let old = self.let_go(slot.recorder);
        let home = self.home(slot.hash);
        let ways = &mut self.slots[home..home + WAYS];
        let way = ways.iter().position(Option::is_none).unwrap_or(self.turn / PATIENCE % WAYS);
        (old, ways[way].replace(slot))
    }

    /// Removes what was kept for a recorder under an earlier number of it.
    fn let_go(&mut self, recorder: u64) -> Vec<Slot> {
        if !has_changed(recorder) || mem::replace(&mut self.newest, recorder) == recorder {
            return Vec::new();
        }
        let is_old = |slot: &mut Slot| {
            slot.recorder != recorder && slot.recorder >> EPOCH_BITS == recorder >> EPOCH_BITS
        };
        let mut gone = Vec::new();
        for ways in self.slots.chunks_exact_mut(WAYS) {
            gone.extend(ways.iter_mut().filter_map(|slot| slot.take_if(is_old)));
            ways.sort_unstable_by_key(Option::is_none);
        }
        gone
    }
}

/// Returns whether a recorder has had another number before.
#[inline]
fn has_changed(recorder: u64) -> bool {
    recorder.trailing_zeros() < EPOCH_BITS
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use metrics::Label;

    use super::*;
    use crate::secret::chosen;

    fn slot(recorder: u64, key: Key) -> Slot {
        let hash = key.get_hash();
        Slot { recorder, hash, cached: Cached::Described(Box::new(key)) }
    }

    fn name(slot: &Slot) -> &Key {
        let Cached::Described(key) = &slot.cached else { panic!("another kind") };
        key
    }

    fn finds(cache: &mut Cache, recorder: u64, key: &Key) -> bool {
        cache.find(recorder, key, Cached::described).is_ok()
    }

    fn key(n: usize) -> Key {
        Key::from_name(format!("metric_{n}"))
    }

    #[test]
    fn a_key_is_found_until_another_one_takes_its_place() {
        let mut cache = Cache::EMPTY;
        let mut kept: HashSet<Key> = HashSet::new();
        for n in 0..2_000 {
            assert!(!finds(&mut cache, 7, &key(n)));
            let (old, gone) = cache.keep(slot(7, key(n)));
            assert!(old.is_empty());
            if let Some(gone) = gone {
                assert!(kept.remove(name(&gone)), "{gone:?} was not kept", gone = name(&gone));
            }
            kept.insert(key(n));
            if n % 97 == 0 {
                assert!(kept.iter().all(|key| finds(&mut cache, 7, key)), "{n}");
                assert!(!kept.iter().any(|key| finds(&mut cache, 8, key)), "another recorder's");
            }
        }
        assert_eq!((kept.len(), cache.slots.len()), (SETS * WAYS, SETS * WAYS));
    }

    #[test]
    fn of_many_keys_few_displace_others() {
        let mut cache = Cache::EMPTY;
        let full = (0..2_000).map(|n| cache.keep(slot(7, key(n)))).count();
        let missing = (0..3_200).map(|n| cache.find(7, &key(full + n), Cached::described));
        let keeps = missing.filter(|missing| *missing == Err(Missing { keeps: true })).count();
        assert_eq!(keeps, 3_200 / PATIENCE);
    }

    #[test]
    fn a_key_that_is_used_often_comes_in() {
        let mut cache = Cache::EMPTY;
        (0..2_000).for_each(|n| drop(cache.keep(slot(7, key(n)))));
        let mut calls = 0;
        while let Err(missing) = cache.find(7, &key(9_999), Cached::described) {
            calls += 1;
            if missing.keeps {
                cache.keep(slot(7, key(9_999)));
            }
        }
        assert!(calls <= PATIENCE, "{calls}");
    }

    #[test]
    fn values_that_are_chosen_for_their_hash_do_not_crowd_a_set() {
        let all =
            || (0_u64..).map(|n| Key::from_parts("x", vec![Label::new("user", n.to_string())]));
        let homes: [fn(u64) -> u64; 2] = [|hash| hash & 0x3FF, |hash| hash >> 54];
        for home in homes {
            let mut cache = Cache::EMPTY;
            for key in all().filter(|key| home(key.get_hash()) == 7).take(1_000) {
                cache.keep(slot(7, key));
            }
            // A set that 1000 keys have left a slot of has a chance of 10^-5.
            assert!(cache.slots.iter().flatten().count() > SETS * WAYS - 8);
        }
    }

    #[test]
    fn keys_of_one_hash_displace_each_other_and_are_told_apart() {
        let mut cache = Cache::EMPTY;
        for key in chosen::keys() {
            assert!(!finds(&mut cache, 7, &key), "{key}");
            cache.keep(slot(7, key.clone()));
            assert!(finds(&mut cache, 7, &key), "{key}");
        }
        assert_eq!(cache.slots.iter().flatten().count(), WAYS);
    }

    #[test]
    fn a_key_is_found_whatever_the_order_of_its_labels() {
        let mut cache = Cache::EMPTY;
        cache.keep(slot(7, Key::from_parts("x", &[("a", "1"), ("b", "2")])));
        assert!(finds(&mut cache, 7, &Key::from_parts("x", &[("b", "2"), ("a", "1")])));
        assert!(!finds(&mut cache, 7, &Key::from_parts("x", &[("b", "1"), ("a", "2")])));
        assert!(!finds(&mut cache, 7, &Key::from_name("x")));
    }

    #[test]
    fn what_was_kept_for_a_recorder_under_another_number_is_let_go() {
        let mut cache = Cache::EMPTY;
        let (one, other) = (5 << EPOCH_BITS, 6 << EPOCH_BITS);
        for n in 0..2_000 {
            cache.keep(slot(one, key(n)));
            cache.keep(slot(other, key(n)));
        }
        let of = |cache: &Cache, recorder| {
            cache.slots.iter().flatten().filter(|slot| slot.recorder == recorder).count()
        };
        let (ones, others) = (of(&cache, one), of(&cache, other));
        let missing = cache.find(one + 1, &key(7), Cached::described);
        assert_eq!(missing, Err(Missing { keeps: true }), "though all sets are full");
        let (gone, displaced) = cache.keep(slot(one + 1, key(7)));
        let others = others - usize::from(displaced.is_some());
        assert_eq!((gone.len(), of(&cache, one), of(&cache, other)), (ones, 0, others));
        assert!(gone.iter().all(|slot| slot.recorder == one));
        assert!(cache.keep(slot(one + 1, key(8))).0.is_empty());
        assert!(finds(&mut cache, one + 1, &key(7)) && !finds(&mut cache, one, &key(8)));
        // What stays is found: no slot before it in its set is empty.
        let kept: Vec<Key> = cache.slots.iter().flatten().map(|slot| name(slot).clone()).collect();
        let found = |key: &&Key| finds(&mut cache, other, key) || finds(&mut cache, one + 1, key);
        assert_eq!(kept.iter().filter(found).count(), kept.len());
    }
}
