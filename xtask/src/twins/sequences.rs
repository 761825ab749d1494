//! Broken twins of the restartable sequences themselves, which no checker sees: real threads must
//! notice.

use crate::models::{EXACT, SURVIVAL, TORTURE};
use crate::twin::Twin;

/// Every mistake in a sequence that a test must notice.
pub(super) const SEQUENCES: &[Twin] = &[
    Twin {
        name: "sequence-goes-on-behind-its-commit",
        file: "src/stripe/per_core/x86_64/number.rs",
        find: "            [\"add qword ptr [{row} + {column} - {tag}], {n}\"],",
        replace: "            [\"add qword ptr [{row} + {column} - {tag}], {n}\", \"pause\"],",
        build: &SURVIVAL,
        model: "instructions::interrupted_at_each",
        why: "an add that was done is aborted, and done again",
    },
    Twin {
        name: "sequence-does-not-look-at-the-processor",
        file: "src/stripe/per_core/x86_64/sequence.rs",
        find: "            \" + {cpu_id} + 3]\\n\",",
        replace: "            \" + {cpu_id} + 3]\\n\",
            \"xor \",
            $to,
            \", \",
            $to,
            \"\\n\",",
        build: &SURVIVAL,
        model: "rows::unregistered::unregistered_threads",
        why: "a thread that is not registered adds to another's row by plain adds",
    },
    Twin {
        name: "remembered-row-is-compared-without-the-processor",
        file: "src/stripe/per_core/x86_64/sequence.rs",
        find: "                number!(\"{row:e}\", \"{place} + {offset}\"),",
        replace: "                \"mov {row:e}, dword ptr fs:[{place} + {offset} + {number}]\",",
        build: &SURVIVAL,
        model: "rows::unregistered::unregistered_threads",
        why: "a thread that is no longer registered adds to another's row by plain adds",
    },
    Twin {
        name: "new-thread-finds-the-number-of-a-row",
        file: "src/stripe/per_core/x86_64/remembered.rs",
        find: "            \".long -1\\n\",",
        replace: "            \".long 0\\n\",",
        build: &TORTURE,
        model: "counters::with_the_strategy_of_this_machine",
        why: "a thread that has not looked its row up adds to the first, unprotected",
    },
    Twin {
        name: "guess-is-not-compared",
        file: "src/stripe/per_core/x86_64/sequence.rs",
        find: "                    \"cmp {row}, qword ptr [{offset} + {column}]\",
                    \"jne 68b\",",
        replace: "                    \"test {row}, {row}\",
                    \"jz 68b\",",
        build: &EXACT,
        model: "clear::a_cleared_window_is_empty_and_counts_on",
        why: "adds go to the block of an older bucket",
    },
    Twin {
        name: "users-clock-is-read-again",
        file: "src/clock.rs",
        find: "    {
        at
    }",
        replace: "    {
        let _ = at;
        UNKNOWN
    }",
        build: &EXACT,
        model: "time::an_add_reads_a_users_clock_once",
        why: "an add that opens a bucket counts at a second reading",
    },
];
