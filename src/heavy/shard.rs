//! A shard: a ring of summaries behind one lock.
//!
//! Each shard turns its own ring: an add that comes with a newer start takes the slot of the bucket
//! that has left, and its memory. So a rotation needs no agreement between shards. The start of the
//! newest bucket of all shards is one word beside them, which only adds that take a slot write.
//!
//! What leaves a slot is added to the shard's tiers, by the same add and under the same lock. So
//! each add that is not late is in one slot of the ring, or in one of each tier. What a shard
//! without adds still has in its ring is found there, however old it is.
//!
//! The slot of the last add stands in the shard itself, and not in the ring: it is *live*. So what
//! an add needs under the lock is three loads away, one behind the other: the index of the table,
//! the number of an entry in it, and the entry. (The loads behind a locked instruction wait for it,
//! so their length counts, and not their number.) In the ring, an empty slot keeps its place.

use std::iter::once;
use std::mem::swap;

use crossbeam_utils::CachePadded;

use super::key::Key;
use super::summary::{Summary, room};
use crate::ring::Geometry;
use crate::sync::{AtomicU64, Ordering};

/// The state of a shard, which a lock protects.
pub(super) struct Shard<K: Key + ?Sized> {
    /// The slot of the last add.
    live: Slot<K>,
    /// All other slots, and an empty one in the place of `live`.
    slots: Box<[Slot<K>]>,
    /// The place of `live`.
    last: usize,
    /// The slots of each tier: what has left the ring, by the tier's buckets.
    tiers: Box<[Box<[Slot<K>]>]>,
    /// Room for the counts of a summary, for evictions.
    counts: Vec<u64>,
    /// The weight of all adds, ever.
    lifetime: u64,
    /// The weight of the adds that no bucket has counted.
    late: u64,
}

/// The place of a bucket in the ring.
struct Slot<K: Key + ?Sized> {
    /// The start of the bucket; `None` before the first one.
    start: Option<u64>,
    /// `None` until the slot is used for the first time.
    summary: Option<Summary<K>>,
}

/// A shard's part of a bucket.
pub(super) enum Found<'s, K: Key + ?Sized> {
    Summary(&'s Summary<K>),
    /// No add of the bucket came to this shard.
    Nothing,
    /// A later bucket has taken the slot.
    Overtaken,
}

/// What all shards have in common.
pub(super) struct Common {
    pub(super) geometry: Geometry,
    pub(super) tiers: Box<[Geometry]>,
    pub(super) capacity: usize,
    /// The start of the newest bucket of all shards.
    pub(super) newest: CachePadded<AtomicU64>,
}

/// One add.
pub(super) struct Add<'k, K: Key + ?Sized> {
    pub(super) hash: u64,
    pub(super) key: &'k K,
    pub(super) weight: u64,
    /// Its time.
    pub(super) at: u64,
}

impl<K: Key + ?Sized> Shard<K> {
    /// The bytes of a tier beside its slots.
    pub(super) const TIER: usize = size_of::<Box<[Slot<K>]>>();

    /// Returns an empty shard; `None` if there is no memory for its rings.
    pub(super) fn new(buckets: usize, tiers: &[Geometry]) -> Option<Shard<K>> {
        let slots = ring(buckets)?;
        let tiers: Option<_> = tiers.iter().map(|tier| ring(tier.buckets())).collect();
        let (live, tiers) = (Slot::EMPTY, tiers?);
        Some(Shard { live, slots, last: 0, tiers, counts: Vec::new(), lifetime: 0, late: 0 })
    }

    /// Returns the bytes that a shard of `buckets` buckets, in all its rings together, allocates at
    /// most.
    pub(super) const fn bytes(buckets: usize, capacity: usize) -> usize {
        let slot = size_of::<Slot<K>>() + Summary::<K>::bytes(capacity);
        buckets.saturating_mul(slot).saturating_add(room(capacity) * size_of::<u64>())
    }

    /// Allocates all memory that the shard will ever need.
    pub(super) fn preallocate(&mut self, capacity: usize) {
        self.counts.reserve_exact(room(capacity));
        for slot in self.all_mut() {
            slot.summary.get_or_insert_with(|| Summary::with_capacity(capacity));
        }
    }

    /// Returns the slots of the ring, and those of the tiers.
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Slot<K>> {
        let (before, behind) = self.slots.split_at_mut(self.last);
        let others = before.iter_mut().chain(&mut behind[1..]);
        once(&mut self.live).chain(others).chain(self.tiers.iter_mut().flatten())
    }

    /// Adds a weight to a key, in the bucket of the add's time. Returns its lower bound there, zero
    /// if the add is late.
    #[inline]
    pub(super) fn add(&mut self, common: &Common, add: Add<'_, K>) -> u64 {
        // Mostly the newest bucket, and that of the last add: then no division is needed. Relaxed:
        // a turn of this shard wrote the word, or one that this add comes after, or it is as if
        // this add had come before.
        let start = common.newest.load(Ordering::Relaxed);
        if self.live.start == Some(start)
            && add.at.wrapping_sub(start) < common.geometry.length()
            && let Some(summary) = &mut self.live.summary
        {
            // First: a user's comparison may panic, and must find nothing changed.
            let found = summary.add_held(add.hash, add.key, add.weight);
            self.lifetime = self.lifetime.saturating_add(add.weight);
            return found.unwrap_or_else(|| self.add_other(common, add));
        }
        self.add_after_turn(common, add)
    }

    /// Adds to a key that the live summary does not hold. It is counted in the lifetime.
    #[inline(never)]
    fn add_other(&mut self, common: &Common, add: Add<'_, K>) -> u64 {
        let summary = self.live.summary.as_mut();
        summary.map_or(0, |summary| {
            summary.add_other(common.capacity, &mut self.counts, add.hash, add.key, add.weight)
        })
    }

    /// Adds as [`add`](Self::add) does, where the live bucket may not be that of the add's time.
    #[cold]
    fn add_after_turn(&mut self, common: &Common, add: Add<'_, K>) -> u64 {
        let weight = add.weight;
        let mut at_least = 0;
        if self.turn(common, add.at) {
            if let Some(summary) = &mut self.live.summary {
                at_least = match summary.add_held(add.hash, add.key, weight) {
                    Some(at_least) => at_least,
                    None => self.add_other(common, add),
                };
            }
        } else {
            self.late = self.late.saturating_add(weight);
        }
        self.lifetime = self.lifetime.saturating_add(weight);
        at_least
    }

    /// Makes the bucket of a time the live one. Returns false if it has left the ring.
    fn turn(&mut self, common: &Common, at: u64) -> bool {
        let Common { geometry, tiers, capacity, newest } = common;
        let start = geometry.start_of(at);
        // Relaxed: a read that comes after this add, by whatever order, loads this value or a later
        // one. The slot's own start is not later: it came by here, under this lock.
        let newest = newest.fetch_max(start, Ordering::Relaxed).max(start);
        if !geometry.in_ring(start, newest) {
            return false;
        }
        self.make_live(geometry.slot_of(start));
        if self.live.start != Some(start) {
            self.counts.reserve_exact(room(*capacity));
            if let (Some(old), Some(left)) = (self.live.start, &self.live.summary) {
                for (tier, slots) in tiers.iter().zip(&mut self.tiers) {
                    let old = tier.start_of(old);
                    slots[tier.slot_of(old)].absorb(old, *capacity, &mut self.counts, left);
                }
            }
            self.live.begin(start, *capacity);
        }
        true
    }

    /// Puts the live slot into its place, and makes another one live.
    fn make_live(&mut self, place: usize) {
        swap(&mut self.live, &mut self.slots[self.last]);
        self.last = place;
        swap(&mut self.live, &mut self.slots[self.last]);
    }

    /// Visits all that the shard has of the time from `from`, the start of a tier's bucket that is
    /// at most `newest`. Returns false if a later bucket of the tier may have taken a slot.
    pub(super) fn visit_tier(
        &self,
        tier: usize,
        from: u64,
        newest: u64,
        mut visit: impl FnMut(&Summary<K>),
    ) -> bool {
        let slots = &self.tiers[tier];
        if slots.iter().any(|slot| slot.start > Some(newest)) {
            return false;
        }
        for slot in once(&self.live).chain(&self.slots).chain(slots) {
            if let (Some(start), Some(summary)) = (slot.start, &slot.summary)
                && start >= from
            {
                visit(summary);
            }
        }
        true
    }

    /// Returns what the shard has of the bucket at `start`.
    pub(super) fn find(&self, geometry: Geometry, start: u64) -> Found<'_, K> {
        let place = geometry.slot_of(start);
        let slot = if place == self.last { &self.live } else { &self.slots[place] };
        match (slot.start, &slot.summary) {
            (Some(there), Some(summary)) if there == start => Found::Summary(summary),
            (Some(there), _) if there > start => Found::Overtaken,
            _ => Found::Nothing,
        }
    }

    /// Empties all buckets, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.all_mut().for_each(|slot| slot.start = None);
    }

    pub(super) fn lifetime(&self) -> u64 {
        self.lifetime
    }

    pub(super) fn late(&self) -> u64 {
        self.late
    }
}

/// Returns the slots of a ring; `None` if there is no memory for them.
fn ring<K: Key + ?Sized>(buckets: usize) -> Option<Box<[Slot<K>]>> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(buckets).ok()?;
    slots.extend((0..buckets).map(|_| Slot::EMPTY));
    Some(slots.into_boxed_slice())
}

impl<K: Key + ?Sized> Slot<K> {
    const EMPTY: Slot<K> = Slot { start: None, summary: None };

    /// Empties the slot for the bucket at `start`, and returns its summary.
    fn begin(&mut self, start: u64, capacity: usize) -> &mut Summary<K> {
        let summary = self.summary.get_or_insert_with(|| Summary::with_capacity(capacity));
        summary.clear();
        self.start = Some(start);
        summary
    }

    /// Adds what has left a finer ring to the bucket at `start`, unless a later bucket has the
    /// slot.
    fn absorb(&mut self, start: u64, capacity: usize, counts: &mut Vec<u64>, left: &Summary<K>) {
        match (self.start, &mut self.summary) {
            (Some(there), Some(summary)) if there == start => {
                summary.absorb(capacity, counts, left);
            }
            (Some(there), _) if there > start => {}
            _ => self.begin(start, capacity).absorb(capacity, counts, left),
        }
    }
}
