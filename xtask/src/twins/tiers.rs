//! Broken twins of tiers.

use crate::models::{CHECKER, PER_CORE};
use crate::twin::Twin;

/// Every mistake in a tier that a model must notice.
pub(super) const TIERS: &[Twin] = &[
    Twin {
        name: "late-add-forgets-the-levels",
        file: "src/ring/store.rs",
        find: "for level in tier.levels() {",
        replace: "for level in tier.levels().take(1) {",
        build: &CHECKER,
        model: "window_tiers::long_span_behind_a_late_add_that_is_counted",
        why: "a span that is read as slices has it no longer (I9)",
    },
    Twin {
        name: "late-add-told-before-the-tiers-have-it",
        file: "src/ring/write/missed.rs",
        find: "                self.put_in_tiers(&of.tiers, at, newest, update);
            }
            return update.put(&self.beside.late(self.store.layout));",
        replace: "                update.put(&self.beside.late(self.store.layout));
                return self.put_in_tiers(&of.tiers, at, newest, update);
            }
            return update.put(&self.beside.late(self.store.layout));",
        build: &CHECKER,
        model: "window_tiers::long_span_behind_a_late_add_that_is_counted",
        why: "a reader that has counted the add among late ones reads a span without it (I9)",
    },
    Twin {
        name: "oldest-mark-is-the-newest",
        file: "src/ring/order/marks.rs",
        find: "            self.oldest.fetch_min(start, Ordering::Relaxed);
        }",
        replace: "            self.oldest.fetch_min(start, Ordering::Relaxed);
        }
        self.oldest.store(start, Ordering::Relaxed);",
        build: &CHECKER,
        model: "window_tiers::span_from_before_the_window_against_a_rotation",
        why: "a span that begins before the window begins with its newest coarse bucket (I9)",
    },
    Twin {
        name: "tier-reads-its-cells-without-a-fence",
        file: "src/ring/read/tier_view.rs",
        find: "    fence(Ordering::Acquire);
    open",
        replace: "    _ = fence;
    open",
        build: &PER_CORE,
        model: "closing::close_against_a_read_of_a_tiers_extremes",
        why: "an extreme that is gone from a block is not found in the tier (I11)",
    },
    Twin {
        name: "slice-is-found-in-its-slot-once",
        file: "src/ring/order/level.rs",
        find: "if !slot.leads_to(bucket, Ordering::Acquire) {",
        replace: "if !slot.leads_to(bucket, Ordering::Acquire) && start == u64::MAX {",
        build: &CHECKER,
        model: "comeback::slices_against_a_bucket_that_is_given_up",
        why: "a span has what another slice has counted (I9)",
    },
    Twin {
        name: "reuse-hides-what-came-before",
        file: "src/ring/order/bucket.rs",
        find: "self.identity.store(version | INIT, Ordering::Release);",
        replace: "self.identity.store(version | INIT, Ordering::Relaxed);",
        build: &PER_CORE,
        model: "closing::reuse_against_a_read_of_a_tiers_extremes",
        why: "an extreme that is gone from a reused block is not found in the tier (I11)",
    },
];
