//! A shard: a ring of summaries behind one lock.
//!
//! Each shard turns its own ring: an add that comes with a newer start takes the slot of the bucket
//! that has left, and its memory. So a rotation needs no agreement between shards. The start of the
//! newest bucket of all shards is one word beside them, which only adds that take a slot write.

use super::key::Key;
use super::summary::{Summary, room};
use crate::ring::Geometry;
use crate::sync::{AtomicU64, Ordering};

/// The state of a shard, which a lock protects.
pub(super) struct Shard<K: Key + ?Sized> {
    slots: Box<[Slot<K>]>,
    /// The slot of the last add.
    last: usize,
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

/// One add.
pub(super) struct Add<'k, K: Key + ?Sized> {
    pub(super) hash: u64,
    pub(super) key: &'k K,
    pub(super) weight: u64,
    /// Its time.
    pub(super) at: u64,
}

impl<K: Key + ?Sized> Shard<K> {
    /// Returns an empty shard; `None` if there is no memory for its ring.
    pub(super) fn new(buckets: usize) -> Option<Shard<K>> {
        let mut slots = Vec::new();
        slots.try_reserve_exact(buckets).ok()?;
        slots.extend((0..buckets).map(|_| Slot { start: None, summary: None }));
        let slots = slots.into_boxed_slice();
        Some(Shard { slots, last: 0, counts: Vec::new(), lifetime: 0, late: 0 })
    }

    /// Returns the bytes that a shard of `buckets` buckets allocates at most.
    pub(super) const fn bytes(buckets: usize, capacity: usize) -> usize {
        let slot = size_of::<Slot<K>>() + Summary::<K>::bytes(capacity);
        buckets.saturating_mul(slot).saturating_add(room(capacity) * size_of::<u64>())
    }

    /// Allocates all memory that the shard will ever need.
    pub(super) fn preallocate(&mut self, capacity: usize) {
        self.counts.reserve_exact(room(capacity));
        for slot in &mut self.slots {
            slot.summary.get_or_insert_with(|| Summary::with_capacity(capacity));
        }
    }

    /// Adds a weight to a key, in the bucket of the add's time. Returns its lower bound there, zero
    /// if the add is late. `newest` is the start of the newest bucket of all shards.
    #[inline]
    pub(super) fn add(
        &mut self,
        geometry: Geometry,
        capacity: usize,
        newest: &AtomicU64,
        add: &Add<'_, K>,
    ) -> u64 {
        // Mostly the newest bucket, and that of the last add: then no division is needed. Relaxed:
        // a turn of this shard wrote the word, or one that this add comes after, or it is as if
        // this add had come before.
        let start = newest.load(Ordering::Relaxed);
        let is_there = self.slots[self.last].start == Some(start)
            && add.at.wrapping_sub(start) < geometry.length();
        let mut at_least = 0;
        if is_there || self.turn(geometry, capacity, newest, add.at) {
            if let Some(summary) = &mut self.slots[self.last].summary {
                at_least = summary.add(capacity, &mut self.counts, add.hash, add.key, add.weight);
            }
        } else {
            self.late = self.late.saturating_add(add.weight);
        }
        self.lifetime = self.lifetime.saturating_add(add.weight);
        at_least
    }

    /// Makes the bucket of a time that of the last add. Returns false if it has left the ring.
    #[cold]
    fn turn(&mut self, geometry: Geometry, capacity: usize, newest: &AtomicU64, at: u64) -> bool {
        let start = geometry.start_of(at);
        // Relaxed: a read that comes after this add, by whatever order, loads this value or a later
        // one. The slot's own start is not later: it came by here, under this lock.
        let newest = newest.fetch_max(start, Ordering::Relaxed).max(start);
        if !geometry.in_ring(start, newest) {
            return false;
        }
        self.last = geometry.slot_of(start);
        let slot = &mut self.slots[self.last];
        if slot.start != Some(start) {
            let summary = slot.summary.get_or_insert_with(|| Summary::with_capacity(capacity));
            summary.clear();
            self.counts.reserve_exact(room(capacity));
            slot.start = Some(start);
        }
        true
    }

    /// Returns what the shard has of the bucket at `start`.
    pub(super) fn find(&self, geometry: Geometry, start: u64) -> Found<'_, K> {
        let slot = &self.slots[geometry.slot_of(start)];
        match (slot.start, &slot.summary) {
            (Some(there), Some(summary)) if there == start => Found::Summary(summary),
            (Some(there), _) if there > start => Found::Overtaken,
            _ => Found::Nothing,
        }
    }

    /// Empties all buckets, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.slots.iter_mut().for_each(|slot| slot.start = None);
    }

    pub(super) fn lifetime(&self) -> u64 {
        self.lifetime
    }

    pub(super) fn late(&self) -> u64 {
        self.late
    }
}
