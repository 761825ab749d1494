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
    /// The weight of the adds in buckets that have left the ring, or were cleared.
    left: u64,
    /// The weight of the adds that no bucket has counted.
    late: u64,
}

/// The place of a bucket in the ring.
struct Slot<K: Key + ?Sized> {
    /// The start of the bucket.
    start: u64,
    /// The length of the bucket; zero if there is none. So one comparison checks both that there is
    /// a bucket and that it contains a time.
    length: u64,
    /// Not made until the slot is used for the first time.
    summary: Summary<K>,
}

/// A shard's part of a bucket.
pub(super) enum Found<'s, K: Key + ?Sized> {
    Summary(&'s Summary<K>),
    /// No add of the bucket came to this shard.
    Nothing,
    /// A later bucket has taken the slot.
    Overtaken,
}

/// The settings of all shards, and the word that they share.
pub(super) struct Common {
    pub(super) geometry: Geometry,
    pub(super) tiers: Box<[Geometry]>,
    pub(super) capacity: usize,
    /// The start of the newest bucket of all shards.
    pub(super) newest: CachePadded<AtomicU64>,
}

impl<K: Key + ?Sized> Shard<K> {
    /// The bytes of a tier beside its slots.
    pub(super) const TIER: usize = size_of::<Box<[Slot<K>]>>();

    /// Returns an empty shard; `None` if there is no memory for its rings.
    pub(super) fn new(buckets: usize, tiers: &[Geometry]) -> Option<Shard<K>> {
        let slots = ring(buckets)?;
        let tiers: Option<_> = tiers.iter().map(|tier| ring(tier.buckets())).collect();
        let (live, tiers) = (Slot::empty(), tiers?);
        Some(Shard { live, slots, last: 0, tiers, counts: Vec::new(), left: 0, late: 0 })
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
            slot.summary.make(capacity);
        }
    }

    /// Returns the slots of the ring.
    fn ring(&self) -> impl Iterator<Item = &Slot<K>> {
        once(&self.live).chain(&self.slots)
    }

    /// Returns the slots of the ring, and those of the tiers.
    fn all_mut(&mut self) -> impl Iterator<Item = &mut Slot<K>> {
        let (before, behind) = self.slots.split_at_mut(self.last);
        let others = before.iter_mut().chain(&mut behind[1..]);
        once(&mut self.live).chain(others).chain(self.tiers.iter_mut().flatten())
    }

    /// Adds a weight to a key, in the bucket of the add's time. Returns its lower bound there, zero
    /// if the add is late.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `HeavyKeys::add`
    pub(super) fn add(&mut self, common: &Common, hash: u64, key: &K, weight: u64, at: u64) -> u64 {
        // Mostly this is the newest bucket, which is also that of the last add: then no division is
        // needed. Relaxed: the load finds each turn of this shard, and each turn that this add
        // comes after. If it misses another turn, it is as if this add had come before that turn.
        let start = common.newest.load(Ordering::Relaxed);
        if self.live.start == start && self.live.contains(at) {
            let held = self.live.summary.add_held(hash, key, weight);
            return held.unwrap_or_else(|| self.add_other(common, hash, key, weight));
        }
        self.add_after_turn(common, hash, key, weight, at)
    }

    /// Adds to a key that the live summary does not hold.
    #[inline(never)]
    fn add_other(&mut self, common: &Common, hash: u64, key: &K, weight: u64) -> u64 {
        self.live.summary.add_other(common.capacity, &mut self.counts, hash, key, weight)
    }

    /// Adds as [`add`](Self::add) does, where the live bucket may not be that of the add's time.
    #[cold]
    fn add_after_turn(&mut self, common: &Common, hash: u64, key: &K, weight: u64, at: u64) -> u64 {
        if !self.turn(common, at) {
            self.late = self.late.saturating_add(weight);
            return 0;
        }
        let held = self.live.summary.add_held(hash, key, weight);
        held.unwrap_or_else(|| self.add_other(common, hash, key, weight))
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
        if self.live.start() != Some(start) {
            self.counts.reserve_exact(room(*capacity));
            if let Some(old) = self.live.start() {
                let left = &self.live.summary;
                self.left = self.left.saturating_add(left.total());
                for (tier, slots) in tiers.iter().zip(&mut self.tiers) {
                    let old = tier.start_of(old);
                    let slot = &mut slots[tier.slot_of(old)];
                    slot.absorb(tier, old, *capacity, &mut self.counts, left);
                }
            }
            self.live.begin(geometry, start, *capacity);
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
        if slots.iter().any(|slot| slot.start() > Some(newest)) {
            return false;
        }
        for slot in self.ring().chain(slots) {
            if slot.start() >= Some(from) {
                visit(&slot.summary);
            }
        }
        true
    }

    /// Returns what the shard has of the bucket at `start`.
    pub(super) fn find(&self, geometry: Geometry, start: u64) -> Found<'_, K> {
        let place = geometry.slot_of(start);
        let slot = if place == self.last { &self.live } else { &self.slots[place] };
        match slot.start() {
            Some(there) if there == start => Found::Summary(&slot.summary),
            Some(there) if there > start => Found::Overtaken,
            _ => Found::Nothing,
        }
    }

    /// Empties all buckets, and keeps their memory.
    pub(super) fn clear(&mut self) {
        self.left = self.ring_total().saturating_add(self.left);
        self.all_mut().for_each(|slot| slot.length = 0);
    }

    /// Returns the weight of all adds, ever.
    pub(super) fn lifetime(&self) -> u64 {
        self.ring_total().saturating_add(self.left).saturating_add(self.late)
    }

    fn ring_total(&self) -> u64 {
        let buckets = self.ring().filter(|slot| slot.start().is_some());
        buckets.map(|slot| slot.summary.total()).fold(0, u64::saturating_add)
    }

    pub(super) fn late(&self) -> u64 {
        self.late
    }
}

/// Returns the slots of a ring; `None` if there is no memory for them.
fn ring<K: Key + ?Sized>(buckets: usize) -> Option<Box<[Slot<K>]>> {
    let mut slots = Vec::new();
    slots.try_reserve_exact(buckets).ok()?;
    slots.extend((0..buckets).map(|_| Slot::empty()));
    Some(slots.into_boxed_slice())
}

impl<K: Key + ?Sized> Slot<K> {
    fn empty() -> Slot<K> {
        Slot { start: 0, length: 0, summary: Summary::unmade() }
    }

    /// Returns the start of the bucket, if there is one.
    fn start(&self) -> Option<u64> {
        (self.length > 0).then_some(self.start)
    }

    /// Returns whether there is a bucket, and a time lies in it.
    #[inline]
    fn contains(&self, at: u64) -> bool {
        // For a time before the start the difference wraps. It is then at least the start's
        // distance from the end of time, which no length exceeds.
        at.wrapping_sub(self.start) < self.length
    }

    /// Empties the slot for the bucket at `start`.
    fn begin(&mut self, geometry: &Geometry, start: u64, capacity: usize) {
        self.summary.make(capacity);
        self.summary.clear();
        (self.start, self.length) = (start, geometry.length_at(start));
    }

    /// Adds what has left a finer ring to the bucket at `start`, unless a later bucket has the
    /// slot.
    fn absorb(
        &mut self,
        tier: &Geometry,
        start: u64,
        capacity: usize,
        counts: &mut Vec<u64>,
        left: &Summary<K>,
    ) {
        if self.start() > Some(start) {
            return;
        }
        if self.start() < Some(start) {
            self.begin(tier, start, capacity);
        }
        self.summary.absorb(capacity, counts, left);
    }
}
