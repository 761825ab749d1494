//! Broken twins of what decides at a gate.

use crate::models::CHECKER;
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
        name: "gate-same-bucket-begins-at-zero",
        file: "src/gate/next.rs",
        find: "        own.unwrap_or(0)
",
        replace: "        own.unwrap_or(0) & 0
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
];
