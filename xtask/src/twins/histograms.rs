//! Broken twins of what records to a histogram, reads it and drains it.

use crate::models::{CHECKER, PER_CORE};
use crate::twin::Twin;

/// Every mistake with histograms that a model must notice.
pub(super) const HISTOGRAMS: &[Twin] = &[
    Twin {
        name: "histogram-counts-before-the-sum",
        file: "src/histogram/columns.rs",
        find: "        self.add(SUM, sum);
        self.add(FIRST_CELL + place, count); // last: see above",
        replace: "        self.add(FIRST_CELL + place, count);
        self.add(SUM, sum);",
        build: &CHECKER,
        model: "histograms::record_against_reads",
        why: "a value is counted that is not in the sum (I11)",
    },
    Twin {
        name: "histogram-sum-read-before-the-cells",
        file: "src/histogram/columns.rs",
        find: "        let mut counts = vec![0; self.cells].into_boxed_slice();",
        replace:
            "        let (sum, mut counts) = (self.sum(), vec![0; self.cells].into_boxed_slice());
        if self.cells > 0 {
            if let Some(first) = self.tagged(0).column() {
                rows::add_up(first.right(FIRST_CELL), &mut counts);
            }
            return (counts, sum);
        }",
        build: &CHECKER,
        model: "histograms::record_against_reads",
        why: "a value is counted that is not in the sum (I11)",
    },
    Twin {
        name: "histogram-counts-before-the-extremes",
        file: "src/histogram.rs",
        find: "        self.extremes.include(value);
        self.columns.record(self.scale.place(value), value, 1);",
        replace: "        self.columns.record(self.scale.place(value), value, 1);
        self.extremes.include(value);",
        build: &CHECKER,
        model: "histograms::record_against_reads",
        why: "a value is counted that is beyond the extremes (I11)",
    },
    Twin {
        name: "histogram-baseline-published-relaxed",
        file: "src/histogram/baseline.rs",
        find: "let (order, failed) = (Ordering::Release, Ordering::Relaxed);",
        replace: "let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);",
        build: &CHECKER,
        model: "histograms::drain_against_drain",
        why: "a baseline is read before it is written, and is more than what is read after it (I8)",
    },
    Twin {
        name: "histogram-baseline-moved-without-comparing",
        file: "src/histogram/baseline.rs",
        find: "if self.0.compare_exchange(there, Owned::new(now), order, failed, &guard).is_ok() {",
        replace: "let seen = self.0.load(failed, &guard);
            if self.0.compare_exchange(seen, Owned::new(now), order, failed, &guard).is_ok() {",
        build: &CHECKER,
        model: "histograms::drain_against_drain",
        why: "two drains answer what was recorded before both (I8)",
    },
    Twin {
        name: "histogram-reader-looks-once-at-the-baseline",
        file: "src/histogram/baseline.rs",
        find: "if self.0.load(Ordering::Relaxed, &guard) == there {",
        replace: "if self.0.load(Ordering::Relaxed, &guard) == there || true {",
        build: &CHECKER,
        model: "histograms::read_against_a_drain",
        why: "what was drained is counted as if it had come since (I9)",
    },
    Twin {
        name: "histogram-baseline-freed-at-once",
        file: "src/histogram/baseline.rs",
        find: "unsafe { guard.defer_destroy(there) };",
        replace: "drop(unsafe { there.into_owned() });",
        build: &CHECKER,
        model: "histograms::read_against_a_drain",
        why: "a reader may still be reading it (I5)",
    },
    Twin {
        name: "histogram-shared-cells-not-read",
        file: "src/histogram/columns.rs",
        find: "for (count, cell) in counts.iter_mut().zip(&shared[FIRST_CELL..]) {",
        replace: "for (count, cell) in counts.iter_mut().zip(&shared[..0]) {",
        build: &PER_CORE,
        model: "histograms::the_first_records_of_two_threads",
        why: "a record of a thread without a row is not counted (I11)",
    },
];
