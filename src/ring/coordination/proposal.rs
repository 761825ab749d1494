//! A change of geometry that one thread asks the others to make.
//!
//! Changes and rotations are each one compare-exchange of `current`. An attempt at a change takes
//! longer: where buckets are shorter than that, each attempt would find that `current` has moved
//! on. So a thread that has failed *proposes* its slots to follow on the generation that it has
//! seen. A rotation, or another change, that finds a proposal for the generation from which it is
//! about to move on attempts the proposal instead. From then on every winner makes the change,
//! except threads that had looked for a proposal before, each for one rotation. No thread waits.
//!
//! A proposal is for one generation, by number, and numbers never go back. So it can be made once,
//! and not at all when another change was faster; then its owner proposes anew. When the number has
//! moved on, the proposal has no effect any more: its owner withdraws it, or the next proposal
//! replaces it.

use std::sync::Arc;

use crate::reclaim::{Atomic, Guard, Owned, Shared};
use crate::ring::order::slots::Slots;
use crate::sync::Ordering;

/// The proposal to all threads of a window, if there is one.
#[derive(Debug)]
pub(in crate::ring) struct Proposal<F>(Atomic<Proposed<F>>);

#[derive(Debug)]
struct Proposed<F> {
    /// The number of the generation to move on from.
    of: u64,
    slots: Arc<Slots>,
    /// The function that makes the change. (So a program that changes no geometry does not contain
    /// it.)
    change: F,
}

impl<F: Copy + 'static> Proposal<F> {
    pub(in crate::ring) fn none() -> Proposal<F> {
        Proposal(Atomic::null())
    }

    /// Returns the slots that are proposed to follow on a generation.
    #[inline]
    pub(in crate::ring) fn of<'g>(
        &self,
        number: u64,
        guard: &'g Guard,
    ) -> Option<(&'g Arc<Slots>, F)> {
        let (_, proposed) = self.load(guard);
        proposed
            .filter(|proposed| proposed.of == number)
            .map(|proposed| (&proposed.slots, proposed.change))
    }

    /// Proposes slots to follow on a generation. Returns false if there is another proposal, not
    /// older than this, or if another thread was faster.
    #[inline]
    pub(in crate::ring) fn propose(
        &self,
        slots: &Arc<Slots>,
        number: u64,
        change: F,
        guard: &Guard,
    ) -> bool {
        let (there, proposed) = self.load(guard);
        if let Some(proposed) = proposed
            && proposed.of >= number
        {
            return Arc::ptr_eq(&proposed.slots, slots);
        }
        let new = Owned::new(Proposed { of: number, slots: Arc::clone(slots), change });
        // Release: publishes the proposal. Relaxed on failure: what was found is not followed.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let is_ours = self.0.compare_exchange(there, new, order, failed, guard).is_ok();
        if is_ours {
            defer_free(there, guard);
        }
        is_ours
    }

    /// Withdraws a proposal of these slots, if it is still there.
    #[inline]
    pub(in crate::ring) fn withdraw(&self, slots: &Arc<Slots>, guard: &Guard) {
        let (there, proposed) = self.load(guard);
        if proposed.is_none_or(|proposed| !Arc::ptr_eq(&proposed.slots, slots)) {
            return; // another has replaced it
        }
        // Relaxed, both: it publishes nothing.
        let order = Ordering::Relaxed;
        if self.0.compare_exchange(there, Shared::null(), order, order, guard).is_ok() {
            defer_free(there, guard);
        }
    }

    /// Loads the proposal, with its pointer.
    #[inline]
    fn load<'g>(&self, guard: &'g Guard) -> (Shared<'g, Proposed<F>>, Option<&'g Proposed<F>>) {
        // Acquire: pairs with the Release in `propose`.
        let there = self.0.load(Ordering::Acquire, guard);
        // SAFETY: null, or found under the guard, which protects it: `defer_free` comes later.
        (there, unsafe { there.as_ref() })
    }
}

/// Frees a proposal when no thread reads it any more. Called by the thread that has replaced it.
fn defer_free<F: 'static>(proposed: Shared<'_, Proposed<F>>, guard: &Guard) {
    if !proposed.is_null() {
        // SAFETY: it is unlinked, and only one exchange has unlinked it: no other proposal can have
        // its address while there is a guard under which it was found.
        unsafe { guard.defer_destroy(proposed) };
    }
}

/// Frees the proposal: its owner may never have come back to withdraw it.
impl<F> Drop for Proposal<F> {
    fn drop(&mut self) {
        let guard = crate::reclaim::pin_apart();
        let there = self.0.load(Ordering::Relaxed, &guard);
        if !there.is_null() {
            // SAFETY: `&mut self`: no thread reads it any more.
            drop(unsafe { there.into_owned() });
        }
    }
}
