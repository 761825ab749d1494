//! Prefixes: what all buckets before a boundary have counted through blocks.
//!
//! Blocks are cumulative, so what an interval has counted through blocks is a difference of sums.
//! The live bucket has the prefix of the beginning of the interval that ends with it; a coarse
//! bucket of a tier has the prefix of its own start.
//!
//! # The prefix of the live bucket
//!
//! The sum of all blocks, less the prefix of the live bucket, is what the buckets of its interval
//! have counted through blocks (see `at_once`). The buckets before the interval are closed, so the
//! prefix is constant while the bucket is live. It stands in the cells where the bucket's totals
//! will stand once it is closed. At wide positions it would take memory there for ever, for every
//! group that was ever used; so there it stands in the block, of which there are few.
//!
//! ## Why it is right
//!
//! The thread that rotates from `old` to `new` writes the prefix of `new` while it initialises that
//! bucket. If its compare-exchange of `current` succeeds, `old` was current all the time: it is
//! referred to, so it was not reused, and ranks never go back. So no thread has closed `old` over
//! its own prefix, and no bucket of the interval of `old` has left its slot: only a thread that has
//! found a newer bucket current takes it out. So what this thread has read is right. If the
//! exchange fails, `new` never becomes current, and no thread asks for its prefix.
//!
//! A bucket that left the interval earlier may be reused all the same while a thread looks at its
//! slot: even for the very start that the thread looks for, by a rotation that comes too late and
//! gives the bucket up. So the thread checks its version.
//!
//! ## After a change of geometry
//!
//! As long as buckets or numbers that were taken over are in the interval, each rotation writes the
//! prefix anew: what all blocks had counted before `old` was opened, less what is in the interval.
//! Of inherited buckets that is their totals. No thread carries them, or reuses them, before it has
//! moved on to another generation; so what was said above holds for them too. Of numbers that are
//! carried, shared cells are a part that cannot be told apart. All of them count as blocks' here,
//! and none of them as shared cells' in the shared prefix (see `settling`): the sum of both is
//! right.
//!
//! The first bucket of a generation that has taken something over has no prefix: a sum walks until
//! the next rotation.
//!
//! # The prefix of a coarse bucket
//!
//! A thread that is about to retire the live bucket first writes the prefix of the coarse bucket
//! that it lies in, in each tier. If the live bucket is the first that lies in it, the prefix is
//! the sum of all blocks' bases: what was counted before the live bucket was opened.
//!
//! ## Why it is right
//!
//! Let all retired buckets be closed, and let `current` still be the same bucket after the bases
//! were read. Then the base of a free block is its sum, and the base of the live bucket's block is
//! its sum when the bucket was opened: so the bases are what all buckets before the live one have
//! counted. That is what all buckets before the *boundary* have counted, if no bucket lies between
//! the two. If one did, the prefix was written before that bucket was retired, and is there; or the
//! coarse bucket was *missed*. A thread that retires a bucket while an older one is open says first
//! that the coarse bucket is missed. Later threads write a missed prefix while all finer buckets of
//! the coarse one are in the ring. After that it remains missed.
//!
//! The prefix of a boundary is a constant, so all threads that write it write the same, and hold a
//! reference meanwhile. It may be written twice, and late. No claim is needed, and no thread waits.

use crate::ring::Ring;
use crate::ring::cells::wide::{Sparse, by_group};
use crate::ring::order::bucket::{Bucket, CoarsePrefix, Prefix};
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::generation::Generation;
use crate::ring::order::slots::{Slots, each_closed};
use crate::ring::store::block::Block;
use crate::sync::{AtomicU64, Ordering, fence};

impl Ring {
    /// Writes the prefix of `new`, which is to follow `old`, if it is known. `all_closed` says that
    /// no retired bucket was open before.
    pub(super) fn write_prefix(
        &self,
        old: &BucketRef<'_>,
        (new, block): (&Bucket, &Block),
        generation: &Generation,
        all_closed: bool,
    ) {
        let geometry = generation.geometry();
        let (oldest, of_old) = (geometry.oldest(new.start()), geometry.oldest(old.start()));
        if old.start() < oldest {
            // What was taken over is older than `old`.
            new.set_prefix(Prefix::Alone);
        } else if (!generation.has_older_in(of_old)
            && self.prefix_from_last(old, (new, block), &generation.slots, oldest))
            || (all_closed && self.prefix_from_bases(old, (new, block), generation, oldest))
        {
            new.set_prefix(Prefix::Known);
        }
    }

    /// Writes the prefix of `old`, plus what has left the interval since. Returns false if that is
    /// not known.
    fn prefix_from_last(
        &self,
        old: &Bucket,
        (new, block): (&Bucket, &Block),
        slots: &Slots,
        oldest: u64,
    ) -> bool {
        if old.prefix() != Prefix::Known {
            return false;
        }
        self.store_prefixes(new, |index| {
            self.store.cells(old).dense[index].prefix().load(Ordering::Relaxed)
        });
        if let Some(of_old) = self.store.block_of(old) {
            for (old, new) in of_old.prefixes().zip(wide_prefixes_to_write(block)) {
                match old.get() {
                    None => new.clear(),
                    Some(prefixes) => {
                        for (new, old) in new.cells().iter().zip(prefixes) {
                            // Relaxed, both: as in `store_prefixes`.
                            new.store(old.load(Ordering::Relaxed), Ordering::Relaxed);
                        }
                    }
                }
            }
        }
        let gone = (slots.geometry.oldest(old.start()), oldest);
        self.change_by_closed((new, block), slots, gone, u64::wrapping_add)
    }

    /// Writes what all blocks had counted before `old` was opened, less what is in the interval:
    /// needed after something irregular. The base of a free block is its sum, and that of `old`'s
    /// block is its sum when `old` was opened. Returns false if that is not known.
    #[cold]
    fn prefix_from_bases(
        &self,
        old: &Bucket,
        (new, block): (&Bucket, &Block),
        generation: &Generation,
        oldest: u64,
    ) -> bool {
        let (wide, carried) = (self.store.layout.wide(), generation.carried.from(oldest));
        let before = |position| {
            let bases = self.store.blocks.iter().map(|block| block.base(position));
            let kept = carried.iter().map(|(_, carried)| carried.numbers[position]);
            kept.fold(bases.fold(0, u64::wrapping_add), u64::wrapping_sub)
        };
        self.store_prefixes(new, |index| before(wide + index));
        for (prefixes, range) in wide_prefixes_to_write(block).zip(by_group(0..wide)) {
            range.for_each(|position| prefixes.store(position, before(position)));
        }
        let keep = |kept: &Bucket| self.change_prefixes((new, block), kept, u64::wrapping_sub);
        old.prefix() == Prefix::Alone
            || self.change_by_closed(
                (new, block),
                &generation.slots,
                (oldest, old.start()),
                u64::wrapping_sub,
            ) && generation.each_inherited(oldest, &mut |kept| {
                let is_closed = kept.is_closed();
                if is_closed {
                    keep(kept);
                }
                is_closed || kept.block().is_none()
            })
    }

    /// Stores the prefix at additive positions that are not wide, by their index among those.
    // Relaxed, all: the prefix is published with the bucket; totals are final, and `each_closed`
    // has acquired them.
    fn store_prefixes(&self, new: &Bucket, prefix: impl Fn(usize) -> u64) {
        let dense = self.store.layout.additive() - self.store.layout.wide();
        for (index, cell) in self.store.cells(new).dense[..dense].iter().enumerate() {
            cell.prefix().store(prefix(index), Ordering::Relaxed);
        }
    }

    /// Changes prefixes by each bucket from one start to another, which are all closed. Returns
    /// false if that is not so.
    #[inline(never)] // its code once
    fn change_by_closed(
        &self,
        new: (&Bucket, &Block),
        slots: &Slots,
        (from, to): (u64, u64),
        change: fn(u64, u64) -> u64,
    ) -> bool {
        each_closed(slots, from, to, |by| self.change_prefixes(new, by, change))
    }

    #[inline(never)] // its code once
    fn change_prefixes(
        &self,
        (new, block): (&Bucket, &Block),
        by: &Bucket,
        change: fn(u64, u64) -> u64,
    ) {
        let (of, by) = (self.store.cells(new), self.store.cells(by));
        self.store_prefixes(new, |index| {
            let load = |cell: &AtomicU64| cell.load(Ordering::Relaxed);
            change(load(of.dense[index].prefix()), load(by.dense[index].total()))
        });
        for (prefixes, wide) in block.prefixes().zip(by.wide) {
            let Some(totals) = wide.totals().get() else { continue };
            for (prefix, total) in prefixes.cells().iter().zip(totals) {
                let by = total.load(Ordering::Relaxed);
                if by != 0 {
                    prefix.store(change(prefix.load(Ordering::Relaxed), by), Ordering::Relaxed);
                }
            }
        }
    }

    /// Writes the prefixes of the coarse buckets in which the live bucket lies. The caller is about
    /// to retire the live bucket; `all_closed` says that no retired bucket is open.
    pub(super) fn write_tier_prefixes(
        &self,
        current: &BucketRef<'_>,
        generation: &Generation,
        all_closed: bool,
    ) {
        if let Some(for_tiers) = self.for_tiers {
            (for_tiers.write_prefixes)(self, current, generation, all_closed);
        }
    }

    pub(in crate::ring) fn write_each_tier_prefix(
        &self,
        current: &BucketRef<'_>,
        generation: &Generation,
        all_closed: bool,
    ) {
        for (index, tier) in generation.tiers.iter().enumerate() {
            let start = current.start();
            let Some(coarse) = self.store.coarse_bucket(tier, start, start) else { continue };
            tier.marks.mark(coarse.slot(), coarse.start());
            if coarse.has_prefix() {
                continue;
            }
            if all_closed {
                self.write_tier_prefix(index, &coarse, current, generation);
            } else {
                coarse.miss_prefix();
            }
        }
    }

    fn write_tier_prefix(
        &self,
        tier: usize,
        coarse: &Bucket,
        current: &BucketRef<'_>,
        of: &Generation,
    ) {
        let (boundary, is_missed) =
            (coarse.start(), coarse.coarse_prefix() == CoarsePrefix::Missed);
        let finer = tier.checked_sub(1).map(|finer| &of.tiers[finer]);
        let finer = finer.and_then(|finer| finer.with_prefix(boundary));
        let cells = self.store.cells(coarse);
        for position in 0..self.store.layout.additive() {
            let prefix = match &finer {
                // The same boundary, whose prefix is written there.
                Some(finer) => Some(self.store.cells(finer).prefix(position)),
                None => self.counted_before((boundary, is_missed), position, current, of),
            };
            let Some(prefix) = prefix else { return };
            // Relaxed: `publish_prefix` publishes the prefix, and all threads write the same. Where
            // it is zero, zero stands already.
            cells.set_prefix(position, prefix);
        }
        coarse.publish_prefix();
    }

    /// Returns what all buckets before a boundary, which may be missed, have counted through
    /// blocks. `None` if that is not known here, or if `current` was retired meanwhile: the thread
    /// that retired it has written the prefix, or missed it.
    fn counted_before(
        &self,
        (boundary, is_missed): (u64, bool),
        position: usize,
        current: &BucketRef<'_>,
        of: &Generation,
    ) -> Option<u64> {
        let bases = self.store.blocks.iter().map(|block| block.base(position));
        let mut prefix = bases.fold(0, u64::wrapping_add);
        if is_missed {
            // Buckets lie between the boundary and the live one.
            let (slots, live) = (&*of.slots, current.start());
            let is_known = boundary >= slots.geometry.oldest(live)
                && boundary >= of.own_from
                && of.own_from < u64::MAX // otherwise one may begin even there
                && each_closed(slots, boundary, live, |bucket| {
                    prefix = prefix.wrapping_sub(self.store.cells(bucket).total(position));
                });
            if !is_known {
                return None;
            }
        }
        // Behind all that was read: what belongs to a time after `current` was retired was stored
        // with Release, or behind a Release fence, by a thread that had seen the retirement.
        fence(Ordering::Acquire);
        std::ptr::eq(self.current().load(Ordering::Relaxed), current.bucket()).then_some(prefix)
    }
}

/// Returns a block's prefixes, by group of wide positions, to the thread that has just taken the
/// block for a bucket, and writes them.
fn wide_prefixes_to_write(block: &Block) -> impl Iterator<Item = &Sparse> {
    let mut prefixes = block.prefixes().peekable();
    if prefixes.peek().is_some() {
        // The block was free, and so its last owner retired. A reader that takes these prefixes for
        // that owner's sees the retirement: pairs with the fence in `is_current`.
        fence(Ordering::Release);
    }
    prefixes
}
