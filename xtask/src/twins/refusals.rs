//! Broken twins of a segment's memory of refusals, and of spare columns.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake with refusals and spare columns that a model must notice.
pub(super) const REFUSALS: &[Twin] = &[
    Twin {
        name: "refusal-remembered-without-comparing",
        file: "src/arena/refusal.rs",
        find: "        let _ = self.0.compare_exchange(seen.0, refused, order, failed);",
        replace: "        let _ = failed;
        self.0.store(refused, order);",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_histogram_leaves",
        why: "room that was made during the look is missed for good",
    },
    Twin {
        name: "refusal-looked-at-relaxed",
        file: "src/arena/refusal.rs",
        find: "        Seen(self.0.load(Ordering::Acquire))",
        replace: "        Seen(self.0.load(Ordering::Relaxed))",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_histogram_leaves",
        why: "a claim finds that room was made, and not the room, and remembers that the arena is full",
    },
    Twin {
        name: "refusal-forgotten-relaxed",
        file: "src/arena/refusal.rs",
        find: "        let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_histogram_leaves",
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
        self.forget();",
        replace: "        let (word, bit) = (position / WORD, position % WORD);
        self.forget();
        if length <= WORD {
            self.clear_bits(word, mask(bit, length));
        } else {
            (word..word + length.div_ceil(WORD))
                .for_each(|word| self.clear_bits(word, mask(0, WORD)));
        }",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_histogram_leaves",
        why: "a claim in between remembers that the arena is full",
    },
    Twin {
        name: "refusal-not-forgotten-when-words-are-given-back",
        file: "src/arena/segment.rs",
        find: "        self.forget(); // other threads have met these words taken",
        replace: "",
        build: &CHECKER,
        model: "refusals::a_claim_against_a_long_one_that_is_given_up",
        why: "a claim that has met them taken remembers that the arena is full",
    },
    Twin {
        name: "refusal-of-the-group-not-forgotten",
        file: "src/arena/segment.rs",
        find: "        self.of_group.forget();",
        replace: "",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_histogram_leaves",
        why: "the group's segments are passed over although one has room",
    },
    Twin {
        name: "refusal-of-the-group-forgotten-first",
        file: "src/arena/segment.rs",
        find: "        self.refusal.forget();
        self.of_group.forget();",
        replace: "        self.of_group.forget();
        self.refusal.forget();",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_histogram_leaves",
        why: "a claim that finds the segment's refusal in between remembers it for the group",
    },
    Twin {
        name: "spare-columns-are-not-asked-for",
        file: "src/arena.rs",
        find: "            .or_else(|| self.claim_spare(length))",
        replace: "",
        build: &CHECKER,
        model: "refusals::a_claim_against_the_room_that_a_counter_leaves",
        why: "a column that another core keeps is missed, and the counter has none for good",
    },
    Twin {
        name: "spare-column-taken-without-an-exchange",
        file: "src/arena/spare.rs",
        find: "    let first = NonNull::new(place.swap(null_mut(), Ordering::Acquire))?;",
        replace: "    let first = NonNull::new(place.load(Ordering::Acquire))?;
    place.store(null_mut(), Ordering::Relaxed);",
        build: &CHECKER,
        model: "columns::from_one_counter_to_two",
        why: "two counters have one column",
    },
];
