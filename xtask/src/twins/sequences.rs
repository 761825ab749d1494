//! Broken twins of the restartable sequences themselves, which no checker sees: real threads must
//! notice.

use crate::models::{SURVIVAL, TORTURE};
use crate::twin::Twin;

/// Every mistake in a sequence that a test must notice.
pub(super) const SEQUENCES: &[Twin] = &[
    Twin {
        name: "sequence-goes-on-behind-its-commit",
        file: "src/stripe/per_core/x86_64/number.rs",
        find: "            [\"add qword ptr [{row} + {column} - {tag}], {n}\"],",
        replace: "            [\"add qword ptr [{row} + {column} - {tag}], {n}\", \"pause\"],",
        build: &TORTURE,
        model: "counters::with_the_strategy_of_this_machine",
        why: "an add that was done is aborted, and done again",
    },
    Twin {
        name: "sequence-does-not-look-at-the-processor",
        file: "src/stripe/per_core/x86_64/sequence.rs",
        find: "            \"movsx {row:e}, byte ptr fs:[{offset} + {cpu_id} + 3]\\n\",",
        replace: "            \"movsx {row:e}, byte ptr fs:[{offset} + {cpu_id} + 3]\\n\",
            \"xor {row:e}, {row:e}\\n\",",
        build: &SURVIVAL,
        model: "rows::unregistered::unregistered_threads",
        why: "a thread that is not registered adds to another's row by plain adds",
    },
    Twin {
        name: "remembered-row-is-compared-without-the-processor",
        file: "src/stripe/per_core/x86_64/sequence.rs",
        find: "                number!(),
                place_of_remembered!",
        replace: "                \"mov {row:e}, dword ptr fs:[{offset} + {number}]\",
                place_of_remembered!",
        build: &SURVIVAL,
        model: "rows::unregistered::unregistered_threads",
        why: "a thread that is no longer registered adds to another's row by plain adds",
    },
];
