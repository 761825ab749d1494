//! The crates, and the lines of them that are changed.

/// A crate that gets a file of ours.
pub(super) struct Port {
    pub(super) name: &'static str,
    pub(super) version: &'static str,
    /// The file: in the place of theirs, whose tests stay, or a new one.
    pub(super) file: &'static str,
    /// The changes by which theirs come to use it.
    pub(super) edits: &'static [Edit],
    /// The arguments of `cargo test` for its own tests, for each run.
    pub(super) tests: &'static [&'static [&'static str]],
    /// The packages that only its benches and examples need: not built.
    pub(super) unneeded: &'static [&'static str],
    /// A function that is measured and not public: made so in both copies.
    pub(super) opened: Option<&'static str>,
}

/// A text in the place of another one, wherever that stands in a part of a file.
pub(super) struct Edit {
    pub(super) file: &'static str,
    /// The beginning of the part: that of the file, if this is empty.
    pub(super) from: &'static str,
    /// The text behind the part: none, if this is empty.
    pub(super) to: &'static str,
    pub(super) theirs: &'static str,
    pub(super) ours: &'static str,
}

impl Edit {
    /// Returns one of the whole file.
    pub(super) const fn new(file: &'static str, theirs: &'static str, ours: &'static str) -> Edit {
        Edit { file, from: "", to: "", theirs, ours }
    }

    /// Returns one of the part from `from` until `to`.
    pub(super) const fn within(
        file: &'static str,
        from: &'static str,
        to: &'static str,
        theirs: &'static str,
        ours: &'static str,
    ) -> Edit {
        Edit { file, from, to, theirs, ours }
    }
}

pub(super) const PORTS: [Port; 6] = [
    Port {
        name: "stretto",
        version: "0.8.4",
        file: "src/metrics.rs",
        edits: &[],
        // One of them waits some milliseconds for a thread, which must have a core then.
        tests: &[&["--lib", "--", "--test-threads=1"]],
        unneeded: &[],
        opened: Some("fn add("),
    },
    Port {
        name: "tower",
        version: "0.5.3",
        file: "src/retry/budget/tps_budget.rs",
        edits: &[],
        tests: &[&["--features", "full"]],
        unneeded: &[],
        opened: None,
    },
    Port {
        name: "prometheus",
        version: "0.14.0",
        file: "src/striped.rs",
        edits: &[
            Edit::new("src/lib.rs", "\nmod atomic64;\n", "\nmod atomic64;\nmod striped;\n"),
            Edit::new(
                "src/counter.rs",
                "use crate::atomic64::{Atomic, AtomicF64, AtomicU64, Number};\n",
                "use crate::atomic64::{Atomic, AtomicF64, Number};\n\
                 use crate::striped::StripedU64 as AtomicU64;\n",
            ),
        ],
        tests: &[&["--lib"], &["--doc"]],
        unneeded: &["criterion", "getopts"],
        opened: None,
    },
    Port {
        name: "governor",
        version: "0.10.4",
        file: "src/paced.rs",
        edits: &[
            Edit::new("src/lib.rs", "\nmod gcra;\n", "\nmod gcra;\nmod paced;\n"),
            Edit::new("src/state.rs", "    gcra::Gcra,\n", ""),
            Edit::new(
                "src/state.rs",
                "use crate::nanos",
                "use crate::paced::Paced;\nuse crate::nanos",
            ),
            Edit::new("src/state.rs", "    gcra: Gcra,\n", "    gcra: Paced,\n"),
            Edit::new("src/state.rs", "Gcra::new(quota)", "Paced::new(quota)"),
            Edit::new(
                "src/state.rs",
                "    type Key;\n",
                "    type Key;\n\n\
                 \u{20}   /// Whether a pace of windrow's decides, and not the closure.\n\
                 \u{20}   const BY_PACE: bool = false;\n",
            ),
            Edit::new(
                "src/state/in_memory.rs",
                "    type Key = NotKeyed;\n",
                "    type Key = NotKeyed;\n\n    const BY_PACE: bool = true;\n",
            ),
        ],
        tests: &[&[]],
        unneeded: &["criterion", "tynm"],
        opened: None,
    },
    Port {
        name: "tokio-metrics",
        version: "0.5.2",
        file: "src/striped.rs",
        edits: &[
            Edit::new("src/lib.rs", "\nmod task;\n", "\nmod striped;\nmod task;\n"),
            Edit::new(
                "src/task.rs",
                "\nuse std::sync::atomic::{",
                "\nuse crate::striped::{Longest, Sum};\nuse std::sync::atomic::{",
            ),
            Edit::within("src/task.rs", "struct RawMetrics {", "\n}", "AtomicU64", "Sum"),
            Edit::within("src/task.rs", "metrics: RawMetrics {", "\n}", "AtomicU64", "Sum"),
            Edit::new(
                "src/task.rs",
                "local_max_idle_duration_ns: Sum",
                "local_max_idle_duration_ns: Longest",
            ),
            Edit::new(
                "src/task.rs",
                "global_max_idle_duration_ns: Sum",
                "global_max_idle_duration_ns: Longest",
            ),
        ],
        tests: &[&["--lib", "--tests"], &["--doc"]],
        unneeded: &["criterion", "metrique", "num_cpus"],
        opened: None,
    },
    Port {
        name: "pingora-limits",
        version: "0.9.1",
        file: "src/estimator.rs",
        edits: &[],
        tests: &[&["--lib"]],
        unneeded: &["dashmap", "dhat", "rand"],
        opened: None,
    },
];
