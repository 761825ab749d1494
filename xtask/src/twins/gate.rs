//! Broken twins of what decides at a gate.

use crate::models::{CHECKER, GATES, UNIT};
use crate::twin::Twin;

/// Every mistake with gates that a model must notice.
pub(super) const GATE: &[Twin] = &[
    Twin {
        name: "gate-turns-without-sealing",
        file: "src/gate/sheet.rs",
        find: "let sealed = self.word | SEALED;",
        replace: "let sealed = self.word;",
        build: &CHECKER,
        model: "gate::grant_against_the_opening_of_the_next_bucket",
        why: "what is granted behind the turn is in no carried number",
    },
    Twin {
        name: "gate-serials-begin-anew",
        file: "src/gate/sheet.rs",
        find: "let serial = (self.word.load(Ordering::Relaxed) & SERIAL) + 1;",
        replace: "let serial = own;",
        build: &CHECKER,
        model: "gate::grant_against_the_reuse_of_its_sheet",
        why: "a grant that stood still is made in another bucket, in which nothing is left",
    },
    Twin {
        name: "gate-serials-go-on-without-a-step",
        file: "src/gate/sheet.rs",
        find: "let serial = (self.word.load(Ordering::Relaxed) & SERIAL) + 1;",
        replace: "let serial = self.word.load(Ordering::Relaxed) & SERIAL;",
        build: &CHECKER,
        model: "gate::grant_against_the_reuse_of_its_sheet",
        why: "where nothing was granted in between, another bucket's word is the same",
    },
    Twin {
        name: "gate-without-a-second-look",
        file: "src/gate/ledger.rs",
        find: "            if self.is(&head) {
                return head;",
        replace: "            if true {
                return head;",
        build: &CHECKER,
        model: "gate::grant_against_the_reuse_of_its_sheet",
        why: "a grant is made in a sheet that is being filled, or by what two buckets have said",
    },
    Twin {
        name: "gate-grants-without-a-second-look",
        file: "src/gate/decide.rs",
        find: "while self.ledger.is_at(version) && head.is_open() {",
        replace: "while head.is_open() {",
        build: &CHECKER,
        model: "gate::grant_against_the_reuse_of_its_sheet",
        why: "a grant is made by what one bucket has said and by another's word",
    },
    Twin {
        name: "gate-grants-what-is-sealed",
        file: "src/gate/decide.rs",
        find: "while self.ledger.is_at(version) && head.is_open() {",
        replace: "while self.ledger.is_at(version) {",
        build: &CHECKER,
        model: "gate::grant_against_the_opening_of_the_next_bucket",
        why: "what is granted behind the seal is in no carried number",
    },
    Twin {
        name: "gate-top-without-what-is-carried",
        file: "src/gate/sheet.rs",
        find: "terms.limit.saturating_sub(carried.wrapping_add(own));",
        replace: "terms.limit.saturating_sub(carried & 0 | own);",
        build: &CHECKER,
        model: "gate::grant_against_the_reuse_of_its_sheet",
        why: "each bucket has the limit for itself",
    },
    Twin {
        name: "gate-head-without-a-version",
        file: "src/gate/ledger.rs",
        find: "((head.version >> NUMBER).wrapping_add(1) << NUMBER)",
        replace: "(head.version >> NUMBER << NUMBER)",
        build: &CHECKER,
        model: "gate::read_against_the_reuse_of_its_sheet",
        why: "a sheet that is the head again passes for what it was",
    },
    Twin {
        name: "gate-turn-frees-the-head",
        file: "src/gate/ledger.rs",
        find: "            last.free();",
        replace: "            sheet.give_back();",
        build: &CHECKER,
        model: "gate::opening_against_opening",
        why: "the head is filled for another bucket while grants are made in it",
    },
    Twin {
        name: "gate-opens-twice",
        file: "src/gate/ledger.rs",
        find: "if self.shared.head.compare_exchange(none, head, order, failed).is_err() {",
        replace: "let _ = (none, failed);
        self.shared.head.store(head, order);
        if false {",
        build: &CHECKER,
        model: "gate::first_use_against_first_use",
        why: "what is granted in the bucket that one thread has opened is not in the other's",
    },
    Twin {
        name: "gate-same-bucket-begins-at-zero",
        file: "src/gate/next.rs",
        find: "            return n;
",
        replace: "            return n & 0;
",
        build: &CHECKER,
        model: "gate::grants_against_a_lower_limit",
        why: "a change of the limit forgets what was granted in the bucket of now",
    },
    Twin {
        name: "gate-notes-the-time-too-late",
        file: "src/gate/decide.rs",
        find: "            self.ledger.note(start);
",
        replace: "",
        build: &CHECKER,
        model: "gate::read_against_the_reuse_of_its_sheet",
        why: "a bucket that was opened by the clock is taken for one that is waited for",
    },
    Twin {
        name: "gate-serials-go-on-from-the-last-sheet",
        file: "src/gate/sheet.rs",
        find: "        self.write(next, others.fold(0, u64::wrapping_add), own);
",
        replace: "        self.word.store(last.word, Ordering::Relaxed);
        self.write(next, others.fold(0, u64::wrapping_add), own);
",
        build: &UNIT,
        model: "gate::ledger::tests::a_sheet_that_is_filled_in_vain_has_no_word_that_was_seen",
        why: "a grant is made in a sheet that was filled in vain, which has the word of when it was the head",
    },
    Twin {
        name: "gate-wait-is-not-counted",
        file: "src/gate/sheet.rs",
        find: "serial.wrapping_add(grant) & SERIAL",
        replace: "serial.wrapping_add(grant & 0) & SERIAL",
        build: &CHECKER,
        model: "gate::wait_against_wait",
        why: "two are told to wait for the same",
    },
    Twin {
        name: "gate-turn-in-vain-grants",
        file: "src/gate/ledger.rs",
        find: "        turned
    }",
        replace: "        true
    }",
        build: &CHECKER,
        model: "gate::wait_against_a_grant_before_it",
        why: "who was overtaken is told to wait for what nobody has counted",
    },
    Twin {
        name: "gate-sheet-is-taken-twice",
        file: "src/gate/sheet.rs",
        find: "self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()",
        replace: "self.taken.swap(true, Ordering::Acquire) | true",
        build: &CHECKER,
        model: "gate::look_against_a_turn_in_vain",
        why: "two threads fill one sheet, of which one makes it the head",
    },
    Twin {
        name: "gate-limit-is-tried-once",
        file: "src/gate.rs",
        find: "            if self.ledger.turn(&head, Next::at(start, terms)) {",
        replace: "            if self.ledger.turn(&head, Next::at(start, terms)) | true {",
        build: &CHECKER,
        model: "gate::limit_against_the_opening_of_the_next_bucket",
        why: "a new limit is lost where another thread turns",
    },
    Twin {
        name: "gate-turns-though-it-could-not-seal",
        file: "src/gate/sheet.rs",
        find: "(!self.is_open() || seal().is_ok()).then_some",
        replace: "(!self.is_open() || seal().is_ok() | true).then_some",
        build: &CHECKER,
        model: "gate::grant_against_a_longer_interval",
        why: "what was granted since the look is not carried over",
    },
    Twin {
        name: "gate-room-is-freed-at-once",
        file: "src/gate/sheet.rs",
        find: "        unsafe { cells.keep(older) };
",
        replace: "        if !older.is_null() {
            drop(unsafe { Box::from_raw(older) });
        }
",
        build: &CHECKER,
        model: "gate::read_against_more_room",
        why: "a read goes through cells that are gone",
    },
    Twin {
        name: "gate-retires-by-another-look",
        file: "src/gate/retire.rs",
        find: "self.ledger.turn(&head, Next",
        replace: "self.ledger.turn(&self.ledger.look(), Next",
        build: &CHECKER,
        model: "gate::grant_against_the_end_of_its_gate",
        why: "what was granted after the first look is forgotten with the gate",
    },
    Twin {
        name: "gate-forgets-a-wait-before-it-has-begun",
        file: "src/gate/next.rs",
        find: "        if is_remembered { age.min(terms.history()) } else { age }",
        replace: "        if is_remembered { age } else { age }",
        build: &GATES,
        model: "spans::a_wait_is_not_forgotten_before_it_has_begun",
        why: "the next change has an interval that includes it, and does not know of it",
    },
    Twin {
        name: "gate-forgets-what-counts-now-behind-a-wait",
        file: "src/gate/next.rs",
        find: "terms.steps(bucket, terms.start_of(change.now)) < terms.buckets;",
        replace: "latest > change.now;",
        build: &GATES,
        model: "contract::what_counts_now_is_kept_however_far_ahead_the_last_wait_ends",
        why: "the next change has an interval that includes it, and does not know of it",
    },
    Twin {
        name: "gate-counts-at-the-start-of-a-bucket",
        file: "src/gate/next.rs",
        find: "old.max(used_by.min(old.saturating_add(last.terms.length - 1)));",
        replace: "old.max(used_by.min(old));",
        build: &GATES,
        model: "schedules::no_schedule_is_over_nor_refused_needlessly",
        why: "a bucket is forgotten when what was granted at its end still counts",
    },
    Twin {
        name: "gate-forgets-until-when-others-wait",
        file: "src/gate/next.rs",
        find: "let used_by = change.used_by.max(last.waits_until);",
        replace: "let used_by = change.used_by;",
        build: &GATES,
        model: "contract::a_wait_stays_where_it_is_through_all_changes",
        why: "a wait that ends within a bucket is put back to its start",
    },
];
