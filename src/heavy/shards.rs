//! The shards, and how a read finds one span in all of them.
//!
//! # Theorem
//!
//! 1. Each add is in exactly one summary of one shard, in the bucket of its time, or is late.
//! 2. A read returns what it finds in each bucket of one span and each shard, each at one moment of
//!    the call. Each add to these buckets that happens before the read is found, and none that
//!    begins after it has returned.
//! 3. [`Shards::clear`] has one moment: each add is before it, or after it, and no read sees some
//!    shards before and others after it.
//!
//! # Why
//!
//! An add has the lock of one shard, and does everything under it: 1. A read takes the locks one
//! after the other, and visits a summary under its lock. It first decides on the newest start: that
//! of the clock's time, or the newest that an add has brought, whichever is later. If an add
//! happens before the read, its write of that word does too, and its bucket is not ahead of the
//! read's. A bucket that is missing in a shard has had no add there, unless a later bucket has
//! taken its slot. Then the ring has moved on since the read began, and the read begins again,
//! eight times at most. The ninth time it takes all locks at once, in their order, so that no
//! bucket can be overtaken: 2.
//!
//! A clear has all locks, too, and counts itself under them. A read that has seen a shard after it
//! finds the number changed, by the lock, and begins again: 3. The number and the newest start need
//! no order of their own: a thread that has to see them comes after, by a lock or by the caller's
//! order.
//!
//! No thread waits for a lock while it holds another, except those that take all of them in one
//! order, and the clock is read before: so none waits for ever.

use std::hash::BuildHasher;

use crossbeam_utils::CachePadded;
use foldhash::quality::RandomState;

use super::key::Key;
use super::lock::Lock;
use super::shard::{Common, Found, Shard};
use super::summary::Summary;
use crate::ring::Geometry;
use crate::stripe::shard_choice::Way;
use crate::sync::{AtomicU64, Ordering, sized};

/// The attempts of a read before it takes all locks at once.
const ATTEMPTS: usize = 8;

/// All shards.
pub(super) struct Shards<K: Key + ?Sized> {
    random: RandomState,
    common: Common,
    /// The way to the number of the shard that an add tries first.
    way: Way,
    all: Box<[CachePadded<Lock<Shard<K>>>]>,
    /// The number of clears. Written under all locks.
    clears: AtomicU64,
}

/// The number of shards beside those for the rows: for a thread that finds its own shard locked.
const SPARE: usize = sized(1, 0);

/// Returns the number of shards for a number of rows.
pub(super) const fn shards_for(rows: usize) -> usize {
    rows.saturating_add(SPARE)
}

impl<K: Key + ?Sized> Shards<K> {
    /// Returns empty shards at a time; `None` if there is no memory for their rings.
    pub(super) fn new(
        count: usize,
        geometry: Geometry,
        tiers: &[Geometry],
        capacity: usize,
        now: u64,
    ) -> Option<Shards<K>> {
        let mut shards = Vec::new();
        shards.try_reserve_exact(count).ok()?;
        for _ in 0..count {
            shards.push(CachePadded::new(Lock::new(Shard::new(geometry.buckets(), tiers)?)));
        }
        Some(Shards {
            random: RandomState::default(),
            common: Common {
                geometry,
                tiers: tiers.into(),
                capacity,
                newest: CachePadded::new(AtomicU64::new(geometry.start_of(now))),
            },
            way: Way::new(),
            all: shards.into(),
            clears: AtomicU64::new(0),
        })
    }

    /// Returns the bytes that `count` shards allocate at most.
    pub(super) fn bytes(
        count: usize,
        geometry: Geometry,
        tiers: &[Geometry],
        capacity: usize,
    ) -> usize {
        let ring = size_of::<CachePadded<Lock<Shard<K>>>>();
        let beside = ring.saturating_add(tiers.len() * Shard::<K>::TIER);
        let buckets = tiers.iter().map(|tier| tier.buckets());
        let buckets = buckets.fold(geometry.buckets(), usize::saturating_add);
        let shards =
            count.saturating_mul(beside.saturating_add(Shard::<K>::bytes(buckets, capacity)));
        shards.saturating_add(2 * size_of_val(tiers)) // here, and in `HeavyKeys`
    }

    /// Allocates all memory that the shards will ever need.
    pub(super) fn preallocate(&self) {
        self.all.iter().for_each(|shard| shard.lock().preallocate(self.common.capacity));
    }

    pub(super) fn random(&self) -> &RandomState {
        &self.random
    }

    /// Adds a weight to a key, the part by which it is told apart, in the bucket of a time. Returns
    /// its lower bound in that bucket of one shard.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as `HeavyKeys::add`
    pub(super) fn add(&self, key: &K, weight: u64, at: u64) -> u64 {
        let hash = self.random.hash_one(key);
        let mut number = self.way.spread();
        if number >= self.all.len() {
            number = self.wrapped(number);
        }
        match self.all[number].try_lock() {
            Some(mut shard) => shard.add(&self.common, hash, key, weight, at),
            None => self.add_elsewhere(number, hash, key, weight, at),
        }
    }

    /// Returns the shard for a number beyond all shards.
    #[cold]
    fn wrapped(&self, number: usize) -> usize {
        number % self.all.len()
    }

    /// Adds to the first shard behind `number` that no other thread has locked; if each is locked,
    /// waits for that shard.
    #[cold]
    fn add_elsewhere(&self, number: usize, hash: u64, key: &K, weight: u64, at: u64) -> u64 {
        let (before, behind) = self.all.split_at(number);
        let unlocked = behind.iter().chain(before).find_map(|shard| shard.try_lock());
        let mut shard = unlocked.unwrap_or_else(|| self.all[number].lock());
        shard.add(&self.common, hash, key, weight, at)
    }

    /// Reads the newest buckets that cover `span`: `visit` is called under a lock with each summary
    /// of them, and the start of its bucket. The result begins as `new` returns it, more than once
    /// if the read begins again.
    pub(super) fn read<R>(
        &self,
        now: impl Fn() -> u64,
        span: u64,
        new: impl Fn() -> R,
        visit: impl Fn(&mut R, u64, &Summary<K>),
    ) -> R {
        for _ in 0..sized(ATTEMPTS, 1) {
            let clears = self.clears.load(Ordering::Relaxed); // see the theorem
            let mut read = new();
            let all = self.all.iter();
            let mut found = self.starts(now(), span).map(|start| {
                all.clone().all(|shard| {
                    visit_at(&shard.lock(), self.common.geometry, start, |summary| {
                        visit(&mut read, start, summary);
                    })
                })
            });
            if found.all(|all| all) && self.clears.load(Ordering::Relaxed) == clears {
                return read;
            }
        }
        let now = now(); // before the locks: the clock may be a program's own, with a lock
        let all: Vec<_> = self.all.iter().map(|shard| shard.lock()).collect();
        let mut read = new();
        for start in self.starts(now, span) {
            for shard in &all {
                visit_at(shard, self.common.geometry, start, |summary| {
                    visit(&mut read, start, summary);
                });
            }
        }
        read
    }

    /// Reads all that is known of the time from the start of a tier's bucket on: of the newest
    /// buckets of the tier that cover `span`. It is as [`read`](Self::read) otherwise. A bucket
    /// that leaves the ring meanwhile is found in the tier, so only a later bucket of the tier
    /// overtakes a read.
    pub(super) fn read_tier<R>(
        &self,
        tier: usize,
        now: impl Fn() -> u64,
        span: u64,
        new: impl Fn() -> R,
        visit: impl Fn(&mut R, &Summary<K>),
    ) -> R {
        let geometry = self.common.tiers[tier];
        let ends = |now: u64| {
            // Relaxed: see the theorem.
            let newest =
                self.common.newest.load(Ordering::Relaxed).max(self.common.geometry.start_of(now));
            let newest = geometry.start_of(newest);
            let buckets = span.div_ceil(geometry.length()).min(geometry.buckets() as u64);
            (newest.saturating_sub((buckets - 1) * geometry.length()), newest)
        };
        for _ in 0..sized(ATTEMPTS, 1) {
            let clears = self.clears.load(Ordering::Relaxed); // see the theorem
            let mut read = new();
            let (from, newest) = ends(now());
            let found = self.all.iter().all(|shard| {
                shard.lock().visit_tier(tier, from, newest, |summary| visit(&mut read, summary))
            });
            if found && self.clears.load(Ordering::Relaxed) == clears {
                return read;
            }
        }
        let now = now(); // before the locks: the clock may be a program's own, with a lock
        let all: Vec<_> = self.all.iter().map(|shard| shard.lock()).collect();
        let mut read = new();
        let (from, newest) = ends(now);
        for shard in &all {
            shard.visit_tier(tier, from, newest, |summary| visit(&mut read, summary));
        }
        read
    }

    /// Returns the starts of the newest buckets that cover `span`, the newest first.
    fn starts(&self, now: u64, span: u64) -> impl Iterator<Item = u64> {
        let geometry = self.common.geometry;
        // Relaxed: see the theorem.
        let newest = self.common.newest.load(Ordering::Relaxed).max(geometry.start_of(now));
        let buckets = span.div_ceil(geometry.length()).min(geometry.buckets() as u64);
        let back = move |start: u64| start.checked_sub(geometry.length());
        std::iter::successors(Some(newest), move |start| back(*start)).take(buckets as usize)
    }

    /// Empties all buckets, at one moment, and begins anew at the time `now`.
    pub(super) fn clear(&self, now: u64) {
        let mut all: Vec<_> = self.all.iter().map(|shard| shard.lock()).collect();
        // Relaxed: see the theorem. A read-modify-write is not needed under the locks.
        self.clears.store(self.clears.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        self.common.newest.store(self.common.geometry.start_of(now), Ordering::Relaxed);
        for shard in &mut all {
            shard.clear();
        }
    }

    /// Returns a sum over all shards.
    pub(super) fn sum(&self, part: impl Fn(&Shard<K>) -> u64) -> u64 {
        self.all.iter().map(|shard| part(&shard.lock())).fold(0, u64::saturating_add)
    }
}

/// Visits the summary of a bucket in a shard, if there is one. Returns false if the bucket is
/// overtaken.
fn visit_at<K: Key + ?Sized>(
    shard: &Shard<K>,
    geometry: Geometry,
    start: u64,
    visit: impl FnOnce(&Summary<K>),
) -> bool {
    match shard.find(geometry, start) {
        Found::Summary(summary) => visit(summary),
        Found::Nothing => {}
        Found::Overtaken => return false,
    }
    true
}
