//! Names in the docs that the sources do not have: those of other projects, and those that stand
//! for any name.

/// Names as they stand in pages, each with the thing that it belongs to.
pub(super) const ELSEWHERE: &[(&str, &str)] = &[
    ("ArrayMetric", "Sentinel for Java"),
    ("CLONE_SETTLS", "Linux"),
    ("CLONE_VM", "Linux"),
    ("ConcurrencyLimit", "tower"),
    ("Host", "HTTP"),
    ("Limited", "an event of a user's"),
    ("RESOURCE_EXHAUSTED", "gRPC"),
    ("Reject", "an event of a user's"),
    ("Rejected", "an event of a user's"),
    ("Retry-After", "HTTP"),
    ("SAFETY", "a comment's first word"),
    ("StatisticNode", "Sentinel for Java"),
    ("ThreadCachedInt", "folly"),
    ("_mean", "the end of a series' name"),
    ("_per_second", "the end of a series' name"),
    ("b19", "benchmarks of dash5"),
    ("b21", "benchmarks of dash5"),
    ("metric_relabel_configs", "Prometheus"),
    ("mlockall", "Linux"),
    ("mm_cid", "Linux"),
    ("numSamples", "Prometheus"),
    ("prometheus_protobuf", "a crate that is not used"),
    ("repository", "Cargo"),
    ("rust-toolchain.toml", "a file that is not there, on purpose"),
    ("src/PATH*", "any path"),
    ("vfork", "Linux"),
    ("write_relabel_configs", "Prometheus"),
];
