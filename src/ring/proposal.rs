//! A change of geometry that somebody asks others to make.
//!
//! A change is one compare-exchange of `current`, and so is a rotation. An attempt at a change takes
//! longer: where buckets are shorter than that, each attempt would find that `current` has moved on.
//! So whoever has failed a few times *proposes* its slots, for the generation that it has seen; and a
//! rotation, or another change, that finds a proposal for the generation that it is about to move on from
//! attempts that, and not what it came for. From then on whoever wins makes the change, but for those
//! who had looked for a proposal before: one rotation a thread. Nobody waits for anybody.
//!
//! A proposal is for one generation, by number, and numbers never go back. So it can be made once, and
//! not at all when another change was faster; then its owner proposes anew. When the number has moved on
//! it is of no use: its owner withdraws it, or whoever proposes next puts its own in its place.

use std::sync::Arc;

use crate::reclaim::{Atomic, Guard, Owned, Shared};
use crate::ring::Ring;
use crate::ring::slots::Slots;
use crate::sync::Ordering;

/// What is proposed.
#[derive(Debug)]
pub(super) struct Proposal {
    /// The number of the generation that is to be moved on from.
    of: u64,
    slots: Arc<Slots>,
}

impl Ring {
    /// The slots that are proposed to follow on a generation.
    pub(super) fn proposed<'g>(&self, number: u64, guard: &'g Guard) -> Option<&'g Arc<Slots>> {
        let (_, proposal) = find(&self.proposal, guard);
        proposal.filter(|proposal| proposal.of == number).map(|proposal| &proposal.slots)
    }

    /// Proposes slots to follow on a generation. False if there is another proposal, not older than
    /// this, or if somebody else was faster.
    pub(super) fn propose(&self, slots: &Arc<Slots>, number: u64, guard: &Guard) -> bool {
        let (there, proposal) = find(&self.proposal, guard);
        if let Some(proposal) = proposal
            && proposal.of >= number
        {
            return Arc::ptr_eq(&proposal.slots, slots);
        }
        let new = Owned::new(Proposal { of: number, slots: Arc::clone(slots) });
        // Release: publishes the proposal. Relaxed on failure: what was found is not followed.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let proposed = self.proposal.compare_exchange(there, new, order, failed, guard).is_ok();
        if proposed {
            retire(there, guard);
        }
        proposed
    }

    /// Takes back what was proposed, if it is still there.
    pub(super) fn withdraw(&self, slots: &Arc<Slots>, guard: &Guard) {
        let (there, proposal) = find(&self.proposal, guard);
        if proposal.is_none_or(|proposal| !Arc::ptr_eq(&proposal.slots, slots)) {
            return; // somebody has put another in its place
        }
        // Relaxed, both: it publishes nothing.
        let order = Ordering::Relaxed;
        if self.proposal.compare_exchange(there, Shared::null(), order, order, guard).is_ok() {
            retire(there, guard);
        }
    }
}

/// What is proposed, and by what pointer.
fn find<'g>(
    place: &Atomic<Proposal>,
    guard: &'g Guard,
) -> (Shared<'g, Proposal>, Option<&'g Proposal>) {
    // Acquire: pairs with the Release in `propose`.
    let there = place.load(Ordering::Acquire, guard);
    // SAFETY: null, or was found under the guard, by which it is protected: `retire` comes later.
    (there, unsafe { there.as_ref() })
}

/// Frees a proposal when nobody looks at it any more. For whoever has taken it from its place.
fn retire(proposal: Shared<'_, Proposal>, guard: &Guard) {
    if !proposal.is_null() {
        // SAFETY: it is in its place no more; the exchange that took it away has succeeded once, as no
        // other proposal can have its address while a guard is there under which it was found.
        unsafe { guard.defer_destroy(proposal) };
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::kind::Kind;
    use crate::layout::{Place, Shape};
    use crate::reclaim;
    use crate::ring::Geometry;

    const PLACE: Place = Place::Count { cell: 0 };

    fn geometry(buckets: u64) -> Geometry {
        Geometry::new(Duration::from_nanos(10 * buckets), buckets as usize).expect("sound")
    }

    fn slots(buckets: u64) -> Arc<Slots> {
        Arc::new(Slots::new(geometry(buckets)).expect("sound"))
    }

    /// Of buckets of 10 ns, the newest at 1000.
    fn ring() -> Ring {
        Ring::new(geometry(4), Shape::of(&[("Hit", Kind::Count)]), 1_000).expect("sound")
    }

    fn add(ring: &Ring, at: u64, n: u64) {
        assert!(ring.add_at(at, at, PLACE, n).is_ok());
    }

    fn sum(ring: &Ring, at: u64) -> u64 {
        ring.view(|| at, |view| view.total(0))
    }

    /// And makes it once.
    #[test]
    fn a_rotation_makes_the_change_that_is_proposed() {
        let (ring, ours) = (ring(), slots(8));
        add(&ring, 1_003, 1);
        assert!(ring.propose(&ours, 0, &reclaim::pin()));
        add(&ring, 1_004, 2);
        assert_eq!(ring.geometry(), geometry(4), "nobody has moved on");
        assert!(ours.is_untouched());
        add(&ring, 1_013, 4);
        assert_eq!(ring.geometry(), geometry(8));
        assert!(!ours.is_untouched());
        ring.reconfigure(geometry(4)).expect("sound");
        add(&ring, 1_023, 8);
        assert_eq!(ring.geometry(), geometry(4), "the change was made twice");
        assert_eq!(sum(&ring, 1_023), 15);
        let guard = reclaim::pin();
        ring.withdraw(&ours, &guard);
        assert!(find(&ring.proposal, &guard).1.is_none());
    }

    #[test]
    fn another_change_comes_behind_the_one_that_is_proposed() {
        let (ring, ours) = (ring(), slots(8));
        add(&ring, 1_003, 1);
        assert!(ring.propose(&ours, 0, &reclaim::pin()));
        ring.reconfigure(geometry(16)).expect("sound");
        assert!(!ours.is_untouched());
        assert_eq!((ring.geometry(), sum(&ring, 1_003)), (geometry(16), 1));
    }

    /// A proposal holds as long as the generation does that it is for.
    #[test]
    fn a_proposal_makes_way_for_one_for_a_newer_generation() {
        let (ring, one, other) = (ring(), slots(8), slots(16));
        let guard = reclaim::pin();
        assert!(ring.propose(&one, 0, &guard) && ring.propose(&one, 0, &guard));
        assert!(!ring.propose(&other, 0, &guard));
        assert!(ring.propose(&other, 1, &guard));
        assert!(!ring.propose(&one, 0, &guard));
        ring.withdraw(&one, &guard);
        assert!(ring.proposed(0, &guard).is_none());
        assert!(ring.proposed(1, &guard).is_some_and(|slots| Arc::ptr_eq(slots, &other)));
        // It goes with the ring.
    }
}
