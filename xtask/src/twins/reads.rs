//! Broken twins of what reads: sums, spans, lifetimes and drains.

use crate::models::{CHECKER, EXACT, PER_CORE};
use crate::twin::Twin;

/// Every mistake in a read that a model must notice.
pub(super) const READS: &[Twin] = &[
    Twin {
        name: "claim-does-not-see-what-has-been-opened",
        file: "src/ring/order/bucket.rs",
        find: "self.try_set_state(CLOSING, Ordering::Acquire)",
        replace: "self.try_set_state(CLOSING, Ordering::Relaxed)",
        build: &PER_CORE,
        model: "growth::rotation_into_the_slot_of_a_bucket_against_its_eviction",
        why: "the prefix of a bucket that was given up becomes a part of its block's base (I1)",
    },
    Twin {
        name: "lifetime-looks-beside-the-blocks-first",
        file: "src/ring/read/attempt.rs",
        find: "        let in_blocks = self.store.blocks.iter().map(sum).fold(0, join);
        self.beside.numbers(layout, position).into_iter().fold(in_blocks, join)",
        replace:
            "        let beside = self.beside.numbers(layout, position).into_iter().fold(0, join);
        self.store.blocks.iter().map(sum).fold(beside, join)",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "an extreme that a closer takes from a block is in neither place (I7)",
    },
    Twin {
        name: "drain-scans-before-it-reads-the-baseline",
        file: "src/counters/counter.rs",
        find: "            let base = self.base.load(Ordering::Acquire);
            let sum = self.cells.sum();
            // Release: a thread",
        replace: "            let sum = self.cells.sum();
            let base = self.base.load(Ordering::Acquire);
            // Release: a thread",
        build: &CHECKER,
        model: "counter_drains::two_drains_share_what_was_added",
        why: "the baseline of another drain may be newer than the scan (I8)",
    },
    Twin {
        name: "sum-reads-the-baseline-once",
        file: "src/counters/counter.rs",
        find: "if self.base.load(Ordering::Relaxed) == base {",
        replace: "if self.base.load(Ordering::Relaxed) == base || true {",
        build: &CHECKER,
        model: "counter_sum::sum_against_a_drain",
        why: "the scan may include adds that were drained before them (I9)",
    },
    Twin {
        name: "read-without-looking-again",
        file: "src/ring/order/bucket.rs",
        find: "        self.identity_after() & !STATE == version",
        replace: "        self.identity_after() & !STATE == version || true",
        build: &CHECKER,
        model: "window_sum::bucket_against_its_reuse",
        why: "the bucket may have been reused while it was read (I9)",
    },
    Twin {
        name: "summed-without-looking-again",
        file: "src/ring/read/walk.rs",
        find: "(bucket.identity_after() == identity).then_some(number)",
        replace: "(bucket.identity_after() == identity || true).then_some(number)",
        build: &CHECKER,
        model: "window_sum::sum_against_the_reuse_of_a_bucket",
        why: "the bucket may have been reused while a sum read it (I9)",
    },
    Twin {
        name: "back-dated-add-forgets-the-total",
        file: "src/ring/write/missed.rs",
        find: "        update.put(&self.beside.shared_total(self.store.layout));
",
        replace: "",
        build: &CHECKER,
        model: "lifetime::lifetime_against_back_dated_adds",
        why: "adds that only a bucket has counted leave with it (I7)",
    },
    Twin {
        name: "drain-takes-its-turn-whatever-has-come",
        file: "src/ring/coordination/cursor.rs",
        find: "self.0.word.compare_exchange(look.word, next, order, failed).is_ok()",
        replace: "{ _ = (order, failed); self.0.word.fetch_xor(SET, Ordering::AcqRel); look.word != next }",
        build: &CHECKER,
        model: "window_drains::drain_against_the_change_that_carries",
        why: "a change may carry numbers as waiting that are handed out meanwhile (I8)",
    },
    Twin {
        name: "carried-whether-or-not-it-was-handed-out",
        file: "src/ring/turn/change.rs",
        find: "if !passed.has(bucket.rank()) && bucket.start() >= inherited.first_turn {",
        replace: "if bucket.start() >= inherited.first_turn {",
        build: &CHECKER,
        model: "window_drains::drain_against_the_change_that_carries",
        why: "numbers that were handed out await their turn again (I8)",
    },
    Twin {
        name: "add-without-release",
        file: "src/ring/cells.rs",
        find: "Dealt::add(*self, position, n, Ordering::Release);",
        replace: "Dealt::add(*self, position, n, Ordering::Relaxed);",
        build: &CHECKER,
        model: "seen::by_a_sum",
        why: "a thread that counts an add must see what came before it (I9)",
    },
    Twin {
        name: "version-published-before-its-block",
        file: "src/ring/store.rs",
        find: "            while let Some((index, block)) = free {",
        replace: "            bucket.end_init(OPEN);
            while let Some((index, block)) = free {",
        build: &CHECKER,
        model: "comeback::read_against_a_bucket_that_comes_back",
        why: "a reader may pair the version with a block that another bucket has taken (I9)",
    },
    Twin {
        name: "loaded-without-looking-at-the-pointer-again",
        file: "src/ring/order/bucket_ref.rs",
        find: "pointer.leads_to(bucket, Ordering::Relaxed).then_some",
        replace: "(pointer.leads_to(bucket, Ordering::Relaxed) || true).then_some",
        build: &CHECKER,
        model: "comeback::read_against_a_bucket_that_becomes_older",
        why: "the version may be that of a reuse after the pointer was loaded (I9)",
    },
    Twin {
        name: "older-bucket-taken-for-never-opened",
        file: "src/ring/read/view.rs",
        find: "if there > start || !found.is_valid() {",
        replace: "if there > start {",
        build: &CHECKER,
        model: "comeback::read_against_a_bucket_that_becomes_older",
        why: "the reader does not look again for a bucket that has left the ring (I9)",
    },
    Twin {
        name: "shared-cell-is-the-plain-cell",
        file: "src/stripe/put.rs",
        find: "what.aside(row.map_or(number.aside(),",
        replace: "what.aside(row.map_or(column.cell(0),",
        build: &PER_CORE,
        model: "counter_sum::sums_against_two_adders",
        why: "a plain add overwrites a locked one that comes between its load and its store",
    },
    Twin {
        name: "sequence-is-not-restarted",
        file: "src/stripe/per_core_model.rs",
        find: "    if *core == mine {
        commit(",
        replace: "    if *core >= mine {
        commit(",
        build: &PER_CORE,
        model: "counter_sum::sums_against_two_adders",
        why: "an interrupted add overwrites what came between its load and its store",
    },
    Twin {
        name: "what-has-left-taken-off-behind-the-blocks",
        file: "src/ring/read/at_once.rs",
        find: "        let all_closed =
            each_closed(slots, geometry.oldest(live), oldest, |gone| sums.take_off(gone));
        if !all_closed {
            return None;
        }
        // A newest bucket that is not live yet holds nothing.
        let part = if newest == live { part } else { Part::Whole };
        sums.add_interval(current.bucket, prefix, part)?;
",
        replace: "        let part = if newest == live { part } else { Part::Whole };
        sums.add_interval(current.bucket, prefix, part)?;
        let all_closed =
            each_closed(slots, geometry.oldest(live), oldest, |gone| sums.take_off(gone));
        if !all_closed {
            return None;
        }
",
        build: &CHECKER,
        model: "window_sum::sum_behind_the_live_bucket_against_a_late_add_and_its_close",
        why: "a bucket that is closed in between takes off what the blocks did not have (I9)",
    },
    Twin {
        name: "complete-without-a-live-bucket-that-is-over",
        file: "src/ring/read/at_once.rs",
        find: "let part = if newest == live { part } else { Part::Whole };",
        replace: "",
        build: &CHECKER,
        model: "window_complete::complete_against_the_opening_of_the_newest",
        why: "the live bucket is a complete one until the newest is opened (I9)",
    },
    Twin {
        name: "summed-at-once-whatever-is-current",
        file: "src/ring/read/at_once.rs",
        find: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()",
        replace: "(self.current().load(Ordering::Relaxed).is_null() || true) && found.is_valid()",
        build: &CHECKER,
        model: "window_sum::sum_against_the_totals_over_its_mark",
        why: "totals stand where the mark was, and blocks count for other intervals (I9)",
    },
    Twin {
        name: "summed-at-once-whatever-its-version",
        file: "src/ring/read/at_once.rs",
        find: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()",
        replace: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && (found.is_valid() || true)",
        build: &CHECKER,
        model: "window_sum::sum_against_a_leap_and_a_bucket_that_comes_back",
        why: "the bucket was reused, and is current again (I9)",
    },
    Twin {
        name: "version-checked-before-current",
        file: "src/ring/read/at_once.rs",
        find: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()",
        replace: "found.is_valid() && std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket)",
        build: &CHECKER,
        model: "window_sum::sum_against_a_leap_and_a_bucket_that_comes_back",
        why: "the bucket is reused between the two, and current again (I9)",
    },
    Twin {
        name: "shared-add-not-said",
        file: "src/ring/write/missed.rs",
        find: "        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);",
        replace: "        let _ = until;",
        build: &CHECKER,
        model: "window_sum::sum_against_the_totals_over_its_mark",
        why: "a sum at once does not look at other buckets' shared cells (I9)",
    },
    Twin {
        name: "shared-add-said-afterwards",
        file: "src/ring/write/missed.rs",
        find: "        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);
        update.put(&self.store.cells(bucket));
        self.put_in_tiers(&of.tiers, bucket.start(), newest, update);
        update.put(&self.beside.shared_total(self.store.layout));",
        replace: "        update.put(&self.store.cells(bucket));
        self.put_in_tiers(&of.tiers, bucket.start(), newest, update);
        update.put(&self.beside.shared_total(self.store.layout));
        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);",
        build: &CHECKER,
        model: "window_sum::sum_behind_a_lifetime_that_counts_a_back_dated_add",
        why: "a reader that has counted the add sums without it afterwards (I9)",
    },
    Twin {
        name: "zero-looked-for-behind-the-others",
        file: "src/event/cells.rs",
        find: "let (has_zero, greatest) = (read(cell) > 0, read(cell + 1));",
        replace: "let (greatest, has_zero) = (read(cell + 1), read(cell) > 0);",
        build: &CHECKER,
        model: "extremes::read_against_zero_behind_another_value",
        why: "zero is found that came behind a greater value which was not (I9)",
    },
    Twin {
        name: "back-dated-add-forgets-the-tiers",
        file: "src/ring/write/missed.rs",
        find: "        self.put_in_tiers(&of.tiers, bucket.start(), newest, update);",
        replace: "        let _ = newest;",
        build: &CHECKER,
        model: "window_tiers::span_behind_a_lifetime_that_counts_a_back_dated_add",
        why: "adds beside blocks are in no difference of them (I9)",
    },
    Twin {
        name: "span-read-whatever-is-current",
        file: "src/ring/read/tier_view.rs",
        find: "if self.view.is_current() {",
        replace: "if self.view.is_current() || true {",
        build: &EXACT,
        model: "tiers::overtaken::totals_that_are_overtaken_each_time_are_those_of_their_span",
        why: "blocks are another bucket's by then, and notes have come (I9)",
    },
    Twin {
        name: "span-read-although-it-has-left",
        file: "src/ring/read/tier_view.rs",
        find: "is_there && ends &&",
        replace: "ends &&",
        build: &EXACT,
        model: "tiers::overtaken::totals_that_are_overtaken_each_time_are_those_of_their_span",
        why: "a note that has left is another boundary's (I9)",
    },
    Twin {
        name: "settled-beside-a-writer",
        file: "src/ring/coordination/shared_prefix.rs",
        find: "writers.is_multiple_of(ENTRY).then_some(Quiet(writers))",
        replace: "Some(Quiet(writers))",
        build: &CHECKER,
        model: "settling::a_writer_against_a_thread_that_settles",
        why: "a writer has added to one of two numbers that must agree (I9)",
    },
    Twin {
        name: "settled-over-a-writer",
        file: "src/ring/coordination/shared_prefix.rs",
        find: "self.writers().load(Ordering::Relaxed) == quiet.0",
        replace: "self.writers().load(Ordering::Relaxed) == quiet.0 || true",
        build: &CHECKER,
        model: "settling::a_writer_against_a_thread_that_settles",
        why: "a writer has come and gone while two numbers were read that must agree (I9)",
    },
    Twin {
        name: "writer-does-not-look-again",
        file: "src/ring/write/missed.rs",
        find: "return if self.current.leads_to(current.bucket(), Ordering::Relaxed) {",
        replace: "return if self.current.leads_to(current.bucket(), Ordering::Relaxed) || true {",
        build: &CHECKER,
        model: "settling::a_writer_against_the_rotation_that_ends_its_interval",
        why: "the writer's bucket may have left the interval before it entered (I9)",
    },
    Twin {
        name: "sum-with-a-prefix-of-another-time",
        file: "src/ring/coordination/shared_prefix.rs",
        find: "self.version.load(Ordering::Relaxed) == found.version",
        replace: "self.version.load(Ordering::Relaxed) == found.version || true",
        build: &CHECKER,
        model: "settling::a_sum_against_the_prefix_of_the_next_interval",
        why: "another interval's prefix is written meanwhile (I9)",
    },
];
