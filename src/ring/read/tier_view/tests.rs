//! Spans whose end another thread would have to meet: the ring moves on between what a view finds
//! and what it reads, and the view's time is that of an earlier one, as in a ninth attempt.

use std::time::Duration;

use super::TierSpan;
use crate::event::Kind;
use crate::event::layout::{BucketLayout, CellIndex};
use crate::reclaim;
use crate::ring::{Geometry, Ring};

const COUNT: &[(&str, Kind)] = &[("Event", Kind::Count)];

/// Returns a ring of four buckets of 10 ns, with a tier of three buckets of 20 ns. One was counted
/// at 105, and two at 125, in the first half of a coarse bucket.
fn ring() -> Ring {
    let geometry = Geometry::new(Duration::from_nanos(40), 4).expect("sound");
    let tier = Geometry::of_length(Duration::from_nanos(20), 3).expect("sound");
    let ring = Ring::new(geometry, vec![tier], BucketLayout::of(&COUNT), 105).expect("sound");
    add(&ring, 105, 1);
    add(&ring, 125, 2);
    ring
}

fn add(ring: &Ring, at: u64, number: u64) {
    ring.add_at(at, at, CellIndex::Count { cell: 0 }, number).expect("in the ring");
}

/// Returns the counts that a view finds at 125 of the span from one coarse bucket up to another, if
/// four more are counted at `meanwhile`; `None` if it is torn.
fn read(is_repeated: bool, (from, newest): (u64, u64), meanwhile: u64) -> Option<u64> {
    let ring = ring();
    let guard = reclaim::pin();
    let view = ring.present(&guard).expect("no other thread").at(125, is_repeated);
    let span = TierSpan::of(&view, 0, from, newest);
    add(&ring, meanwhile, 4);
    let number = span.number(0);
    span.end();
    (!view.is_torn()).then_some(number)
}

/// It holds what was there in the beginning, at least, and nothing from behind its end.
#[test]
fn a_late_span_from_a_noted_boundary_may_move_on_up_to_its_end() {
    for meanwhile in [125, 135] {
        let found = read(true, (100, 120), meanwhile);
        assert!(found.is_some_and(|found| (3..=7).contains(&found)), "{meanwhile}: {found:?}");
    }
    for meanwhile in [140, 145, 155] {
        assert_eq!(read(true, (100, 120), meanwhile), None, "{meanwhile} is behind its end");
    }
}

/// All but the live bucket was counted before it: what that is, is not known when another is live.
#[test]
fn a_span_that_begins_with_the_live_bucket_may_not_move_on() {
    for is_repeated in [false, true] {
        let found = read(is_repeated, (120, 120), 125);
        assert!(found.is_some_and(|found| (2..=6).contains(&found)), "{found:?}");
        for meanwhile in [135, 145] {
            assert_eq!(read(is_repeated, (120, 120), meanwhile), None, "{meanwhile}");
        }
    }
}

/// Checks the end of a span: it ends where the live bucket begins.
#[test]
fn a_span_that_ends_before_the_live_bucket_may_not_move_on() {
    for is_repeated in [false, true] {
        assert_eq!(read(is_repeated, (100, 100), 125), Some(1));
        for meanwhile in [135, 145] {
            assert_eq!(read(is_repeated, (100, 100), meanwhile), None, "{meanwhile}");
        }
    }
}

#[test]
fn a_span_that_is_not_late_may_not_move_on() {
    assert_eq!(read(false, (100, 120), 135), None);
}
