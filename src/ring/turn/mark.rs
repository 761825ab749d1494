//! Marks: what all buckets before a bucket's interval have counted through blocks.
//!
//! Blocks are cumulative: what they sum to, less the mark of the live bucket, is what the buckets of its
//! interval have counted through blocks (see `at_once`). The buckets before the interval are closed, so the
//! mark is a constant for as long as the bucket is live. It stands where the bucket's totals will stand when it is
//! closed, which are not used before. At wide positions it would take memory there for ever, for every place that was ever used; so there
//! it stands in the block, which few buckets have.
//!
//! # Why a mark is right
//!
//! The thread that rotates from `old` to `new` writes the mark of `new` while it initialises it. If its
//! compare-exchange of `current` succeeds, `old` was current all the time: it is referred to, so it was not
//! reused, and ranks never go back. So no thread has closed `old` over its own mark, and no bucket of the interval of
//! `old` has left its slot: only a thread that has found a newer one current takes it out. What was read here
//! is right then. If the exchange fails, `new` never becomes current, and no thread asks for its mark.
//!
//! A bucket that left the interval before may be reused all the same, while its slot is looked at: even for the very start
//! that is looked for, by a rotation that comes too late and gives it up. So its version is asked for.

use crate::ring::Ring;
use crate::ring::cells::BucketCell;
use crate::ring::cells::wide::GROUP;
use crate::ring::order::bucket::{Bucket, Mark};
use crate::ring::order::bucket_ref::BucketRef;
use crate::ring::order::generation::Generation;
use crate::ring::order::slots::{Slots, each_closed};
use crate::ring::store::block::Block;
use crate::sync::{AtomicU64, Ordering, fence};

impl Ring {
    /// Writes the mark of `new`, which is to follow `old`, if it is known. `all_closed` says that no retired
    /// bucket was open before.
    pub(in crate::ring) fn mark(
        &self,
        old: &BucketRef<'_>,
        (new, block): (&Bucket, &Block),
        generation: &Generation,
        all_closed: bool,
    ) {
        let slots = &*generation.slots;
        let oldest = slots.geometry.oldest(new.start());
        if generation.has_older_in(oldest) {
            return; // unknown
        }
        if old.start() < oldest {
            new.set_mark(Mark::Alone);
        } else if self.mark_by(old, (new, block), slots, oldest)
            || (all_closed && self.mark_anew(old, (new, block), slots, oldest))
        {
            new.set_mark(Mark::Known);
        }
    }

    /// The mark of `old`, and what has left the interval since.
    fn mark_by(
        &self,
        old: &Bucket,
        (new, block): (&Bucket, &Block),
        slots: &Slots,
        oldest: u64,
    ) -> bool {
        if old.mark() != Mark::Known {
            return false;
        }
        self.set_marks(new, |index| {
            self.store.cells(old).dense[index].total.load(Ordering::Relaxed)
        });
        if let Some(of_old) = self.wide_marks(self.store.block_of(old)) {
            let new = self.set_wide_marks(block);
            let marks = of_old.iter().zip(new);
            // Relaxed, both: as in `set_marks`.
            marks.for_each(|(old, new)| new.store(old.load(Ordering::Relaxed), Ordering::Relaxed));
        }
        each_closed(slots, slots.geometry.oldest(old.start()), oldest, |gone| {
            self.change_marks((new, block), gone, u64::wrapping_add);
        })
    }

    /// What all blocks had counted before `old` was opened, less what is in the interval: after something
    /// irregular. A free block's base is its sum, and the base of `old`'s is what it was when `old` opened.
    #[cold]
    fn mark_anew(
        &self,
        old: &Bucket,
        (new, block): (&Bucket, &Block),
        slots: &Slots,
        oldest: u64,
    ) -> bool {
        let bases = |position| {
            let bases = self.store.blocks.iter().map(|block| block.base(position));
            bases.fold(0, u64::wrapping_add)
        };
        self.set_marks(new, |index| bases(self.store.layout.wide() + index));
        for (position, mark) in self.set_wide_marks(block).iter().enumerate() {
            mark.store(bases(position), Ordering::Relaxed);
        }
        old.mark() == Mark::Alone
            || each_closed(slots, oldest, old.start(), |kept| {
                self.change_marks((new, block), kept, u64::wrapping_sub);
            })
    }

    /// Marks at positions that are not wide, by their index among those.
    // Relaxed, all: marks are published with the bucket; totals are final, and `each_closed` has acquired them.
    fn set_marks(&self, new: &Bucket, mark: impl Fn(usize) -> u64) {
        let dense = self.store.layout.additive() - self.store.layout.wide();
        for (index, cell) in self.store.cells(new).dense[..dense].iter().enumerate() {
            cell.total.store(mark(index), Ordering::Relaxed);
        }
    }

    /// A block's wide marks, if the layout has any.
    fn wide_marks<'b>(&self, block: Option<&'b Block>) -> Option<&'b [AtomicU64]> {
        block.filter(|_| self.store.layout.wide() > 0).map(Block::marks)
    }

    /// The same, to be written by the thread that has just taken the block for a bucket.
    fn set_wide_marks<'b>(&self, block: &'b Block) -> &'b [AtomicU64] {
        let marks = self.wide_marks(Some(block));
        if marks.is_some() {
            // The block was free, and so its last owner retired. A reader that takes these marks for that owner's sees that: pairs
            // with the fence in `is_current`.
            fence(Ordering::Release);
        }
        marks.unwrap_or_default()
    }

    fn change_marks(
        &self,
        (new, block): (&Bucket, &Block),
        by: &Bucket,
        change: impl Fn(u64, u64) -> u64,
    ) {
        let (of, by) = (self.store.cells(new), self.store.cells(by));
        self.set_marks(new, |index| {
            let total = |bucket: &BucketCell| bucket.total.load(Ordering::Relaxed);
            change(total(&of.dense[index]), total(&by.dense[index]))
        });
        for (marks, wide) in block.marks().chunks(GROUP).zip(by.wide) {
            for (mark, total) in marks.iter().zip(wide.totals.get().into_iter().flatten()) {
                let by = total.load(Ordering::Relaxed);
                if by != 0 {
                    mark.store(change(mark.load(Ordering::Relaxed), by), Ordering::Relaxed);
                }
            }
        }
    }
}
