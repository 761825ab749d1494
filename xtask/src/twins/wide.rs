//! Broken twins of wide cells, which a bucket has only once they are used.

use crate::models::{CHECKER, PER_CORE};
use crate::twin::Twin;

/// Every mistake in them that a model must notice.
pub(super) const WIDE: &[Twin] = &[
    Twin {
        name: "group-of-two-threads",
        file: "src/ring/cells/wide.rs",
        find: "let attached = self.0.compare_exchange(null_mut(), new, order, failed);",
        replace:
            "let attached = Ok::<_, *mut [AtomicU64; GROUP]>(self.0.swap(new, Ordering::AcqRel));
        let _ = (order, failed);",
        build: &CHECKER,
        model: "wide::two_first_records_of_one_group",
        why: "a group is lost, with its adds (I1)",
    },
    Twin {
        name: "group-published-relaxed",
        file: "src/ring/cells/wide.rs",
        find: "let (order, failed) = (Ordering::Release, Ordering::Acquire);",
        replace: "let (order, failed) = (Ordering::Relaxed, Ordering::Acquire);",
        build: &CHECKER,
        model: "wide::read_against_a_first_record",
        why: "a reader follows the pointer to cells that it cannot see (I5)",
    },
    Twin {
        name: "group-followed-relaxed",
        file: "src/ring/cells/wide.rs",
        find: "unsafe { self.0.load(Ordering::Acquire).as_ref() }",
        replace: "unsafe { self.0.load(Ordering::Relaxed).as_ref() }",
        build: &CHECKER,
        model: "wide::read_against_a_first_record",
        why: "the reader does not see the cells behind the pointer (I5)",
    },
    Twin {
        name: "sum-of-a-pair-older-than-its-count",
        file: "src/ring/read/at_once/many.rs",
        find: "finds it in the sum, by the second.
        self.merge(touched, |wide| &wide.shared, Ordering::Acquire, u64::wrapping_add);",
        replace: "finds it in the sum, by the second.
        self.merge(touched, |wide| &wide.shared, Ordering::Relaxed, u64::wrapping_add);",
        build: &CHECKER,
        model: "wide::read_against_a_first_record",
        why: "a value is counted, and not in the sum (I9)",
    },
    Twin {
        name: "sum-of-all-pairs-older-than-their-count",
        file: "src/ring/read/at_once/many.rs",
        find: "// Acquire: as in `Many`.
        self.merge(touched, |wide| &wide.shared, Ordering::Acquire, u64::wrapping_add);",
        replace: "self.merge(touched, |wide| &wide.shared, Ordering::Relaxed, u64::wrapping_add);",
        build: &CHECKER,
        model: "wide::stats_against_a_record",
        why: "a value is counted, and not in the sum (I9)",
    },
    Twin {
        name: "marks-of-the-wide-left-out",
        file: "src/ring/read/at_once/many.rs",
        find: "            own.take_off_prefixes(positions, numbers);",
        replace: "",
        build: &CHECKER,
        model: "wide::read_against_the_reuse_of_its_marks",
        why: "adds that have left the interval are still in the sum (I9)",
    },
    Twin {
        name: "base-of-a-count-is-raised-before-that-of-its-sum",
        file: "src/ring/store/block.rs",
        find: "            self.raise_base(&base[pair % GROUP + 1], pair + 1, sum);
            self.raise_base(&base[pair % GROUP], pair, count);",
        replace: "            self.raise_base(&base[pair % GROUP], pair, count);
            self.raise_base(&base[pair % GROUP + 1], pair + 1, sum);",
        build: &PER_CORE,
        model: "wide::lifetime_against_the_reuse_of_a_block",
        why: "a reader of a block that was at rest counts a value that is not in the sum (I9)",
    },
];
