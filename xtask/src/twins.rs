//! The table of broken twins.

use crate::models::{CHECKER, PER_CORE, TORTURE};
use crate::twin::Twin;

/// Every mistake that a model must notice.
pub(crate) const TWINS: &[Twin] = &[
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
        name: "current-published-relaxed",
        file: "src/ring.rs",
        find: "self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();",
        replace: "self.current.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();",
        build: &CHECKER,
        model: "each_bucket::add_against_rotation",
        why: "an add may find a bucket whose fields it cannot see (I5)",
    },
    Twin {
        name: "slot-published-relaxed",
        file: "src/ring/slots.rs",
        find: "let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &CHECKER,
        model: "one_bucket::insertion_against_insertion",
        why: "a back-dated add may find a bucket whose fields it cannot see (I5)",
    },
    Twin {
        name: "totals-published-relaxed",
        file: "src/ring/bucket.rs",
        find: "        self.identity.store(version | state, Ordering::Release);",
        replace: "self.identity.store(version | state, Ordering::Relaxed);",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may see CLOSED and no totals (I6)",
    },
    Twin {
        name: "block-rebased-before-closed",
        file: "src/ring/close.rs",
        find: "        bucket.close();
        for (position, cell) in bucket.cells().iter().enumerate() {
            block.rebase(position, cell.total.load(Ordering::Relaxed)); // written above
        }",
        replace: "        for (position, cell) in bucket.cells().iter().enumerate() {
            block.rebase(position, cell.total.load(Ordering::Relaxed));
        }
        bucket.close();",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may take a difference to the next owner's base (I6)",
    },
    Twin {
        name: "reader-looks-once-whether-it-is-closed",
        file: "src/ring/number.rs",
        find: "            if !bucket.is_closed() {
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
        find: "if !is_quiescent || bucket",
        replace: "if (false && !is_quiescent) || bucket",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "an add under way lands in the bucket that owns the block next (I1, I2)",
    },
    Twin {
        name: "straggler-adds-to-a-block-it-found-in-a-slot",
        file: "src/ring/add.rs",
        find: "                Some(bucket) if bucket.start() == start => {
                    self.put_shared(bucket, slots, current.start(), update);",
        replace: "                Some(bucket) if bucket.start() == start => {
                    match NonNull::new(bucket.live.column.load(Ordering::Relaxed)) {
                        // SAFETY: not at all.
                        Some(column) => update.put(&unsafe { Column::new(column) }),
                        None => self.put_shared(bucket, slots, current.start(), update),
                    }",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "no grace period covers the add: another bucket may own the block by then (I1, I2)",
    },
    Twin {
        name: "reference-released-twice",
        file: "src/ring/slots.rs",
        find: "            old.references.release(); // the slot's",
        replace: "            old.references.release();\n            old.references.release(); // the slot's",
        build: &CHECKER,
        model: "reclamation::add_against_rotations_and_the_end",
        why: "a bucket may be reused while a thread acts on it (I5)",
    },
    Twin {
        name: "reference-not-released",
        file: "src/ring/slots.rs",
        find: "if replaced && let Some(old) = found {",
        replace: "if replaced && found.is_none() && let Some(old) = found {",
        build: &CHECKER,
        model: "reclamation::add_against_rotations_and_the_end",
        why: "a bucket that is never released is never reused (I5)",
    },
    Twin {
        name: "acquired-without-looking-again",
        file: "src/ring/bucket_ref.rs",
        find: "if eq(pointer.load(Ordering::Acquire), bucket) {",
        replace: "if eq(pointer.load(Ordering::Acquire), bucket) || true {",
        build: &CHECKER,
        model: "each_bucket::back_dated_add_against_its_reuse",
        why: "the bucket may have been reused before the reference was counted (I2)",
    },
    Twin {
        name: "read-without-looking-again",
        file: "src/ring/bucket.rs",
        find: "        self.identity_after() & !STATE == version",
        replace: "        self.identity_after() & !STATE == version || true",
        build: &CHECKER,
        model: "window_sum::bucket_against_its_reuse",
        why: "the bucket may have been reused while it was read (I9)",
    },
    Twin {
        name: "summed-without-looking-again",
        file: "src/ring/scan.rs",
        find: "(bucket.identity_after() == identity).then_some(number)",
        replace: "(bucket.identity_after() == identity || true).then_some(number)",
        build: &CHECKER,
        model: "window_sum::sum_against_the_reuse_of_a_bucket",
        why: "the same, in the loop of a sum (I9)",
    },
    Twin {
        name: "retired-before-it-is-in-its-slot",
        file: "src/ring/rotate.rs",
        find: "        slots.install(current);
        let all_closed",
        replace: "        let all_closed",
        build: &CHECKER,
        model: "one_bucket::back_dated_add_behind_a_stalled_rotation",
        why: "a back-dated add inserts a second bucket for its start (I3)",
    },
    Twin {
        name: "slot-first",
        file: "src/ring.rs",
        find: "        let new = BucketRef::to(new);",
        replace: "        let new = BucketRef::to(new);\n        slots.install(&new);",
        build: &CHECKER,
        model: "one_bucket::rotation_against_rotation",
        why: "the loser's bucket stays in the slot and was never current (I3)",
    },
    Twin {
        name: "current-stored-without-comparing",
        file: "src/ring.rs",
        find: "self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();",
        replace: "{ self.current.store(to, Ordering::Release); !from.is_null() };",
        build: &CHECKER,
        model: "order::reconfigure_against_rotation",
        why: "a rotation brings the old geometry back (I4)",
    },
    Twin {
        name: "back-dated-add-forgets-the-total",
        file: "src/ring/add.rs",
        find: "        update.put(&*self.shared_total);
",
        replace: "",
        build: &CHECKER,
        model: "lifetime::lifetime_against_back_dated_adds",
        why: "adds that only a bucket has counted leave with it (I7)",
    },
    Twin {
        name: "reconfigure-forgets-the-old-ring",
        file: "src/ring/reconfigure.rs",
        find: "next.inherited.push(Inherited { number, slots: Arc::clone(&old.slots), changes });",
        replace: "let _ = (number, changes);",
        build: &CHECKER,
        model: "reconfigure::reconfigure_against_add",
        why: "the adds of the old ring are gone (I1)",
    },
    Twin {
        name: "drain-takes-its-turn-whatever-has-come",
        file: "src/ring/cursor.rs",
        find: "self.0.word.compare_exchange(look.word, next, order, failed).is_ok()",
        replace: "{ _ = (order, failed); self.0.word.fetch_xor(SET, Ordering::AcqRel); look.word != next }",
        build: &CHECKER,
        model: "window_drains::drain_against_the_change_that_carries",
        why: "a change may carry numbers as waiting that are handed out meanwhile (I8)",
    },
    Twin {
        name: "carried-whether-or-not-it-was-handed-out",
        file: "src/ring/reconfigure.rs",
        find: "if !passed.has(bucket.rank()) {",
        replace: "if !passed.has(bucket.rank()) || true {",
        build: &CHECKER,
        model: "window_drains::drain_against_the_change_that_carries",
        why: "numbers that were handed out await their turn again (I8)",
    },
    Twin {
        name: "proposal-made-of-any-generation",
        file: "src/ring/proposal.rs",
        find: "proposed.filter(|proposed| proposed.of == number)",
        replace: "proposed.filter(|proposed| proposed.of <= number)",
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
        why: "a thread that counts an add must see what came before it (I9)",
    },
    Twin {
        name: "version-published-before-its-block",
        file: "src/ring/store.rs",
        find: "            mark(bucket);
            // SAFETY",
        replace: "            mark(bucket);
            bucket.end_init(OPEN);
            // SAFETY",
        build: &CHECKER,
        model: "comeback::read_against_a_bucket_that_comes_back",
        why: "a reader may pair the version with a block that another bucket has taken (I9)",
    },
    Twin {
        name: "loaded-without-looking-at-the-pointer-again",
        file: "src/ring/view.rs",
        find: "std::ptr::eq(pointer.load(Ordering::Relaxed), bucket)",
        replace: "(pointer.load(Ordering::Relaxed).is_null() || true)",
        build: &CHECKER,
        model: "comeback::read_against_a_bucket_that_becomes_older",
        why: "the version may be that of a reuse after the pointer was loaded (I9)",
    },
    Twin {
        name: "older-bucket-taken-for-never-opened",
        file: "src/ring/view.rs",
        find: "if there > start || !found.is_valid() {",
        replace: "if there > start {",
        build: &CHECKER,
        model: "comeback::read_against_a_bucket_that_becomes_older",
        why: "the reader does not look again for a bucket that has left the ring (I9)",
    },
    Twin {
        name: "final-without-adders",
        file: "src/ring/bucket.rs",
        find: "(self.block().is_none() && !self.references.has_adders())",
        replace: "self.block().is_none()",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "a bucket counts as closed during an add to it (I6)",
    },
    Twin {
        name: "adder-does-not-look-again",
        file: "src/ring/bucket_ref.rs",
        find: "eq(current.load(Ordering::Relaxed), bucket.bucket()).then_some(adder)",
        replace: "Some(adder).filter(|_| current.load(Ordering::Relaxed).is_null() || true)",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "a bucket gets an adder after it was found without any (I6)",
    },
    Twin {
        name: "adder-without-a-fence",
        file: "src/ring/ref_count.rs",
        find: "        self.0.fetch_add(ADDER, Ordering::Relaxed);
        // Pairs with the fence in `has_adders`. If the check for adders comes first, the adder sees that
        // the bucket is retired; if the adder comes first, the check sees it.
        fence(Ordering::SeqCst);",
        replace: "        self.0.fetch_add(ADDER, Ordering::Relaxed);",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "adder and closer may each miss the other (I6)",
    },
    Twin {
        name: "shared-cell-is-the-plain-cell",
        file: "src/counters/striped.rs",
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
        find: "live_sequence(live, at, missed, &[&raise, &commit])",
        replace: "live_sequence(live, at, missed, &[&commit, &raise])",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "a value that was counted is in no extreme (I6)",
    },
    Twin {
        name: "pending-value-not-looked-at",
        file: "src/arena/rows.rs",
        find: "if pends { extreme.max(pending) } else { extreme }",
        replace: "if pends && extreme > pending { pending } else { extreme }",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "a value that was counted is in no extreme (I6)",
    },
    Twin {
        name: "membarrier-lock-for-all",
        file: "src/ring/closer.rs",
        find: "Ok(_) => return !is_held,",
        replace: "Ok(_) => return true,",
        build: &PER_CORE,
        model: "closing::close_against_close",
        why: "two threads are held up by the kernel at once",
    },
    Twin {
        name: "barrier-while-pinned",
        file: "src/ring/close.rs",
        find: "            let ticket = self.highest_ticket(&reclaim::pin());
            if ticket > 0 {
                membarrier",
        replace: "            let guard = reclaim::pin();
            let ticket = self.highest_ticket(&guard);
            if ticket > 0 {
                membarrier",
        build: &PER_CORE,
        model: "closing::close_against_close",
        why: "the kernel may take long, and nothing is reclaimed meanwhile",
    },
    Twin {
        name: "closed-without-a-barrier",
        file: "src/stripe/membarrier.rs",
        find: "if per_core::membarrier() {",
        replace: "if true || per_core::membarrier() {",
        build: &PER_CORE,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "a sequence that has loaded the bucket commits to a block of another bucket (I1, I2)",
    },
    Twin {
        name: "sequence-commits-after-a-barrier",
        file: "src/stripe/per_core_model.rs",
        find: "if *core != mine {",
        replace: "if *core < mine {",
        build: &PER_CORE,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "a barrier that restarts no sequence is useless (I1, I2)",
    },
    Twin {
        name: "tortured-without-a-barrier",
        file: "src/stripe/membarrier.rs",
        find: "if per_core::membarrier() {",
        replace: "if true || per_core::membarrier() {",
        build: &TORTURE,
        model: "windows::steps::with_fewer_rows_than_processors",
        why: "a sequence that has loaded the bucket commits to a block of another bucket (I1, I2)",
    },
    Twin {
        name: "summed-at-once-whatever-is-current",
        file: "src/ring/at_once.rs",
        find: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()",
        replace: "(self.current().load(Ordering::Relaxed).is_null() || true) && found.is_valid()",
        build: &CHECKER,
        model: "window_sum::sum_against_the_totals_over_its_mark",
        why: "totals stand where the mark was, and blocks count for other intervals (I9)",
    },
    Twin {
        name: "summed-at-once-whatever-its-version",
        file: "src/ring/at_once.rs",
        find: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()",
        replace: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && (found.is_valid() || true)",
        build: &CHECKER,
        model: "window_sum::sum_against_a_leap_and_a_bucket_that_comes_back",
        why: "the bucket was reused, and is current again (I9)",
    },
    Twin {
        name: "version-checked-before-current",
        file: "src/ring/at_once.rs",
        find: "std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket) && found.is_valid()",
        replace: "found.is_valid() && std::ptr::eq(self.current().load(Ordering::Relaxed), found.bucket)",
        build: &CHECKER,
        model: "window_sum::sum_against_a_leap_and_a_bucket_that_comes_back",
        why: "the bucket is reused between the two, and current again (I9)",
    },
    Twin {
        name: "shared-add-not-said",
        file: "src/ring/add.rs",
        find: "        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);",
        replace: "        let _ = until;",
        build: &CHECKER,
        model: "window_sum::sum_against_the_totals_over_its_mark",
        why: "a sum at once does not look at other buckets' shared cells (I9)",
    },
    Twin {
        name: "shared-add-said-afterwards",
        file: "src/ring/add.rs",
        find: "        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);
        update.put(bucket.cells());
        self.put_in_tiers(bucket.start(), newest, update);
        update.put(&*self.shared_total);",
        replace: "        update.put(bucket.cells());
        self.put_in_tiers(bucket.start(), newest, update);
        update.put(&*self.shared_total);
        slots.touched.touch(bucket.slot(), until);
        self.touched.touch(until);",
        build: &CHECKER,
        model: "window_sum::sum_behind_a_lifetime_that_counts_a_back_dated_add",
        why: "a reader that has counted the add sums without it afterwards (I9)",
    },
    Twin {
        name: "back-dated-add-forgets-the-tiers",
        file: "src/ring/add.rs",
        find: "        self.put_in_tiers(bucket.start(), newest, update);",
        replace: "        let _ = newest;",
        build: &CHECKER,
        model: "window_tiers::span_behind_a_lifetime_that_counts_a_back_dated_add",
        why: "what is added beside blocks is in no difference of them (I9)",
    },
    Twin {
        name: "span-read-whatever-is-current",
        file: "src/ring/view.rs",
        find: "if !self.ring.is_current(self.current) {",
        replace: "if !self.ring.is_current(self.current) && false {",
        build: &CHECKER,
        model: "window_tiers::span_against_a_rotation_over_a_boundary",
        why: "blocks are another bucket's by then, and notes have come (I9)",
    },
];
