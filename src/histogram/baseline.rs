//! The reading of a histogram at its last drain.
//!
//! Nothing is reset: a drain moves the baseline up to its own reading and returns the difference,
//! as in [`Counter`](crate::Counter). Here the baseline is a whole reading, behind a pointer. So it
//! moves in one step, and each record's count in a cell is in the result of exactly one drain, as
//! [`Histogram::take`](crate::Histogram::take) says.
//!
//! # Why a difference is never negative, and never too large
//!
//! A drain loads the baseline with Acquire before it reads. It was published with Release by a
//! drain that had read before. So each number that is read now is no less than it was then. Two
//! drains cannot both move the baseline from the same one: a baseline is not freed while a thread
//! is pinned that has seen it, so no later one has its address. A reader that does not move the
//! baseline checks, after it has read, that the baseline is still the same. If it has read an add
//! that came after some drain, it finds that drain's baseline too, and reads again.

use super::reading::Reading;
use crate::reclaim::{Atomic, Guard, Owned, Shared, pin};
use crate::sync::{Ordering, const_fn};

/// The last drain's reading; null if there was no drain.
pub(super) struct Baseline(Atomic<Reading>);

impl Baseline {
    const_fn! {
        pub(super) const fn new() -> Baseline {
            Baseline(Atomic::null())
        }
    }

    /// Returns the result of `read`, given a baseline that is the present one both before and after
    /// it reads.
    pub(super) fn settled<R>(&self, read: impl Fn(Option<&Reading>) -> R) -> R {
        loop {
            let guard = pin();
            let (there, before) = self.load(&guard);
            let answer = read(before);
            // Relaxed: the Acquire loads of the reading keep this load behind them. It sees the
            // baseline of every drain after which an add came that was read.
            if self.0.load(Ordering::Relaxed, &guard) == there {
                return answer;
            }
        }
    }

    /// Moves the baseline up to the reading that `read` returns. Returns the difference between the
    /// two, and whether there was no baseline before.
    #[inline]
    pub(super) fn drain(&self, read: impl Fn() -> Reading) -> (Reading, bool) {
        loop {
            let guard = pin();
            let (there, before) = self.load(&guard);
            let now = read();
            let more = now.clone().since(before);
            // Release: a thread that loads this baseline sees what was read here. On failure
            // another drain came between: this reading is discarded.
            let (order, failed) = (Ordering::Release, Ordering::Relaxed);
            if self.0.compare_exchange(there, Owned::new(now), order, failed, &guard).is_ok() {
                if !there.is_null() {
                    // SAFETY: it is unlinked, by this exchange alone.
                    unsafe { guard.defer_destroy(there) };
                }
                return (more, before.is_none());
            }
        }
    }

    #[inline]
    fn load<'g>(&self, guard: &'g Guard) -> (Shared<'g, Reading>, Option<&'g Reading>) {
        // Acquire: pairs with the Release in `drain`. Numbers read from now on are no less than
        // those that this drain has read.
        let there = self.0.load(Ordering::Acquire, guard);
        // SAFETY: null, or found under the guard, which protects it.
        (there, unsafe { there.as_ref() })
    }
}

impl Drop for Baseline {
    #[inline]
    fn drop(&mut self) {
        let guard = pin();
        let there = self.0.load(Ordering::Relaxed, &guard); // `&mut self`
        if !there.is_null() {
            // SAFETY: `&mut self`: no thread reads it any more.
            drop(unsafe { there.into_owned() });
        }
    }
}
