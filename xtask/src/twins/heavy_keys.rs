//! Broken twins of heavy keys.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake in heavy keys that a model must notice.
pub(super) const HEAVY_KEYS: &[Twin] = &[
    Twin {
        name: "heavy-keys-read-that-passes-an-overtaken-bucket",
        file: "src/heavy/shards.rs",
        find: "        Found::Overtaken => return false,",
        replace: "        Found::Overtaken => {}",
        build: &CHECKER,
        model: "heavy_keys::read_against_a_rotation",
        why: "the read has neither the bucket that left nor the one in its slot",
    },
    Twin {
        name: "heavy-keys-read-of-both-sides-of-a-clear",
        file: "src/heavy/shards.rs",
        find: "found.all(|all| all) && self.clears.load(Ordering::Relaxed) == clears",
        replace: "found.all(|all| all) && clears < u64::MAX",
        build: &CHECKER,
        model: "heavy_keys::read_against_a_clear",
        why: "one shard is read before the clear, and one after it",
    },
    Twin {
        name: "heavy-keys-tier-read-of-both-sides-of-a-clear",
        file: "src/heavy/shards.rs",
        find: "if found && self.clears.load(Ordering::Relaxed) == clears",
        replace: "if found && clears < u64::MAX",
        build: &CHECKER,
        model: "heavy_keys::tier_read_against_a_clear",
        why: "one shard is read before the clear, and one after it",
    },
    Twin {
        name: "heavy-keys-newest-start-kept-for-itself",
        file: "src/heavy/shard.rs",
        find: "newest.fetch_max(start, Ordering::Relaxed).max(start)",
        replace: "newest.load(Ordering::Relaxed).max(start)",
        build: &CHECKER,
        model: "heavy_keys::add_against_the_rotation_that_ends_its_bucket",
        why: "a read by a clock that is behind does not see the newest bucket",
    },
];
