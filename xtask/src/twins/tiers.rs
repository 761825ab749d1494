//! Broken twins of tiers.

use crate::models::PER_CORE;
use crate::twin::Twin;

/// Every mistake in a tier that a model must notice.
pub(super) const TIERS: &[Twin] = &[
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
        name: "reuse-hides-what-came-before",
        file: "src/ring/order/bucket.rs",
        find: "self.identity.store(version | INIT, Ordering::Release);",
        replace: "self.identity.store(version | INIT, Ordering::Relaxed);",
        build: &PER_CORE,
        model: "closing::reuse_against_a_read_of_a_tiers_extremes",
        why: "an extreme that is gone from a reused block is not found in the tier (I11)",
    },
];
