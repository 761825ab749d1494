//! The runs that a segment has refused, or a group of segments, remembered until a column is freed
//! there.
//!
//! # Promise
//!
//! A claim that finds a run refused looks at no bitmap. If a run was freed before a claim, no look
//! that has missed that run refuses the claim. So free columns are never missed for good.
//!
//! # Why
//!
//! One word has two parts: the number of steps that freed columns, and the length of the shortest
//! run that was refused since, or 0.
//!
//! ```text
//!   free:   clear the bits;  word: (n, any) -> (n + 1, 0)                        Release
//!   claim:  word = (n, l);  0 < l <= length ?  refused                           Acquire
//!           no such run?  word: (n, l) -> (n, length), if it is still (n, l)
//! ```
//!
//! Let `f` be a step that frees columns, and let it happen before a claim. The claim's load finds
//! `f`'s word or a later one. If that has a length, an exchange after `f` has put it there, and
//! that exchange's own load has found a word with the same count: `f`'s or a later one, since each
//! step that frees columns raises the count. All changes of the word are read-modify-writes. So
//! that load synchronises with `f`, and the look after it has found the bits as `f` left them, or
//! claimed again: then a later step will free these columns.
//!
//! A thread also frees columns when it gives back words that it has taken on the way to a long run,
//! because other threads have met them taken. The count wraps after 2^48 steps, which no thread
//! makes between a load and its exchange.
//!
//! If a run is refused, there is no space for a longer one either: the possible positions of a
//! longer run are among those of a shorter one.

use crate::sync::{AtomicU64, Ordering};

/// The bits of a length.
const LENGTH: u64 = (1 << 16) - 1;

/// The number of steps that freed columns, and the shortest run that was refused since: a word,
/// which is zero at first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Refusal(pub(super) &'static AtomicU64);

/// The word that a claim has found before it looks at the bitmap.
#[derive(Clone, Copy)]
pub(super) struct Seen(u64);

impl Seen {
    /// Returns whether a run of this length, or a shorter one, was refused.
    pub(super) fn refuses(self, length: usize) -> bool {
        let refused = self.0 & LENGTH;
        refused != 0 && refused <= length as u64
    }
}

impl Refusal {
    /// Loads the word, before a look at the bitmap.
    pub(super) fn look(self) -> Seen {
        // Acquire: pairs with the Release in `forget`: the look that follows finds the columns that
        // were freed.
        Seen(self.0.load(Ordering::Acquire))
    }

    /// Remembers that a run was refused, unless columns were freed since `seen`, or another thread
    /// is storing a refusal.
    pub(super) fn remember(self, seen: Seen, length: usize) {
        let refused = seen.0 & !LENGTH | length as u64;
        // Relaxed: this publishes nothing. A failure does no harm: the next claim looks again.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let _ = self.0.compare_exchange(seen.0, refused, order, failed);
    }

    /// Forgets all refusals, after columns were freed.
    pub(super) fn forget(self) {
        let more = |word: u64| Some((word & !LENGTH).wrapping_add(LENGTH + 1));
        // Release: pairs with the Acquire in `look`. Relaxed: each attempt loads again.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let _ = self.0.fetch_update(order, failed, more);
    }
}
