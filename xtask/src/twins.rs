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
        find: "        self.identity.store(version | state, Ordering::Release);",
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
        find: "            if !self.is_closed() {
                return difference;",
        replace: "            if true {
                return difference;",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may count what the block's next owner has added (I6)",
    },
    Twin {
        name: "closed-without-a-grace-period",
        file: "src/ring/close.rs",
        find: "if !is_silent || header",
        replace: "if (false && !is_silent) || header",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "an add under way lands in the bucket that owns the block next (I1, I2)",
    },
    Twin {
        name: "straggler-adds-to-a-block-it-found-in-a-slot",
        file: "src/ring/add.rs",
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
        self.close_silent(guard);",
        replace: "        self.close_silent(guard);",
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
        file: "src/ring/add.rs",
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
        find: "inherited: vec![Inherited { slots: Arc::clone(&old.slots), changes: vec![change] }],",
        replace: "inherited: { let _ = change; Vec::new() },",
        build: &CHECKER,
        model: "reconfigure::reconfigure_against_add",
        why: "what was in the ring is gone (I1)",
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
        name: "version-published-before-its-block",
        file: "src/ring/rotate.rs",
        find: "            header.make(generation, start);
            // SAFETY",
        replace: "            header.make(generation, start);
            header.made(OPEN);
            // SAFETY",
        build: &CHECKER,
        model: "comeback::read_against_a_header_that_comes_back",
        why: "a reader may pair the version with a block that was lost to another (I9)",
    },
    Twin {
        name: "seen-without-looking-at-the-link-again",
        file: "src/ring/read.rs",
        find: "std::ptr::eq(link.load(Ordering::Relaxed), header).then_some(Seen { header, version })",
        replace: "(link.load(Ordering::Relaxed).is_null() || true).then_some(Seen { header, version })",
        build: &CHECKER,
        model: "comeback::read_against_a_header_that_becomes_older",
        why: "the version may be of another bucket than the one that was linked (I9)",
    },
    Twin {
        name: "older-bucket-taken-for-never-opened",
        file: "src/ring/read.rs",
        find: "if held > start || !seen.is_still() {",
        replace: "if held > start {",
        build: &CHECKER,
        model: "comeback::read_against_a_header_that_becomes_older",
        why: "a bucket that has left the ring is not looked for again (I9)",
    },
    Twin {
        name: "final-without-adders",
        file: "src/ring/header.rs",
        find: "(self.block().is_none() && !self.has_adders())",
        replace: "self.block().is_none()",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "a bucket is called closed while it is being added to (I6)",
    },
    Twin {
        name: "adder-does-not-look-again",
        file: "src/ring/hold.rs",
        find: "std::ptr::eq(current.load(Ordering::Relaxed), header.header()).then_some(adder)",
        replace: "Some(adder).filter(|_| current.load(Ordering::Relaxed).is_null() || true)",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "a bucket that was found without adders gets one (I6)",
    },
    Twin {
        name: "adder-without-a-fence",
        file: "src/ring/hold.rs",
        find: "        fence(Ordering::SeqCst);
        std::ptr::eq",
        replace: "        std::ptr::eq",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "adder and closer may each miss the other (I6)",
    },
    Twin {
        name: "record-raises-before-it-commits",
        file: "src/stripe/per_core_model.rs",
        find: "column.right(pending).cell(0).store(value, Ordering::Release);",
        replace: "plain_raise(column.right(pair + 2 + 0 * pending), value);",
        build: &PER_CORE,
        model: "closing::refused_record_against_rotation",
        why: "an aborted record leaves its extremes where it is not counted (I6)",
    },
    Twin {
        name: "pending-value-forgotten-before-it-is-raised",
        file: "src/stripe/per_core_model.rs",
        find: "live_sequence(live, at, refused, &[&raise, &commit])",
        replace: "live_sequence(live, at, refused, &[&commit, &raise])",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "what was counted is in no extreme (I6)",
    },
    Twin {
        name: "pending-value-not-looked-at",
        file: "src/rows.rs",
        find: "if pends { extreme.max(pending) } else { extreme }",
        replace: "if pends && extreme > pending { pending } else { extreme }",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "what was counted is in no extreme (I6)",
    },
    Twin {
        name: "seat-for-everybody",
        file: "src/ring/close.rs",
        find: "Ok(_) => return !is_taken,",
        replace: "Ok(_) => return true,",
        build: &PER_CORE,
        model: "closing::settle_against_settle",
        why: "two threads are held up by the kernel at once",
    },
    Twin {
        name: "barrier-while-pinned",
        file: "src/ring/close.rs",
        find: "            let ticket = self.tickets(&reclaim::pin());
            if ticket > 0 {
                barrier",
        replace: "            let guard = reclaim::pin();
            let ticket = self.tickets(&guard);
            if ticket > 0 {
                barrier",
        build: &PER_CORE,
        model: "closing::settle_against_settle",
        why: "the kernel may take its time, and nothing is reclaimed meanwhile",
    },
    Twin {
        name: "closed-without-a-barrier",
        file: "src/stripe/barrier.rs",
        find: "if per_core::barrier() {",
        replace: "if true || per_core::barrier() {",
        build: &PER_CORE,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "a sequence that has loaded the bucket commits to a block that is another's (I1, I2)",
    },
    Twin {
        name: "sequence-commits-after-a-barrier",
        file: "src/stripe/per_core_model.rs",
        find: "if *core != mine {",
        replace: "if *core < mine {",
        build: &PER_CORE,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "the barrier is for nothing if it restarts nobody (I1, I2)",
    },
    Twin {
        name: "tortured-without-a-barrier",
        file: "src/stripe/barrier.rs",
        find: "if per_core::barrier() {",
        replace: "if true || per_core::barrier() {",
        build: &TORTURE,
        model: "windows::steps::with_fewer_rows_than_processors",
        why: "a sequence that has loaded the bucket commits to a block that is another's (I1, I2)",
    },
];
