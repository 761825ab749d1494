//! Broken twins of the code that grows a window's memory, and reuses memory that has left the ring.

use crate::models::CHECKER;
use crate::twin::Twin;

/// Every mistake in it that a model must notice.
pub(super) const GROWTH: &[Twin] = &[
    Twin {
        name: "evicted-slot-forgets-its-round",
        file: "src/ring/order/slot.rs",
        find: "self.exchange(found, left(rounds))",
        replace: "self.exchange(found, left(rounds * 0))",
        build: &CHECKER,
        model: "growth::read_against_the_eviction_of_a_bucket",
        why: "a bucket that has left is read as never opened: of two buckets that left together, one is in the sum (I9)",
    },
    Twin {
        name: "reader-takes-what-has-left-for-never-opened",
        file: "src/ring/read/view.rs",
        find: "if rounds > 0 && self",
        replace: "if rounds > usize::MAX - 1 && self",
        build: &CHECKER,
        model: "growth::read_against_the_eviction_of_a_bucket",
        why: "a bucket that has left is read as never opened, though the slot tells",
    },
    Twin {
        name: "evicted-while-in-the-ring",
        file: "src/ring/order/opening.rs",
        find: "!self.slots.geometry.in_ring(start, self.newest)",
        replace: "(start < self.newest || !self.slots.geometry.in_ring(start, self.newest))",
        build: &CHECKER,
        model: "each_bucket::add_against_the_reuse_of_its_block",
        why: "a bucket that counts is no longer found (I1)",
    },
    Twin {
        name: "released-without-evicting",
        file: "src/ring/order/slot.rs",
        find: "if exchanged && let Content::Bucket(old) = found {",
        replace: "if let Content::Bucket(old) = found {",
        build: &CHECKER,
        model: "growth::eviction_against_eviction",
        why: "a bucket is free while a slot leads to it (I5)",
    },
    Twin {
        name: "block-of-two-threads",
        file: "src/ring/store/blocks.rs",
        find: "let made = self.made[number].compare_exchange(null_mut(), new, order, failed);",
        replace: "let made = Ok::<_, *mut Block>(self.made[number].swap(new, Ordering::AcqRel));
        let _ = (order, failed);",
        build: &CHECKER,
        model: "growth::two_first_rotations",
        why: "a block is lost, with the adds through it (I1)",
    },
];
