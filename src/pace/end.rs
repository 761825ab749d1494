//! The word of a pace: the end of all that was admitted, or what has replaced it.
//!
//! Three ranges of its values:
//!
//! - up to [`LAST`], a time: the end;
//! - [`RETIRED`], the next value: no call moves it;
//! - above, the address of the [`Changed`] terms and their end, from the first change on. A box's
//!   address is a multiple of eight. So an eighth of it is below 2^61, and the top bit is free.
//!
//! For a call at any time, each value above `LAST` is an end behind the last time. So the decision
//! about a call sees no more than that time ends, and asks for the reason only when it refuses.

use std::ptr::with_exposed_provenance;

use super::changed::Changed;
use super::terms::{LAST, RETIRED, Terms};
use crate::sync::{AtomicU64, Ordering, fence};

/// The end of all that was admitted, or what has replaced it.
#[derive(Debug)]
pub(super) struct End {
    /// The terms with which the pace was built.
    pub(super) first: Terms,
    word: AtomicU64,
}

/// The meaning of a pace's word.
#[derive(Clone, Copy, Debug)]
pub(super) enum Meaning<'a> {
    /// The end, under the terms with which the pace was built; or [`RETIRED`].
    End(u64),
    /// Other terms, and their end.
    Changed(&'a Changed),
}

impl End {
    crate::sync::const_fn! {
        pub(super) const fn new(first: Terms) -> End {
            End { first, word: AtomicU64::new(0) }
        }
    }

    /// Returns the word.
    #[inline]
    pub(super) fn word(&self) -> &AtomicU64 {
        &self.word
    }

    /// Returns what a word means that this thread has read of it.
    #[allow(clippy::unused_self)] // the box lives as long as it
    pub(super) fn meaning(&self, word: u64) -> Meaning<'_> {
        if word <= RETIRED {
            return Meaning::End(word);
        }
        // Acquire: pairs with the Release in `replace`.
        fence(Ordering::Acquire);
        // SAFETY: the word was written by `replace`, from a box that only the drop frees, and this
        // thread has read it: by the fence, the box was filled before.
        Meaning::Changed(unsafe { &*with_exposed_provenance(address(word)) })
    }

    /// Returns the meaning of the word as it is now.
    pub(super) fn now(&self) -> Meaning<'_> {
        // Relaxed: see `meaning`.
        self.meaning(self.word.load(Ordering::Relaxed))
    }

    /// Replaces an end by other terms, for ever. Returns false if the end is another one now.
    #[inline]
    pub(super) fn replace(&self, from: u64, changed: Changed) -> bool {
        let new = Box::into_raw(Box::new(changed));
        let word = RETIRED | new.expose_provenance() as u64 >> 3;
        // Release: publishes the box; pairs with the Acquire fence in `meaning`.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let is_replaced = self.word.compare_exchange(from, word, order, failed).is_ok();
        if !is_replaced {
            // SAFETY: from `into_raw` above; no other thread has seen it.
            drop(unsafe { Box::from_raw(new) });
        }
        is_replaced
    }
}

/// Returns the address that a word above [`RETIRED`] has.
fn address(word: u64) -> usize {
    ((word & LAST) << 3) as usize
}

impl Drop for End {
    #[inline]
    fn drop(&mut self) {
        let word = self.word.load(Ordering::Relaxed); // `&mut self`: no other access
        if word > RETIRED {
            let changed = with_exposed_provenance::<Changed>(address(word)).cast_mut();
            // SAFETY: from `Box::into_raw` in `replace`.
            drop(unsafe { Box::from_raw(changed) });
        }
    }
}
