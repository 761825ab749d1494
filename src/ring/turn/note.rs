//! Noting: what all buckets before a boundary of a tier have counted through blocks.
//!
//! A thread that is about to retire the live bucket first notes it in each tier: the mark of the
//! coarse bucket that it lies in. If the live bucket is the first of that coarse bucket, the mark
//! is the sum of all blocks' bases: what was counted before the live bucket was opened.
//!
//! # Why a mark is right
//!
//! Let all retired buckets be closed, and let `current` still be the same bucket behind the bases.
//! Then a free block's base is its sum, and the live bucket's block has for its base what it summed
//! to when the bucket was opened: so the bases are what all buckets before it have counted. That is
//! what all buckets before the *boundary* have counted, if no bucket lies between them. If one did,
//! it would have been noted before it was retired, and the mark would be there; or the coarse
//! bucket says that it was *missed*. A thread that retires a bucket while an older one is open says
//! so first. Later threads find out what is missing while all buckets of the coarse one are in the
//! ring. After that it remains missed.
//!
//! The mark of a boundary is a constant, so all threads that write it write the same, and hold a
//! reference meanwhile. It may be written twice, and late. No claim is needed, and no thread waits.

use crate::ring::Ring;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::generation::Generation;
use crate::ring::order::slots::each_closed;
use crate::sync::{Ordering, fence};

impl Ring {
    /// Notes the live bucket, which the caller is about to retire, in each tier. `all_closed` says
    /// that no retired bucket is open.
    pub(in crate::ring) fn note(
        &self,
        current: &BucketRef<'_>,
        generation: &Generation,
        all_closed: bool,
    ) {
        if generation.tiers.is_empty() {
            return;
        }
        for (index, tier) in generation.tiers.iter().enumerate() {
            let start = current.start();
            let Some(coarse) = tier.bucket(start, start, &self.store) else { continue };
            if coarse.is_closed() {
                continue;
            }
            if all_closed {
                self.note_in(index, &coarse, current, generation);
            } else {
                coarse.miss();
            }
        }
    }

    fn note_in(&self, tier: usize, coarse: &Bucket, current: &BucketRef<'_>, of: &Generation) {
        let (boundary, is_missed) = (coarse.start(), coarse.noted() == Some(false));
        let finer = tier.checked_sub(1).map(|finer| &of.tiers[finer]);
        let finer = finer.and_then(|finer| finer.noted(boundary));
        let cells = self.store.cells(coarse);
        for position in 0..self.store.layout.additive() {
            let note = match &finer {
                // The same boundary, which is noted there.
                Some(finer) => Some(self.store.cells(finer).total(position)),
                None => self.counted_before((boundary, is_missed), position, current, of),
            };
            let Some(note) = note else { return };
            // Relaxed: `publish_note` publishes it; and all threads write the same. Where that is
            // zero, it is so already.
            cells.set_total(position, note);
        }
        coarse.publish_note();
    }

    /// What all buckets before a boundary have counted through blocks, which may be missed. `None`
    /// if that is not known here, or if `current` was retired meanwhile: the thread that did so has
    /// noted it, or missed it.
    fn counted_before(
        &self,
        (boundary, is_missed): (u64, bool),
        position: usize,
        current: &BucketRef<'_>,
        of: &Generation,
    ) -> Option<u64> {
        let bases = self.store.blocks.iter().map(|block| block.base(position));
        let mut note = bases.fold(0, u64::wrapping_add);
        if is_missed {
            // Buckets lie between the boundary and the live one.
            let (slots, live) = (&*of.slots, current.start());
            let is_known = boundary >= slots.geometry.oldest(live)
                && boundary >= of.own_from
                && each_closed(slots, boundary, live, |bucket| {
                    note = note.wrapping_sub(self.store.cells(bucket).total(position));
                });
            if !is_known {
                return None;
            }
        }
        // Behind all that was read: what belongs to a time after `current` was retired was stored
        // with Release, or behind a Release fence, by a thread that had seen the retirement.
        fence(Ordering::Acquire);
        std::ptr::eq(self.current().load(Ordering::Relaxed), current.bucket()).then_some(note)
    }
}
