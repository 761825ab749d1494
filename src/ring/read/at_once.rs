//! Sums at once: what an interval holds, without a walk over its buckets.
//!
//! # Theorem
//!
//! Let a thread load `current`, then, in any order, the prefix of that bucket, the bucket's shared
//! cell and each block's sum; and let it then find that `current` still leads there, and after
//! that, that the bucket's version is still the same. If no other bucket of the interval is
//! touched, then the blocks' sums less the prefix, plus the shared cell, lie between the true count
//! of the interval when the call began and when it returned. If some are touched, `shared_total`
//! less the shared prefix of the bucket takes the place of the shared cell (see `shared_prefix`).
//! (A time past the live bucket has an order of its own: see `add_up`.)
//!
//! # The steps
//!
//! Those of the ordinary sum, in the order of the program:
//!
//! | load | in | order |
//! |---|---|---|
//! | `current`, its version, `current` again | `Versioned::load` | Acquire, Acquire, Relaxed |
//! | whether the prefix is known | `Bucket::prefix` | Relaxed |
//! | the clock, then the bucket's span | `sum_if` | Relaxed |
//! | the prefix | `through_blocks` | Relaxed |
//! | each block, and its owner | `Blocks::iter`, `Block::is_at_rest` | Acquire |
//! | the base of a free block | `Block::dense_base` | Relaxed |
//! | the open rows of another one | `rows::sum` | Acquire |
//! | `touched`, then the shared cell | `sum_if` | Relaxed |
//! | `current`, behind a fence | `Ring::is_current` | Acquire, Relaxed |
//! | the version, behind a fence | `Bucket::identity_after` | Acquire, Relaxed |
//!
//! If the time lies in no live bucket, or one of the two checks fails, a view takes over, which
//! makes up to nine attempts (`read/attempt`).
//!
//! # What a sum may leave out
//!
//! * Adds that are not ordered before the call: each cell is read once, and the
//!   adds may come after that.
//! * Adds outside of the interval that ends with the bucket of the time that the clock showed.
//! * After nine attempts, adds in buckets that have left since the call began.
//!
//! # Why
//!
//! The bucket was current from the first step to the last but one. In that time its prefix is a
//! constant, what all buckets before the interval have counted through blocks (see `prefix`); the
//! base of a free block is its sum; and no block is added to but the bucket's own, and those of
//! retired buckets that are not closed. So what is read of a block lies between its values when the
//! read began and when it ended. An add to another bucket's shared cells that happened before the
//! call has raised `touched` before; a later add may be left out.
//!
//! The two checks must come in this order. The version at the end says that the bucket was of that
//! version when it was found current. In the other order, the bucket could be retired, be reused,
//! and be current again as another bucket at the second check.
//!
//! # Complete buckets
//!
//! The buckets of the interval before the newest are summed in the same way. If the newest bucket
//! is the live one, its shared cell is left out, and the base of its block takes the place of the
//! block's sum: the difference of the two is what the live bucket has counted. The base is constant
//! while the bucket is live. If the time has passed the live bucket, the newest one holds nothing,
//! and the sum is that of the interval.
//!
//! # Orderings
//!
//! Whatever belongs to a time after the bucket was retired (the totals in the place of the prefix,
//! a base, an owner, a row) was stored with Release, or behind a Release fence, by a thread that
//! had seen the retirement. The reader has an Acquire fence behind all these loads, so that its
//! second load of `current` cannot be older than the retirement. The version's load stands behind
//! another fence, which keeps the two checks in their order.

use std::ops::Range;

use crate::event::layout::BucketLayout;
use crate::ring::Ring;
use crate::ring::order::bucket::{Bucket, Prefix};
use crate::ring::order::bucket_ref::Versioned;
use crate::ring::order::slots::each_closed;
use crate::ring::read::view::View;
use crate::ring::store::Store;
use crate::sync::{Ordering, fence};

mod many;
mod sums;

use many::{Many, Pairs};
pub(in crate::ring) use sums::Part;
use sums::Sums;

impl Ring {
    /// Returns the sum at an additive position over the interval that ends with the live bucket;
    /// `None` if the time does not lie in that bucket, or if the sum takes a walk. Without a pin.
    /// (The position is not wide.)
    #[inline]
    pub(crate) fn sum_at_once(&self, now: impl FnOnce() -> u64, position: usize) -> Option<u64> {
        // No condition on the bucket, and nothing more to tell of it.
        self.sum_if(now, position, |_| Some(()), |_, ()| Some(())).map(|(sum, ())| sum)
    }

    /// Returns the sum at once as [`sum_at_once`](Self::sum_at_once) does, and the interval in
    /// nanoseconds. `None` also if a span in nanoseconds is not that of the interval.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a call would pass three words through memory
    pub(crate) fn sum_of_interval_at_once(
        &self,
        now: impl FnOnce() -> u64,
        position: usize,
        span: Option<u64>,
    ) -> Option<(u64, u64)> {
        // Relaxed, both: before the fence in `is_current`.
        let interval =
            |live: &Bucket| Some(self.store.block_of(live)?.interval().load(Ordering::Relaxed));
        let Some(span) = span else {
            return self.sum_if(now, position, |_| Some(()), |live: &Bucket, ()| interval(live));
        };
        // All buckets are needed to cover it, and are enough.
        let covered = |live: &Bucket| {
            let (interval, length) = (interval(live)?, live.live.span.load(Ordering::Relaxed));
            interval.checked_sub(span).filter(|spare| *spare < length).map(|_| interval)
        };
        self.sum_if(now, position, covered, |_, interval| Some(interval))
    }

    /// Returns the sum at once; and what `more` makes of the live bucket and of the result of
    /// `before`, which runs first, before most of the cost. `None` if either closure returns
    /// `None`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // for each `more`
    fn sum_if<S, T>(
        &self,
        now: impl FnOnce() -> u64,
        position: usize,
        before: impl FnOnce(&Bucket) -> Option<S>,
        more: impl FnOnce(&Bucket, S) -> Option<T>,
    ) -> Option<(u64, T)> {
        // SAFETY: `current` leads to a bucket of this ring's.
        let current = unsafe { Versioned::load(self.current()) }?;
        let bucket = current.bucket;
        let prefix = bucket.prefix();
        let found = before(bucket)?;
        // The time is read after `current`. A clock that cannot tell it returns one of no bucket.
        if !bucket.live.contains(now()) {
            return None;
        }
        // SAFETY: the position is one of the layout's, which callers have from the event, and not
        // wide.
        let through_blocks = unsafe { self.store.through_blocks(bucket, prefix, position) }?;
        let shared = if self.touched.reaches(bucket.start()) {
            self.shared_in_interval(bucket, position)?
        } else {
            // SAFETY: as above. Relaxed: before the fence in `is_current`.
            unsafe { bucket.cell(position) }.shared.load(Ordering::Relaxed)
        };
        let sum = through_blocks.wrapping_add(shared);
        let more = more(bucket, found)?;
        self.is_current(current).then(|| (self.store.layout.without_pending(position, sum), more))
    }

    /// Returns what the shared cells of the live bucket's interval hold; `None` if what has left it
    /// is not known. The caller looks afterwards whether the bucket is still current.
    #[inline(never)] // no interval is touched where each thread's clock shows the same time
    fn shared_in_interval(&self, live: &Bucket, position: usize) -> Option<u64> {
        let before = self.shared_prefix.of(live)?;
        let (layout, index) = (self.store.layout, position - self.store.layout.wide());
        let before_it = before.at(index);
        let total = &self.beside.shared_total(layout).dense[index].shared;
        // Relaxed: the prefix was acquired, and the total is no older; before the fence below.
        let total = total.load(Ordering::Relaxed);
        self.shared_prefix.is_valid(before).then(|| total.wrapping_sub(before_it))
    }

    /// Returns whether a bucket is still current, and was so all the time since it was found.
    #[inline]
    pub(super) fn is_current(&self, found: Versioned<'_>) -> bool {
        // Pairs with the Release of whatever was read before (see above), and with that of adds: a
        // reader that counts an add sees what came before it.
        fence(Ordering::Acquire);
        std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()
    }
}

impl Store {
    /// Returns what all blocks hold for the live bucket's interval; `None` if the prefix is
    /// unknown. The sum of records is [modulo 2^63](crate::stripe::live_bucket::PENDING).
    ///
    /// # Safety
    /// The position is one of the layout's, and not wide.
    #[inline(always)]
    #[allow(clippy::inline_always)] // most of a sum, which has it in line wherever it is called
    unsafe fn through_blocks(&self, live: &Bucket, prefix: Prefix, position: usize) -> Option<u64> {
        debug_assert!(self.layout.adds_up(position) && position >= self.layout.wide());
        Some(match prefix {
            Prefix::Known => {
                // SAFETY: by contract. Relaxed: before the fence in `is_current`.
                let prefix = unsafe { live.cell(position) }.prefix().load(Ordering::Relaxed);
                let mut sum = 0_u64;
                for block in self.blocks.iter() {
                    // SAFETY: by contract.
                    sum = sum.wrapping_add(unsafe { block.present_dense_sum(position) });
                }
                sum.wrapping_sub(prefix)
            }
            Prefix::Alone => self.block_of(live)?.difference_of_count(position),
            Prefix::Unknown => return None,
        })
    }

    /// Returns the same, for less frequent reads: with calls in place of code in line.
    ///
    /// # Safety
    /// As for [`through_blocks`](Self::through_blocks).
    unsafe fn through_blocks_apart(
        &self,
        live: &Bucket,
        prefix: Prefix,
        position: usize,
    ) -> Option<u64> {
        Some(match prefix {
            Prefix::Known => {
                // SAFETY: by contract. Relaxed: before the fence in `is_current`.
                let prefix = unsafe { live.cell(position) }.prefix().load(Ordering::Relaxed);
                let sums = self.blocks.iter().map(|block| block.present_sum(position));
                sums.fold(0, u64::wrapping_add).wrapping_sub(prefix)
            }
            Prefix::Alone => self.block_of(live)?.difference_of_count(position),
            Prefix::Unknown => return None,
        })
    }

    /// Returns what all blocks hold for the live bucket's interval without the live bucket; `None`
    /// if the prefix is unknown. The sum of records is modulo 2^63.
    ///
    /// # Safety
    /// As for [`through_blocks`](Self::through_blocks).
    unsafe fn before_live(&self, live: &Bucket, prefix: Prefix, position: usize) -> Option<u64> {
        Some(match prefix {
            Prefix::Known => {
                let own = self.block_of(live)?;
                // SAFETY: by contract. Relaxed: before the fence in `is_current`.
                let prefix = unsafe { live.cell(position) }.prefix().load(Ordering::Relaxed);
                let others = self.blocks.iter().filter(|block| !std::ptr::eq(*block, own));
                let sums = others.map(|block| block.present_sum(position));
                sums.fold(own.base(position), u64::wrapping_add).wrapping_sub(prefix)
            }
            Prefix::Alone => 0,
            Prefix::Unknown => return None,
        })
    }
}

/// The sum at one additive position that is not wide.
struct One<'r> {
    store: &'r Store,
    position: usize,
    sum: u64,
}

impl Sums for One<'_> {
    fn take_off(&mut self, gone: &Bucket) {
        // SAFETY: the position is one of the layout's, and not wide. Relaxed: before the fence in
        // `is_current`.
        let total = unsafe { gone.cell(self.position) }.total().load(Ordering::Relaxed);
        self.sum = self.sum.wrapping_sub(total);
    }

    fn add_interval(&mut self, live: &Bucket, prefix: Prefix, part: Part) -> Option<()> {
        let (store, position) = (self.store, self.position);
        let through_blocks = match part {
            // SAFETY: as above.
            Part::Whole => unsafe { store.through_blocks_apart(live, prefix, position) }?,
            // SAFETY: as above.
            Part::Complete => unsafe { store.before_live(live, prefix, position) }?,
        };
        self.sum = self.sum.wrapping_add(through_blocks);
        Some(())
    }

    fn add_shared(&mut self, touched: &Bucket) {
        // SAFETY: as above. Relaxed: before the fence in `identity_after`.
        let shared = unsafe { touched.cell(self.position) }.shared.load(Ordering::Relaxed);
        self.sum = self.sum.wrapping_add(shared);
    }
}

/// Returns the sum at an additive position of all buckets that count, or of the complete ones;
/// `None` if it takes a walk.
pub(in crate::ring) fn total(view: &View<'_>, part: Part, position: usize) -> Option<u64> {
    let (layout, store) = (view.layout(), &view.ring().store);
    if !layout.adds_up(position) || position < layout.wide() {
        return None;
    }
    let mut one = One { store, position, sum: 0 };
    add_up(view, part, &mut one)?;
    Some(layout.without_pending(position, one.sum))
}

/// Writes the sums at the positions of these wide pairs into `numbers`, which are zeros. If this
/// returns `None`, the sums take a walk, and the numbers mean nothing.
pub(in crate::ring) fn totals(
    view: &View<'_>,
    part: Part,
    pairs: Range<usize>,
    numbers: &mut [u64],
) -> Option<()> {
    let mut many = Many { store: &view.ring().store, positions: pairs, numbers };
    add_up(view, part, &mut many)?;
    BucketLayout::pairs_without_pending(numbers);
    Some(())
}

/// Returns the two sums of these wide pairs; `None` if they take a walk.
pub(in crate::ring) fn pairs(view: &View<'_>, part: Part, pairs: Range<usize>) -> Option<[u64; 2]> {
    let (positions, sums) = (pairs, [0; 2]);
    let mut all = Pairs { store: &view.ring().store, positions, sums };
    add_up(view, part, &mut all)?;
    BucketLayout::pairs_without_pending(&mut all.sums);
    Some(all.sums)
}

/// Adds up an interval that may have touched buckets, at a time that may have passed the live
/// bucket. If `current` is the same afterwards, no bucket of its interval has left its slot.
fn add_up(view: &View<'_>, part: Part, sums: &mut impl Sums) -> Option<()> {
    let (live, newest) = (view.live(), view.newest());
    if newest < live {
        return None;
    }
    let (ring, slots, geometry) = (view.ring(), &*view.generation().slots, view.geometry());
    let oldest = geometry.oldest(newest);
    if view.generation().has_older_in(geometry.oldest(live)) {
        return None; // what was taken over is in no slot here
    }
    let current = view.found();
    if oldest <= live {
        let prefix = current.bucket.prefix();
        // The buckets that have left come before the blocks: those that are closed by then are in
        // the blocks' sums, and grow no more. A bucket that is closed only after the blocks were
        // read may have counted in between what the blocks' sums do not have.
        let all_closed =
            each_closed(slots, geometry.oldest(live), oldest, |gone| sums.take_off(gone));
        if !all_closed {
            return None;
        }
        // A newest bucket that is not live yet holds nothing.
        let part = if newest == live { part } else { Part::Whole };
        sums.add_interval(current.bucket, prefix, part)?;
        if part == Part::Whole {
            sums.add_shared(current.bucket);
        }
        if oldest < live && ring.touched.reaches(newest) {
            slots.each_touched(oldest..=live - 1, newest, |bucket| sums.add_shared(bucket))?;
        }
    }
    ring.is_current(current).then_some(())
}
