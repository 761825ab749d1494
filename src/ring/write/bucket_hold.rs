//! Holds: what keeps the live bucket from being closed while a portable add goes through it.
//!
//! | | the add | the closer |
//! |---|---|---|
//! | [`Announced`] | announces its bucket, and looks again whether that is live | has all threads pass a fence, and looks at announcements |
//! | [`Fenced`] | announces its bucket, passes a fence, and looks again | passes a fence, and looks |
//! | [`Pinned`] | pins an epoch, which is a fence too | waits for a grace period |
//!
//! [`announced`](crate::reclaim::announced) and [`grace`](crate::reclaim::grace) say why each is
//! enough. Each hold is a type, so that an add is compiled for each of them.

use std::ops::Deref;

use crate::reclaim::announced::{Between, Held, Slot};
use crate::reclaim::{self, Guard};
use crate::ring::cells::Update;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::bucket_ref::BucketPtr;
use crate::stripe::misses::Miss;
use crate::stripe::portable;
use crate::sync::{AtomicU64, Ordering};

/// A hold on the live bucket, which is not closed while it is held.
///
/// `current` is that of a ring: never null, and its buckets live as long as the ring. No reference
/// is needed.
pub(super) trait Hold {
    type Held<'r>: Deref<Target = Bucket>;

    /// Holds the bucket that `current` leads to. Misses if that has changed meanwhile, or if this
    /// hold needs a slot for announcements, and there is none.
    fn hold<'r>(current: &'r BucketPtr, slot: Option<&'r Slot>) -> Result<Self::Held<'r>, Miss>;

    /// Returns the word of this thread's row.
    fn row(held: &Self::Held<'_>) -> usize;
}

/// A hold by an announcement; with a fence of the add's own, if `FENCED`.
pub(super) enum ByAnnouncement<const FENCED: bool> {}

pub(super) type Announced = ByAnnouncement<false>;
pub(super) type Fenced = ByAnnouncement<true>;

impl<const FENCED: bool> Hold for ByAnnouncement<FENCED> {
    type Held<'r> = Held<'r, Bucket>;

    #[inline(always)]
    fn hold<'r>(current: &'r BucketPtr, slot: Option<&'r Slot>) -> Result<Self::Held<'r>, Miss> {
        let between = if FENCED { Between::Fence } else { Between::Nothing };
        // SAFETY: `current` is never null, and its buckets live as long as the ring.
        let held = unsafe { slot.ok_or(Miss::NoSlot)?.follow(current, between) };
        held.ok_or(Miss::OtherBucket)
    }

    #[inline(always)]
    fn row(held: &Held<'_, Bucket>) -> usize {
        held.row()
    }
}

/// A hold by a pin.
pub(super) struct Pinned<'r> {
    bucket: &'r Bucket,
    _guard: Guard,
}

impl Hold for Pinned<'_> {
    type Held<'r> = Pinned<'r>;

    #[inline(always)]
    fn hold<'r>(current: &'r BucketPtr, _slot: Option<&'r Slot>) -> Result<Pinned<'r>, Miss> {
        let guard = reclaim::pin();
        // SAFETY: as above. Acquire: pairs with the Release in `replace_current`.
        let bucket = unsafe { &*current.load(Ordering::Acquire) };
        Ok(Pinned { bucket, _guard: guard })
    }

    #[inline(always)]
    fn row(_held: &Pinned<'_>) -> usize {
        portable::mine()
    }
}

impl Deref for Pinned<'_> {
    type Target = Bucket;

    #[inline(always)]
    fn deref(&self) -> &Bucket {
        self.bucket
    }
}

impl Bucket {
    /// Counts `update` through the block, if `at` lies in this bucket and it has one, and returns
    /// whether it did. The caller has found the bucket current, and keeps it from being closed.
    #[inline(always)]
    #[allow(clippy::inline_always)] // of a known kind it is a few instructions
    pub(in crate::ring) fn put(&self, at: u64, update: Update) -> bool {
        let word = self.word(at);
        // SAFETY: a bucket with a span has a block, of a portable strategy.
        word.is_some_and(|word| unsafe { update.put_in_row(word) })
    }

    /// Counts `update` as [`put`](Self::put) does, in the row of this thread's word `own`, if it
    /// has one already.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    pub(in crate::ring) fn put_in_row(
        &self,
        at: u64,
        own: impl FnOnce() -> usize,
        update: Update,
    ) -> bool {
        let Some(word) = self.word(at) else {
            return false;
        };
        let own = own();
        // SAFETY: as above; the holder vouches for `own`.
        if let Some(cells) = unsafe { portable::leased_by(word, own) } {
            return update.try_put(&cells);
        }
        // SAFETY: as above.
        let dealt = unsafe { portable::dealt_by(word, own) };
        dealt.is_some_and(|cells| update.try_put(&cells))
    }

    /// Returns the encoded column of the block, if `at` lies in this bucket and it has a block.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn word(&self, at: u64) -> Option<*mut AtomicU64> {
        if !self.live.contains(at) {
            return None;
        }
        self.check();
        Some(self.live.column.load(Ordering::Relaxed)) // published with the bucket
    }
}
