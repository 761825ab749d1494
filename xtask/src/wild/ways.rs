//! The ways in which each program counts.

use crate::strategies::WAYS;

/// The number of adds of a thread.
pub(super) const TIMES: &str = "2000";

/// Returns the ways to count that the longer runs have, and two more.
pub(super) fn ways() -> impl Iterator<Item = (&'static str, [(&'static str, &'static str); 2])> {
    let more = |name, strategy, leases| {
        (name, [("WINDROW_STRATEGY", strategy), ("WINDROW_LEASES", leases)])
    };
    let all = WAYS.into_iter();
    all.chain([
        more("rows by processor", "cpu-id", ""),
        more("portable without leases", "portable", "off"),
    ])
}
