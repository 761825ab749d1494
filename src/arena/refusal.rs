//! What a segment has refused, remembered until a column is freed there.
//!
//! # Promise
//!
//! A claim that finds a run refused looks at no bitmap. A claim that a freed run happened before is
//! not refused on account of a look that has missed that run. So room that was made is never missed
//! for good.
//!
//! # Why
//!
//! One word has two parts: how often room was made, and the length of the shortest run that has
//! found none since, or 0.
//!
//! ```text
//!   make room:  clear the bits;  word: (n, any) -> (n + 1, 0)                    Release
//!   claim:      word = (n, l);  0 < l <= length ?  refused                       Acquire
//!               no room?  word: (n, l) -> (n, length), if it is still (n, l)
//! ```
//!
//! Let `f` be a step that makes room, and let it happen before a claim. The claim's load finds
//! `f`'s word or a later one. If that has a length, an exchange behind `f` has put it there, and
//! that exchange's own load has found a word with the same count: `f`'s or a later one, since each
//! step that makes room raises the count. All changes of the word are read-modify-writes. So that
//! load synchronises with `f`, and the look behind it has found the bits as `f` left them, or
//! claimed again: then a later step will make that room.
//!
//! A thread makes room also when it gives back words that it has taken on the way to a long run:
//! other threads have met them taken. The count wraps after 2^48 steps, which no thread makes
//! between a load and its exchange.
//!
//! A run that is refused has no room for a longer one either: the places of a longer run are among
//! those of a shorter one.

use crate::sync::{AtomicU64, Ordering, const_fn};

/// The bits of a length.
const LENGTH: u64 = (1 << 16) - 1;

/// How often room was made, and the shortest run that was refused since.
#[derive(Debug)]
pub(super) struct Refusal(AtomicU64);

/// What a claim has found there before it looks for room.
#[derive(Clone, Copy)]
pub(super) struct Seen(u64);

impl Seen {
    /// Whether a run of this length, or a shorter one, has found no room.
    pub(super) fn refuses(self, length: usize) -> bool {
        let refused = self.0 & LENGTH;
        refused != 0 && refused <= length as u64
    }
}

impl Refusal {
    const_fn! {
        /// None yet.
        pub(super) const fn new() -> Refusal {
            Refusal(AtomicU64::new(0))
        }
    }

    /// What was refused, before a look for room.
    pub(super) fn look(&self) -> Seen {
        // Acquire: pairs with the Release in `forget`: the look that follows finds the room that
        // was made.
        Seen(self.0.load(Ordering::Acquire))
    }

    /// Remembers that a run has found no room, unless room was made since `seen`, or another thread
    /// has something to remember.
    pub(super) fn remember(&self, seen: Seen, length: usize) {
        let refused = seen.0 & !LENGTH | length as u64;
        // Relaxed: it publishes nothing. A failure is no loss: the next claim looks again.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.0.compare_exchange(seen.0, refused, order, failed);
    }

    /// Forgets it: room was made, behind which this comes.
    pub(super) fn forget(&self) {
        let more = |word: u64| Some((word & !LENGTH).wrapping_add(LENGTH + 1));
        // Release: pairs with the Acquire in `look`. Relaxed: each attempt looks again.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.0.fetch_update(order, failed, more);
    }
}
