//! Broken twins of the last calls.

use crate::models::{CHECKER, UNIT};
use crate::twin::Twin;

/// Every mistake in the last calls that a model or a test must notice.
pub(super) const LAST_CALLS: &[Twin] = &[
    Twin {
        name: "last-calls-overtaken-call-that-is-written",
        file: "src/last_calls.rs",
        find: ".fetch_max(written, Ordering::Relaxed);\n        if replaced >= written {\n            return;\n        }",
        replace: ".swap(written, Ordering::Relaxed);",
        build: &UNIT,
        model: "last_calls::tests::a_ticket_that_was_overtaken_changes_nothing",
        why: "a call that is no longer one of the last replaces one that is",
    },
    Twin {
        name: "last-calls-overtaken-call-that-is-counted",
        file: "src/last_calls.rs",
        find: "        if replaced >= written {\n            return;\n        }",
        replace: "",
        build: &CHECKER,
        model: "last_calls::record_against_record_in_one_slot",
        why: "the totals change by a call that no slot has",
    },
    Twin {
        name: "last-calls-difference-to-an-earlier-look",
        file: "src/last_calls.rs",
        find: ".fetch_max(written, Ordering::Relaxed);\n        if",
        replace: ".load(Ordering::Relaxed);\n        self.slots[(ticket % size) as usize].fetch_max(written, Ordering::Relaxed);\n        if",
        build: &CHECKER,
        model: "last_calls::record_against_record_in_one_slot",
        why: "two records subtract the outcome that one of them replaced",
    },
];
