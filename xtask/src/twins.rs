//! The table of broken twins.

use crate::models::{CHECKER, PER_CORE, TORTURE};
use crate::twin::Twin;

/// Every mistake that a model must notice.
pub(crate) const TWINS: &[Twin] = &[
    Twin {
        name: "drain-scans-before-it-reads-the-baseline",
        file: "src/counter.rs",
        find: "            let base = self.base.load(Ordering::Acquire);
            let sum = self.cells.sum();
            // Release: whoever",
        replace: "            let sum = self.cells.sum();
            let base = self.base.load(Ordering::Acquire);
            // Release: whoever",
        build: &CHECKER,
        model: "counter_drains::two_drains_share_what_was_added",
        why: "the baseline of another drain may be newer than the scan (I8)",
    },
    Twin {
        name: "sum-reads-the-baseline-once",
        file: "src/counter.rs",
        find: "if self.base.load(Ordering::Relaxed) == base {",
        replace: "if self.base.load(Ordering::Relaxed) == base || true {",
        build: &CHECKER,
        model: "counter_sum::sum_against_a_drain",
        why: "the scan may include adds that were drained before them (I9)",
    },
    Twin {
        name: "current-published-relaxed",
        file: "src/ring/rotate.rs",
        find: "self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();",
        replace: "self.current.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();",
        build: &CHECKER,
        model: "each_bucket::add_against_rotation",
        why: "an add may find a header whose fields it cannot see (I5)",
    },
    Twin {
        name: "slot-published-relaxed",
        file: "src/ring/slots.rs",
        find: "let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &CHECKER,
        model: "one_header::insertion_against_insertion",
        why: "a back-dated add may find a header whose fields it cannot see (I5)",
    },
    Twin {
        name: "totals-published-relaxed",
        file: "src/ring/header.rs",
        find: "        // Release: publishes the totals.
        self.identity.store(version | state, Ordering::Release);",
        replace: "self.identity.store(version | state, Ordering::Relaxed);",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may see CLOSED and no totals (I6)",
    },
    Twin {
        name: "block-rebased-before-closed",
        file: "src/ring/close.rs",
        find: "        header.close();
        for position in 0..self.shape.cells() {
            block.rebase(position);
        }",
        replace: "        for position in 0..self.shape.cells() {
            block.rebase(position);
        }
        header.close();",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may take a difference to the next owner's base (I6)",
    },
    Twin {
        name: "reader-looks-once-whether-it-is-closed",
        file: "src/ring/header.rs",
        find: "        (!self.is_closed()).then_some(difference)",
        replace: "        Some(difference)",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may count what the block's next owner has added (I6)",
    },
    Twin {
        name: "closed-without-a-grace-period",
        file: "src/ring/close.rs",
        find: "if !self.is_silent(&header, guard) {",
        replace: "if false && !self.is_silent(&header, guard) {",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "an add under way lands in the bucket that owns the block next (I1, I2)",
    },
    Twin {
        name: "straggler-adds-to-a-block-it-found-in-a-slot",
        file: "src/ring.rs",
        find: "                Some(header) if header.start() == start => {
                    self.put_shared(header, update);",
        replace: "                Some(header) if header.start() == start => {
                    match NonNull::new(header.live.column.load(Ordering::Relaxed)) {
                        // SAFETY: not at all.
                        Some(column) => update.put(&unsafe { Column::new(column) }),
                        None => self.put_shared(header, update),
                    }",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "no grace period covers it: the block may be another bucket's by then (I1, I2)",
    },
    Twin {
        name: "hold-let-go-twice",
        file: "src/ring/slots.rs",
        find: "            old.let_go(); // the slot's hold",
        replace: "            old.let_go();\n            old.let_go(); // the slot's hold",
        build: &CHECKER,
        model: "reclamation::add_against_rotations_and_the_end",
        why: "a header may become another bucket while somebody acts on it (I5)",
    },
    Twin {
        name: "hold-not-let-go",
        file: "src/ring/slots.rs",
        find: "if replaced && let Some(old) = seen {",
        replace: "if replaced && seen.is_none() && let Some(old) = seen {",
        build: &CHECKER,
        model: "reclamation::add_against_rotations_and_the_end",
        why: "what is never let go is never used again (I5)",
    },
    Twin {
        name: "held-without-looking-again",
        file: "src/ring/hold.rs",
        find: "if std::ptr::eq(link.load(Ordering::Acquire), header) {",
        replace: "if std::ptr::eq(link.load(Ordering::Acquire), header) || true {",
        build: &CHECKER,
        model: "each_bucket::back_dated_add_against_the_reuse_of_its_header",
        why: "the header may have become another bucket before it was counted (I2)",
    },
    Twin {
        name: "read-without-looking-again",
        file: "src/ring/header.rs",
        find: "        self.identity_after() & !STATE == version",
        replace: "        self.identity_after() & !STATE == version || true",
        build: &CHECKER,
        model: "window_sum::bucket_against_the_reuse_of_its_header",
        why: "the header may have become another bucket while it was read (I9)",
    },
    Twin {
        name: "summed-without-looking-again",
        file: "src/ring/scan.rs",
        find: "(header.identity_after() == identity).then_some(number)",
        replace: "(header.identity_after() == identity || true).then_some(number)",
        build: &CHECKER,
        model: "window_sum::sum_against_the_reuse_of_a_header",
        why: "the same, in the loop of a sum (I9)",
    },
    Twin {
        name: "displaced-before-it-is-in-its-slot",
        file: "src/ring/rotate.rs",
        find: "        slots.install(current);
        self.close_displaced(guard);",
        replace: "        self.close_displaced(guard);",
        build: &CHECKER,
        model: "one_header::back_dated_add_behind_a_stalled_rotation",
        why: "a back-dated add inserts a second header for its start (I3)",
    },
    Twin {
        name: "slot-first",
        file: "src/ring/rotate.rs",
        find: "        let new = Held::also(new);",
        replace: "        let new = Held::also(new);\n        slots.install(&new);",
        build: &CHECKER,
        model: "one_header::rotation_against_rotation",
        why: "the loser's header stays in the slot and was never current (I3)",
    },
    Twin {
        name: "current-stored-without-comparing",
        file: "src/ring/rotate.rs",
        find: "self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();",
        replace: "{ self.current.store(to, Ordering::Release); !from.is_null() };",
        build: &CHECKER,
        model: "order::reconfigure_against_rotation",
        why: "a rotation brings the old geometry back (I4)",
    },
    Twin {
        name: "back-dated-add-forgets-the-side",
        file: "src/ring.rs",
        find: "        update.put(&*self.side);
",
        replace: "",
        build: &CHECKER,
        model: "lifetime::lifetime_against_back_dated_adds",
        why: "what only a header has counted leaves with it (I7)",
    },
    Twin {
        name: "reconfigure-forgets-the-old-ring",
        file: "src/ring/reconfigure.rs",
        find: "inherited: vec![Inherited { number, slots: Arc::clone(&old.slots), changes }],",
        replace: "inherited: { _ = changes; Vec::new() },",
        build: &CHECKER,
        model: "reconfigure::reconfigure_against_add",
        why: "what was in the ring is gone (I1)",
    },
    Twin {
        name: "drain-takes-its-turn-whatever-has-come",
        file: "src/ring/cursor.rs",
        find: "self.0.word.compare_exchange(look.word, next, order, failed).is_ok()",
        replace: "{ _ = (order, failed); self.0.word.fetch_xor(SET, Ordering::AcqRel); look.word != next }",
        build: &CHECKER,
        model: "window_drains::drain_against_the_change_that_carries",
        why: "a change may carry as waiting what is handed out meanwhile (I8)",
    },
    Twin {
        name: "carried-whether-or-not-it-was-handed-out",
        file: "src/ring/reconfigure.rs",
        find: "if !passed.has(header.place()) {",
        replace: "if !passed.has(header.place()) || true {",
        build: &CHECKER,
        model: "window_drains::drain_against_the_change_that_carries",
        why: "what was handed out awaits its turn again (I8)",
    },
    Twin {
        name: "proposal-made-of-any-generation",
        file: "src/ring/proposal.rs",
        find: "proposal.filter(|proposal| proposal.of == number)",
        replace: "proposal.filter(|proposal| proposal.of <= number)",
        build: &CHECKER,
        model: "reconfigure::two_proposals_against_a_rotation",
        why: "a change that was made, or that came too late, is made again (I4)",
    },
    Twin {
        name: "add-without-release",
        file: "src/ring/cells.rs",
        find: "portable::add(*self, position, n, Ordering::Release);",
        replace: "portable::add(*self, position, n, Ordering::Relaxed);",
        build: &CHECKER,
        model: "seen::by_a_sum",
        why: "who counts an add must see what came before it (I9)",
    },
    Twin {
        name: "shared-cell-is-the-plain-cell",
        file: "src/striped.rs",
        find: "            self.add_shared(n);",
        replace: "column.column().cell(0).fetch_add(n, Ordering::Release);",
        build: &PER_CORE,
        model: "counter_sum::sums_against_two_adders",
        why: "a plain add overwrites a locked one that comes between its load and its store",
    },
    Twin {
        name: "sequence-is-not-restarted",
        file: "src/stripe/per_core_model.rs",
        find: "    if *core == mine {
        cell.store",
        replace: "    if *core >= mine {
        cell.store",
        build: &PER_CORE,
        model: "counter_sum::sums_against_two_adders",
        why: "an interrupted add overwrites what came between its load and its store",
    },
    Twin {
        name: "closed-without-a-barrier",
        file: "src/stripe/barrier.rs",
        find: "if !per_core::barrier() {",
        replace: "if false && !per_core::barrier() {",
        build: &PER_CORE,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "a sequence that has loaded the bucket commits to a block that is another's (I1, I2)",
    },
    Twin {
        name: "sequence-commits-after-a-barrier",
        file: "src/stripe/per_core_model.rs",
        find: "    if *core == mine {
        commit(",
        replace: "    if *core >= mine {
        commit(",
        build: &PER_CORE,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "the barrier is for nothing if it restarts nobody (I1, I2)",
    },
    Twin {
        name: "tortured-without-a-barrier",
        file: "src/stripe/barrier.rs",
        find: "if !per_core::barrier() {",
        replace: "if false && !per_core::barrier() {",
        build: &TORTURE,
        model: "windows::steps::with_fewer_rows_than_processors",
        why: "a sequence that has loaded the bucket commits to a block that is another's (I1, I2)",
    },
];
