//! Broken twins of `clear`.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake in a clear that a model must notice.
pub(super) const CLEARS: &[Twin] = &[
    Twin {
        name: "clear-takes-its-own-start-for-the-newest",
        file: "src/ring/turn/change.rs",
        find: "self.store.open(&Opening::first(next, start), prefix)",
        replace: "self.store.open(&Opening::fine(next, start, start), prefix)",
        build: &CHECKER,
        model: "clear::clear_against_the_rotation_that_makes_it",
        why: "a late thread takes the current bucket out of its slot, and reuses it (I5)",
    },
    Twin {
        name: "clear-uses-its-slots-for-two-generations",
        file: "src/ring/turn/change.rs",
        find: "Arc::ptr_eq(&generation.slots, ours) || !ours.is_untouched()",
        replace: "!ours.is_untouched()",
        build: &CHECKER,
        model: "clear::clear_against_the_rotation_that_makes_it",
        why: "the current bucket is not in its slot yet: the slots are freed while they are in use (I5)",
    },
    Twin {
        name: "clear-leaves-a-late-add-ahead-of-its-tiers",
        file: "src/ring/write/missed.rs",
        find: "if geometry.in_ring(geometry.start_of(at), newest) {",
        replace: "if geometry.in_ring(geometry.start_of(at), newest) && false {",
        build: &CHECKER,
        model: "clear::late_add_against_a_clear_that_goes_back_with_a_tier",
        why: "a coarse bucket of the ring finds a newer one in its slot, and is never noted (I9)",
    },
];
