//! Broken twins of a segment's memory of refusals.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake with refusals that a model must notice.
pub(super) const REFUSALS: &[Twin] = &[
    Twin {
        name: "refusal-remembered-without-comparing",
        file: "src/arena/refusal.rs",
        find: "        let _ = self.0.compare_exchange(seen.0, refused, order, failed);",
        replace: "        let _ = failed;
        self.0.store(refused, order);",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_counter_leaves",
        why: "room that was made during the look is missed for good",
    },
    Twin {
        name: "refusal-looked-at-relaxed",
        file: "src/arena/refusal.rs",
        find: "        Seen(self.0.load(Ordering::Acquire))",
        replace: "        Seen(self.0.load(Ordering::Relaxed))",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_counter_leaves",
        why: "a claim finds that room was made, and not the room, and remembers that the arena is full",
    },
    Twin {
        name: "refusal-forgotten-relaxed",
        file: "src/arena/refusal.rs",
        find: "        let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_counter_leaves",
        why: "the same",
    },
    Twin {
        name: "refusal-forgotten-before-there-is-room",
        file: "src/arena/segment.rs",
        find: "        let (word, bit) = (position / WORD, position % WORD);
        if length <= WORD {
            self.clear_bits(word, mask(bit, length));
        } else {
            (word..word + length.div_ceil(WORD))
                .for_each(|word| self.clear_bits(word, mask(0, WORD)));
        }
        self.refusal.forget();",
        replace: "        let (word, bit) = (position / WORD, position % WORD);
        self.refusal.forget();
        if length <= WORD {
            self.clear_bits(word, mask(bit, length));
        } else {
            (word..word + length.div_ceil(WORD))
                .for_each(|word| self.clear_bits(word, mask(0, WORD)));
        }",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_counter_leaves",
        why: "a claim in between remembers that the arena is full",
    },
    Twin {
        name: "refusal-not-forgotten-when-words-are-given-back",
        file: "src/arena/segment.rs",
        find: "        self.refusal.forget(); // other threads have met these words taken",
        replace: "",
        build: &CHECKER,
        model: "refusals::a_claim_against_a_long_one_that_is_given_up",
        why: "a claim that has met them taken remembers that the arena is full",
    },
];
