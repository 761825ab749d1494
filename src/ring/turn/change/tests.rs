//! Changes, step by step.

use std::ptr::{eq, from_ref};
use std::time::Duration;

use super::*;
use crate::event::Kind;
use crate::event::layout::{BucketLayout, CellIndex};

const CELL: CellIndex = CellIndex::Count { cell: 0 };

fn geometry(buckets: u64) -> Geometry {
    Geometry::new(Duration::from_nanos(10 * buckets), buckets as usize).expect("sound")
}

fn slots(buckets: u64) -> Arc<Slots> {
    Arc::new(Slots::new(geometry(buckets)).expect("sound"))
}

/// Makes a ring of buckets of 10 ns, the newest at 1000.
fn ring() -> Ring {
    const EVENTS: &[(&str, Kind)] = &[("Hit", Kind::Count)];
    Ring::new(geometry(4), Vec::new(), BucketLayout::of(&EVENTS), 1_000).expect("sound")
}

fn add(ring: &Ring, at: u64, n: u64) {
    assert!(ring.add_at(at, at, CELL, n).is_ok());
}

fn sum(ring: &Ring, at: u64) -> u64 {
    ring.view(|| at, |view| view.total(0))
}

/// It makes it only once.
#[test]
fn a_rotation_makes_the_change_that_is_proposed() {
    let (ring, ours) = (ring(), slots(8));
    add(&ring, 1_003, 1);
    assert!(ring.proposal.propose(&ours, 0, Ring::change_as_proposed, &reclaim::pin()));
    add(&ring, 1_004, 2);
    assert_eq!(ring.geometry(), geometry(4), "no thread has moved on");
    assert!(ours.is_untouched());
    add(&ring, 1_013, 4);
    assert_eq!(ring.geometry(), geometry(8));
    assert!(!ours.is_untouched());
    ring.reconfigure(geometry(4)).expect("sound");
    add(&ring, 1_023, 8);
    assert_eq!(ring.geometry(), geometry(4), "the change was made twice");
    assert_eq!(sum(&ring, 1_023), 15);
    let guard = reclaim::pin();
    ring.proposal.withdraw(&ours, &guard);
    assert!((0..4).all(|number| ring.proposal.of(number, &guard).is_none()));
}

#[test]
fn another_change_comes_behind_the_one_that_is_proposed() {
    let (ring, ours) = (ring(), slots(8));
    add(&ring, 1_003, 1);
    assert!(ring.proposal.propose(&ours, 0, Ring::change_as_proposed, &reclaim::pin()));
    ring.reconfigure(geometry(16)).expect("sound");
    assert!(!ours.is_untouched());
    assert_eq!((ring.geometry(), sum(&ring, 1_003)), (geometry(16), 1));
}

/// A change that comes too late opens a bucket in slots that are in use by then. Its start
/// never becomes current, so no bucket has left the ring because of it.
#[test]
fn a_change_that_comes_too_late_takes_no_bucket_out_of_the_ring() {
    let ring = ring();
    let slots = Arc::new(Slots::forgetting(geometry(4)).expect("sound"));
    let guard = reclaim::pin();
    let late = ring.acquire_current();
    // SAFETY: of a bucket that is current under the guard.
    let tiers = &unsafe { late.generation(&guard).deref() }.tiers;
    // All blocks are taken: the current bucket has no reference but that of its slot.
    let opening = || Opening::fine(late.generation(&guard), 9_000, 1_000);
    let owners: Vec<_> =
        (0..8).map(|_| ring.store.open(&opening(), &|_: &Bucket, _: &Block| ())).collect();
    assert!(ring.change(&late, &slots, (1_000, tiers.clone()), &guard));
    add(&ring, 1_003, 7);
    let current = from_ref(ring.acquire_current().bucket());
    // Often enough that the search has come across each bucket.
    for _ in 0..64 {
        assert!(!ring.change(&late, &slots, (5_000, tiers.clone()), &guard));
    }
    assert!(eq(current, ring.acquire_current().bucket()));
    assert!(slots.has(&ring.acquire_current()), "it was taken out of its slot");
    assert_eq!(sum(&ring, 1_003), 7);
    for bucket in owners {
        ring.store.discard(bucket);
    }
}

/// A proposal is in force as long as its generation.
#[test]
fn a_proposal_makes_way_for_one_for_a_newer_generation() {
    let (ring, one, other) = (ring(), slots(8), slots(16));
    let guard = reclaim::pin();
    let propose = |slots, of| ring.proposal.propose(slots, of, Ring::change_as_proposed, &guard);
    assert!(propose(&one, 0) && propose(&one, 0));
    assert!(!propose(&other, 0));
    assert!(propose(&other, 1));
    assert!(!propose(&one, 0));
    ring.proposal.withdraw(&one, &guard);
    assert!(ring.proposal.of(0, &guard).is_none());
    assert!(ring.proposal.of(1, &guard).is_some_and(|(slots, _)| Arc::ptr_eq(slots, &other)));
    // The ring frees the other.
}
