//! Broken twins of what announces a bucket, and looks for announcements.

use crate::models::ANNOUNCED as BUILD;
use crate::twin::Twin;

const FILE: &str = "src/reclaim/announced.rs";
const ONE_ADD: &str = "announced::an_add_against_the_reuse_of_its_bucket";
const TWO_ADDS: &str = "announced::two_adds_against_the_reuse_of_their_bucket";
const IN_ONE_SLOT: &str =
    "announced::adds_of_two_threads_in_one_slot_against_the_reuse_of_their_bucket";

const FORGOTTEN: &str = "src/family/forgotten.rs";
const A_KEPT_SERIES: &str = "families::announced::an_add_against_a_removal";
const A_SECOND_SERIES: &str = "families::announced::a_second_series_against_two_removals";
const TWO_KEPT_SERIES: &str = "families::announced::two_series_against_their_removals";

/// Every mistake with announcements that a model must notice.
pub(super) const ANNOUNCED: &[Twin] = &[
    Twin {
        name: "announced-without-a-barrier",
        file: "src/stripe/membarrier/modelled.rs",
        find: "    announced::interrupt();",
        replace: "",
        build: &BUILD,
        model: ONE_ADD,
        why: "an add whose announcement the closer cannot see lands in the next bucket (I1, I2)",
    },
    Twin {
        name: "announced-closed-without-a-look",
        file: "src/ring/turn/close.rs",
        find: "self.barriers().passed(ticket()) && !announced::is_announced(bucket)",
        replace: "self.barriers().passed(ticket())",
        build: &BUILD,
        model: ONE_ADD,
        why: "an add under way lands in the bucket that owns the block next (I1, I2)",
    },
    Twin {
        name: "announced-fenced-closed-without-a-look",
        file: "src/ring/turn/close.rs",
        find: "Strategy::Fenced => !announced::fence_and_look(bucket),",
        replace: "Strategy::Fenced => bucket.rank().0 > 0 || !announced::fence_and_look(std::ptr::null::<u8>().wrapping_add(1)),",
        build: &BUILD,
        model: ONE_ADD,
        why: "an add under way lands in the bucket that owns the block next (I1, I2)",
    },
    Twin {
        name: "announced-without-a-second-look",
        file: FILE,
        find: "let held = Held { slot: self, thing: unsafe { &*there } };\n        \
               dependent::are_equal(there.addr(), found.addr()).then_some(held)",
        replace: "let held = Held { slot: self, thing: unsafe { &*found } };\n        \
                  (dependent::are_equal(there.addr(), found.addr()) || true).then_some(held)",
        build: &BUILD,
        model: ONE_ADD,
        why: "the bucket was closed before it was announced (I1, I2)",
    },
    Twin {
        name: "announced-second-look-relaxed",
        file: FILE,
        find: "            pointer.load(Ordering::Acquire)\n",
        replace: "            pointer.load(Ordering::Relaxed)\n",
        build: &BUILD,
        model: ONE_ADD,
        why: "an add may find a bucket whose fields it cannot see (I5)",
    },
    Twin {
        name: "announced-relaxed",
        file: FILE,
        find: "step(|| word.store(found.cast(), Ordering::Release));",
        replace: "step(|| word.store(found.cast(), Ordering::Relaxed));",
        build: &BUILD,
        model: TWO_ADDS,
        why: "a thread that sees the next announcement does not see the add behind the one before (I6)",
    },
    Twin {
        name: "announced-taken-back-relaxed",
        file: FILE,
        find: "self.slot.announced.store(null_mut(), Ordering::Release);",
        replace: "self.slot.announced.store(null_mut(), Ordering::Relaxed);",
        build: &BUILD,
        model: ONE_ADD,
        why: "a thread that no longer sees the announcement does not see the add behind it (I6)",
    },
    Twin {
        name: "announced-no-fence-between-announcement-and-look",
        file: FILE,
        find: "Between::Fence => fence(Ordering::SeqCst), // pairs",
        replace: "Between::Fence => compiler_fence(Ordering::SeqCst), // pairs",
        build: &BUILD,
        model: ONE_ADD,
        why: "adder and closer may each miss the other (I1, I2)",
    },
    Twin {
        name: "announced-no-fence-before-the-look",
        file: FILE,
        find: "    fence(Ordering::SeqCst); // pairs with the one in `follow`",
        replace: "",
        build: &BUILD,
        model: ONE_ADD,
        why: "adder and closer may each miss the other (I1, I2)",
    },
    Twin {
        name: "announced-slot-linked-late",
        file: FILE,
        find: "            match first().compare_exchange_weak(next, chunk, Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return slot,
                Err(now) => next = now,
            }",
        replace: "            return slot;",
        build: &BUILD,
        model: ONE_ADD,
        why: "no thread looks at the slot (I1, I2)",
    },
    Twin {
        name: "announced-slot-not-in-use",
        file: FILE,
        find: "        self.in_use.fetch_or(slot.bit, Ordering::Relaxed);",
        replace: "",
        build: &BUILD,
        model: ONE_ADD,
        why: "no thread looks at the slot (I1, I2)",
    },
    Twin {
        name: "announced-slot-out-of-use-relaxed",
        file: FILE,
        find: "chunk.in_use.fetch_and(!self.bit, Ordering::Release);",
        replace: "chunk.in_use.fetch_and(!self.bit, Ordering::Relaxed);",
        build: &BUILD,
        model: IN_ONE_SLOT,
        why: "a thread that finds the other without a slot does not see its adds (I6)",
    },
    Twin {
        name: "kept-freed-without-a-look",
        file: FORGOTTEN,
        find: "if used.binary_search(&address).is_ok() || ",
        replace: "if used.is_empty() && used.binary_search(&address).is_ok() || ",
        build: &BUILD,
        model: A_KEPT_SERIES,
        why: "a series is freed under the thread that has announced it",
    },
    Twin {
        name: "kept-freed-without-a-barrier",
        file: "src/stripe/membarrier/modelled.rs",
        find: "    announced::interrupt();",
        replace: "",
        build: &BUILD,
        model: A_KEPT_SERIES,
        why: "an announcement that the look cannot see yet: the series is freed under its user",
    },
    Twin {
        name: "kept-without-a-second-look",
        file: FILE,
        find: "dependent::are_equal(there.addr(), found.addr()).then_some((there.cast_const(), kept))",
        replace: "(dependent::are_equal(there.addr(), found.addr()) || true).then_some((found.cast_const(), kept))",
        build: &BUILD,
        model: A_KEPT_SERIES,
        why: "the series was freed before it was announced",
    },
    Twin {
        name: "kept-taken-back-relaxed",
        file: FILE,
        find: "self.word.store(null_mut(), Ordering::Release);",
        replace: "self.word.store(null_mut(), Ordering::Relaxed);",
        build: &BUILD,
        model: A_KEPT_SERIES,
        why: "who frees the series does not see the add behind the announcement",
    },
    Twin {
        name: "kept-two-in-one-word",
        file: FILE,
        find: "!other.is_null() || found.is_null()",
        replace: "found.is_null()",
        build: &BUILD,
        model: TWO_KEPT_SERIES,
        why: "the second announcement takes back the first, whose series is freed",
    },
    Twin {
        name: "kept-second-whose-first-is-gone",
        file: "src/family/table.rs",
        find: "!ptr::eq(self.head.load(Ordering::Relaxed), first)",
        replace: "first.next.load(Ordering::Relaxed).is_null()",
        build: &BUILD,
        model: A_SECOND_SERIES,
        why: "the link of a removed series leads to one that was freed",
    },
];
