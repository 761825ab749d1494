//! The table of broken twins: mistakes in adding, rotating, closing and changing the geometry here,
//! in reading in `reads`, in families in `families`, in opening rows in `rows`, in leasing them in
//! `leases`, in announcing buckets in `announced`, in assembly in `sequences`, in a window's growth
//! in `growth`, in histograms in `histograms`, in a window's wide cells in `wide`, in refusals of
//! the arena in `refusals`, in tiers in `tiers`, in `clear` in `clears`, in gates in `gate` and
//! their rations in `rations`, in levels in `in_flight`, in heavy keys in `heavy_keys`, in the last
//! calls in `last_calls`, in paces in `pace`, in exemplars in `exemplars`.

mod announced;
mod clears;
mod exemplars;
mod families;
mod gate;
mod growth;
mod heavy_keys;
mod histograms;
mod in_flight;
mod last_calls;
mod leases;
mod pace;
mod rations;
mod reads;
mod refusals;
mod rows;
mod sequences;
mod tiers;
mod wide;

use crate::models::{CHECKER, PER_CORE, TORTURE};
use crate::twin::Twin;

/// Every mistake that a model must notice.
pub(crate) fn twins() -> impl Iterator<Item = &'static Twin> {
    let of_rows = rows::ROWS.iter().chain(leases::LEASES).chain(sequences::SEQUENCES);
    let of_windows =
        WRITES.iter().chain(reads::READS).chain(announced::ANNOUNCED).chain(growth::GROWTH);
    let of_windows = of_windows.chain(wide::WIDE).chain(refusals::REFUSALS).chain(tiers::TIERS);
    let of_windows = of_windows.chain(clears::CLEARS);
    of_windows
        .chain(of_rows)
        .chain(families::FAMILIES)
        .chain(histograms::HISTOGRAMS)
        .chain(gate::GATE)
        .chain(rations::RATIONS)
        .chain(in_flight::IN_FLIGHT)
        .chain(heavy_keys::HEAVY_KEYS)
        .chain(last_calls::LAST_CALLS)
        .chain(pace::PACE)
        .chain(exemplars::EXEMPLARS)
}

/// In what changes something.
const WRITES: &[Twin] = &[
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
        file: "src/ring/order/slot.rs",
        find: "let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &CHECKER,
        model: "one_bucket::insertion_against_insertion",
        why: "a back-dated add may find a bucket whose fields it cannot see (I5)",
    },
    Twin {
        name: "totals-published-relaxed",
        file: "src/ring/order/bucket.rs",
        find: "        self.identity.store(version | state, Ordering::Release);",
        replace: "self.identity.store(version | state, Ordering::Relaxed);",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may see CLOSED and no totals (I6)",
    },
    Twin {
        name: "block-rebased-before-closed",
        file: "src/ring/turn/close.rs",
        find: "        bucket.close();
        self.rebase(block, bucket, pending);",
        replace: "        self.rebase(block, bucket, pending);
        bucket.close();",
        build: &CHECKER,
        model: "closing::close_against_read",
        why: "a reader may take a difference to the next owner's base (I6)",
    },
    Twin {
        name: "reader-looks-once-whether-it-is-closed",
        file: "src/ring/store.rs",
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
        file: "src/ring/turn/close.rs",
        find: "if !is_quiescent || bucket",
        replace: "if (false && !is_quiescent) || bucket",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "an add under way lands in the bucket that owns the block next (I1, I2)",
    },
    Twin {
        name: "straggler-adds-to-a-block-it-found-in-a-slot",
        file: "src/ring/write/missed.rs",
        find: "                Lookup::Found(bucket) => {
                    self.put_shared(&bucket, generation, current.start(), update);",
        replace: "                Lookup::Found(bucket) => {
                    if bucket.block().is_some() {
                        let word = bucket.live.column.load(crate::sync::Ordering::Relaxed);
                        // SAFETY: not at all.
                        unsafe { update.put_in_row(word) };
                    } else {
                        self.put_shared(&bucket, generation, current.start(), update);
                    }",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "no grace period covers the add: another bucket may own the block by then (I1, I2)",
    },
    Twin {
        name: "reference-released-twice",
        file: "src/ring/order/slot.rs",
        find: "            old.references.release(); // the slot's",
        replace: "            old.references.release();\n            old.references.release(); // the slot's",
        build: &CHECKER,
        model: "reclamation::add_against_rotations_and_the_end",
        why: "a bucket may be reused while a thread acts on it (I5)",
    },
    Twin {
        name: "reference-not-released",
        file: "src/ring/order/slot.rs",
        find: "if exchanged && let Content::Bucket(old) = found {",
        replace: "if exchanged && to.is_null() && let Content::Bucket(old) = found {",
        build: &CHECKER,
        model: "reclamation::add_against_rotations_and_the_end",
        why: "a bucket that is never released is never reused (I5)",
    },
    Twin {
        name: "acquired-without-looking-again",
        file: "src/ring/order/bucket_ref.rs",
        find: "if !pointer.leads_to(bucket, Ordering::Acquire) {",
        replace: "if !pointer.leads_to(bucket, Ordering::Acquire) && false {",
        build: &CHECKER,
        model: "each_bucket::back_dated_add_against_its_reuse",
        why: "the bucket may have been reused before the reference was counted (I2)",
    },
    Twin {
        name: "retired-before-it-is-in-its-slot",
        file: "src/ring/turn/rotate.rs",
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
        name: "reconfigure-forgets-the-old-ring",
        file: "src/ring/turn/change.rs",
        find: "next.inherited.push(Inherited { number, slots, changes, first_turn });",
        replace: "let _ = (number, slots, changes, first_turn);",
        build: &CHECKER,
        model: "reconfigure::reconfigure_against_add",
        why: "the adds of the old ring are gone (I1)",
    },
    Twin {
        name: "proposal-made-of-any-generation",
        file: "src/ring/coordination/proposal.rs",
        find: "proposed.filter(|proposed| proposed.of == number)",
        replace: "proposed.filter(|proposed| proposed.of <= number)",
        build: &CHECKER,
        model: "reconfigure::two_proposals_against_a_rotation",
        why: "a change that was made, or that came too late, is made again (I4)",
    },
    Twin {
        name: "final-without-adders",
        file: "src/ring/order/bucket.rs",
        find: "(self.block().is_none() && !self.references.has_adders())",
        replace: "self.block().is_none()",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "a bucket counts as closed during an add to it (I6)",
    },
    Twin {
        name: "adder-does-not-look-again",
        file: "src/ring/order/bucket_ref.rs",
        find: "current.leads_to(bucket.bucket(), Ordering::Relaxed).then_some(adder)",
        replace: "Some(adder).filter(|_| current.load(Ordering::Relaxed).is_null() || true)",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "a bucket gets an adder after it was found without any (I6)",
    },
    Twin {
        name: "adder-without-a-fence",
        file: "src/ring/order/bucket_ref.rs",
        find: "        self.0.fetch_add(ADDER, Ordering::Relaxed);
        // Pairs with the fence in `has_adders`. If the check for adders comes first, the adder sees
        // that the bucket is retired; if the adder comes first, the check sees it.
        fence(Ordering::SeqCst);",
        replace: "        self.0.fetch_add(ADDER, Ordering::Relaxed);",
        build: &CHECKER,
        model: "closing::final_against_its_adders",
        why: "adder and closer may each miss the other (I6)",
    },
    Twin {
        name: "record-raises-before-it-commits",
        file: "src/stripe/per_core_model.rs",
        find: "row.cell(pending).store(value, Ordering::Release);",
        replace: "plain_raise(row.cell(pair + 2 + 0 * pending), value);",
        build: &PER_CORE,
        model: "closing::refused_record_against_rotation",
        why: "an aborted record leaves its extremes where it is not counted (I6)",
    },
    Twin {
        name: "pending-value-forgotten-before-it-is-raised",
        file: "src/stripe/per_core_model.rs",
        find: "live_sequence::<N, W>(live, at, missed, &[&raise, &commit])",
        replace: "live_sequence::<N, W>(live, at, missed, &[&commit, &raise])",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "a value that was counted is in no extreme (I6)",
    },
    Twin {
        name: "pending-value-not-looked-at",
        file: "src/arena/rows.rs",
        find: "pending = greater(pending, [value, !value]);",
        replace: "pending = greater(pending, [value, !value].map(|_| 0));",
        build: &PER_CORE,
        model: "closing::close_against_read_of_extremes",
        why: "a value that was counted is in no extreme (I6)",
    },
    Twin {
        name: "raise-is-not-the-last-step",
        file: "src/stripe/per_core_model.rs",
        find: "        plain_raise(row.cell(position), value);
        Step::Done
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&commit]) }",
        replace: "        plain_raise(row.cell(position), value);
        Step::GoOn
    };
    // SAFETY: by contract.
    unsafe { live_sequence::<N, W>(live, at, missed, &[&commit, &|_| Step::Done]) }",
        build: &PER_CORE,
        model: "extremes::refused_record_against_rotation",
        why: "an aborted record leaves its value where it is not counted (I6)",
    },
    Twin {
        name: "extreme-alone-not-reset",
        file: "src/ring/store/block.rs",
        find: "            rows::reset(column, Ordering::Release);",
        replace: "            if self.layout.is_bound(position) {
                rows::reset(column, Ordering::Release);
            }",
        build: &CHECKER,
        model: "extremes::record_against_the_reuse_of_its_block",
        why: "a bucket has the extreme of the one that had its block before (I2)",
    },
    Twin {
        name: "membarrier-lock-for-all",
        file: "src/ring/coordination/closer.rs",
        find: "Ok(_) => return !is_held,",
        replace: "Ok(_) => return true,",
        build: &PER_CORE,
        model: "closing::close_against_close",
        why: "two threads are held up by the kernel at once",
    },
    Twin {
        name: "barrier-while-pinned",
        file: "src/ring/turn/close.rs",
        find: "            let ticket = self.highest_ticket(&reclaim::pin());
            if ticket > 0 {
                self.barriers()",
        replace: "            let guard = reclaim::pin();
            let ticket = self.highest_ticket(&guard);
            if ticket > 0 {
                self.barriers()",
        build: &PER_CORE,
        model: "closing::close_against_close",
        why: "the kernel may take long, and nothing is reclaimed meanwhile",
    },
    Twin {
        name: "closed-without-a-barrier",
        file: "src/stripe/membarrier.rs",
        find: "if (self.make)() || (self.register)()",
        replace: "if true || (self.make)() || (self.register)()",
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
        find: "if (self.make)() || (self.register)()",
        replace: "if true || (self.make)() || (self.register)()",
        build: &TORTURE,
        model: "windows::steps::with_fewer_rows_than_processors",
        why: "a sequence that has loaded the bucket commits to a block of another bucket (I1, I2)",
    },
];
