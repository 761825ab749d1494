//! What keeps the live bucket from being closed while a portable add goes through it.
//!
//! | | the add | who closes the bucket |
//! |---|---|---|
//! | [`Announced`] | says which bucket it goes through, and looks again whether that is live | has the system make all threads pass a fence, and then looks at what they say |
//! | [`Fenced`] | the same, with a fence before it looks again | has a fence, and looks |
//! | [`Pinned`] | pins an epoch, which is a fence too | waits for a grace period |
//!
//! Why each is enough is said in [`announced`](crate::reclaim::announced) and in [`grace`](crate::reclaim::grace).
//! Each way is a type, so that an add is compiled for each of them.

use crate::reclaim;
use crate::reclaim::announced::{Between, Slot};
use crate::ring::bucket::{Bucket, BucketPtr};
use crate::ring::cells::Update;
use crate::stripe::portable;
use crate::sync::{AtomicU64, Ordering};

/// A way to hold the live bucket.
pub(super) trait Hold {
    /// What `put` says of the bucket that `current` leads to, which is not closed meanwhile; false if that was no longer the
    /// live one. `None` if this way needs a slot for announcements, and there is none.
    ///
    /// `current` is a ring's: never null, and its buckets live as long as the ring. No reference is needed.
    fn hold(
        current: &BucketPtr,
        slot: Option<&Slot>,
        put: impl FnOnce(&Bucket) -> bool,
    ) -> Option<bool>;
}

/// By an announcement.
pub(super) enum Announced {}

impl Hold for Announced {
    #[inline(always)]
    fn hold(
        current: &BucketPtr,
        slot: Option<&Slot>,
        put: impl FnOnce(&Bucket) -> bool,
    ) -> Option<bool> {
        // SAFETY: `current` is never null, and its buckets live as long as the ring.
        let is_put = unsafe { slot?.follow(current, Between::Nothing, put) };
        Some(is_put == Some(true))
    }
}

/// By an announcement and a fence.
pub(super) enum Fenced {}

impl Hold for Fenced {
    #[inline(always)]
    fn hold(
        current: &BucketPtr,
        slot: Option<&Slot>,
        put: impl FnOnce(&Bucket) -> bool,
    ) -> Option<bool> {
        // SAFETY: as above.
        let is_put = unsafe { slot?.follow(current, Between::Fence, put) };
        Some(is_put == Some(true))
    }
}

/// By a pin.
pub(super) enum Pinned {}

impl Hold for Pinned {
    #[inline(always)]
    fn hold(
        current: &BucketPtr,
        _slot: Option<&Slot>,
        put: impl FnOnce(&Bucket) -> bool,
    ) -> Option<bool> {
        let _guard = reclaim::pin();
        // SAFETY: as above. Acquire: pairs with the Release in `replace_current`.
        Some(put(unsafe { &*current.load(Ordering::Acquire) }))
    }
}

impl Bucket {
    /// Counts `update` through the block, if `at` lies in this bucket and it has one; returns whether it did. For a thread
    /// that has found the bucket current, and keeps it from being closed.
    #[inline(always)]
    #[allow(clippy::inline_always)] // of a known kind it is a few instructions
    pub(super) fn put(&self, at: u64, update: Update) -> bool {
        let word = self.word(at);
        // SAFETY: a bucket with a span has a block, and that is portable.
        word.map(|word| unsafe { update.put_in_row(word) }).is_some()
    }

    /// As [`put`](Self::put), if this thread has a row already.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    pub(super) fn put_in_row(&self, at: u64, update: Update) -> bool {
        let Some(word) = self.word(at) else {
            return false;
        };
        // SAFETY: as above.
        if let Some(cells) = unsafe { portable::leased(word) } {
            update.put(&cells);
            return true;
        }
        // SAFETY: as above.
        let dealt = unsafe { portable::dealt(word) };
        dealt.map(|cells| update.put(&cells)).is_some()
    }

    /// The column of its block, encoded, if `at` lies in this bucket and it has a block.
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
