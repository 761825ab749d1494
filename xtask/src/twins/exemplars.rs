//! Broken twins of exemplars.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake with exemplars that a model must notice.
pub(super) const EXEMPLARS: &[Twin] = &[
    Twin {
        name: "exemplar-written-beside-another-writer",
        file: "src/exemplar/slot.rs",
        find: "        if !is_free ||",
        replace: "        if version == u64::MAX && !is_free &&",
        build: &CHECKER,
        model: "exemplars::write_against_write",
        why: "an exemplar has the value of one add and the trace of another",
    },
    Twin {
        name: "exemplar-reader-looks-once-at-the-version",
        file: "src/exemplar/slot.rs",
        find: " && self.version.load(Ordering::Relaxed) == version",
        replace: "",
        build: &CHECKER,
        model: "exemplars::read_against_a_write",
        why: "an exemplar has the value of one add and the trace of another",
    },
    Twin {
        name: "exemplar-kept-before-the-add",
        file: "src/counters/counter/exemplars.rs",
        find: "        self.add(n);
        self.exemplars.keep(SLOTS, 0, n, trace);",
        replace: "        self.exemplars.keep(SLOTS, 0, n, trace);
        self.add(n);",
        build: &CHECKER,
        model: "exemplars::read_against_a_write",
        why: "an exemplar is shown whose value is not counted",
    },
];
