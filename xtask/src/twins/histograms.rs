//! Broken twins of what records to a histogram, reads it and drains it; and of what does so to one
//! in a window's buckets.

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
            if let Some(first) = self.run.column() {
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
        why: "a baseline is read before it is written, and is more than the count read after it (I8)",
    },
    Twin {
        name: "histogram-baseline-moved-without-comparing",
        file: "src/histogram/baseline.rs",
        find: "if self.0.compare_exchange(there, Owned::new(now), order, failed, &guard).is_ok() {",
        replace: "let seen = self.0.load(failed, &guard);
            if self.0.compare_exchange(seen, Owned::new(now), order, failed, &guard).is_ok() {",
        build: &CHECKER,
        model: "histograms::drain_against_drain",
        why: "two drains return the records from before both (I8)",
    },
    Twin {
        name: "histogram-reader-looks-once-at-the-baseline",
        file: "src/histogram/baseline.rs",
        find: "if self.0.load(Ordering::Relaxed, &guard) == there {",
        replace: "if self.0.load(Ordering::Relaxed, &guard) == there || true {",
        build: &CHECKER,
        model: "histograms::read_against_a_drain",
        why: "drained records count as if they had come since (I9)",
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
        find: "rows::merge(counts, shared, Ordering::Acquire, u64::wrapping_add);",
        replace: "let _ = shared;",
        build: &PER_CORE,
        model: "histograms::the_first_records_of_two_threads",
        why: "a record of a thread without a row is not counted (I11)",
    },
    Twin {
        name: "window-histogram-extremes-read-before-the-counts",
        file: "src/ring/read/in_span.rs",
        find:
            "            if at_once::totals(self, part, positions.clone(), &mut numbers).is_some() {
                let extremes = self.extremes_in(span, extremes);",
        replace: "            let early = self.extremes_in(span, extremes);
            if at_once::totals(self, part, positions.clone(), &mut numbers).is_some() {
                let extremes = early;",
        build: &CHECKER,
        model: "window_histograms::record_against_a_read",
        why: "a value is counted that is beyond the extremes (I11)",
    },
    Twin {
        name: "window-histogram-counts-in-another-place",
        file: "src/event/cells.rs",
        find: "CellIndex::Value { pair: places.pairs + 2 * place, extremes: places.extremes }",
        replace: "CellIndex::Value { pair: places.pairs + 2 * (place / 2), extremes: places.extremes }",
        build: &CHECKER,
        model: "window_histograms::record_against_a_record_in_another_pair",
        why: "a value is counted where others are (I11)",
    },
    Twin {
        name: "window-histogram-extremes-of-the-first-pair-alone",
        file: "src/arena/rows.rs",
        find: "let pairs = of.pair.cells(row, 2 * of.pairs).as_chunks().0;",
        replace: "let pairs = of.pair.cells(row, 2 * of.pairs.min(1)).as_chunks().0;",
        build: &PER_CORE,
        model: "window_histograms::record_against_a_read",
        why: "a pending value of another pair is counted, and not an extreme (I11)",
    },
    Twin {
        name: "window-histogram-extreme-read-before-the-pending-values",
        file: "src/arena/rows.rs",
        find: "        let pending = pending(of, row);
        let both = [of.cells, of.cells.right(1)];
        // Acquire: as in `pending`.
        greater(pending, both.map(|cells| cells.cell(row).load(Ordering::Acquire)))",
        replace: "        let both = [of.cells, of.cells.right(1)];
        let raised = both.map(|cells| cells.cell(row).load(Ordering::Acquire));
        greater(pending(of, row), raised)",
        build: &PER_CORE,
        model: "window_histograms::record_against_a_read",
        why: "a value that is no longer pending is in no extreme that was read (I11)",
    },
    Twin {
        name: "window-histogram-forgets-the-pending-value-of-one-pair",
        file: "src/ring/store/block.rs",
        find: "            if pending {
                rows::forget_pending",
        replace: "            if pending && pair == 0 {
                rows::forget_pending",
        build: &PER_CORE,
        model: "window_histograms::record_against_the_reuse_of_its_block",
        why: "a pending value in another pair is an extreme of the block's next bucket (I6)",
    },
    Twin {
        name: "window-histogram-closed-without-a-look-for-pending-values",
        file: "src/ring/store/block.rs",
        find: "        bits & PENDING != 0\n",
        replace: "        bits & PENDING != 0 && totals.is_empty()\n",
        build: &PER_CORE,
        model: "window_histograms::record_against_the_reuse_of_its_block",
        why: "a pending value in a wide pair is not in the extremes of a closed bucket (I6)",
    },
    Twin {
        name: "window-histogram-pairs-share-a-pending-value",
        file: "src/ring/write/missed.rs",
        find: "        let pending = layout.pending(pair);",
        replace: "        let pending = layout.pending(0);",
        build: &PER_CORE,
        model: "window_histograms::record_against_a_record_in_another_pair",
        why: "a value that is pending in one pair is overwritten by another pair's (I11)",
    },
];
