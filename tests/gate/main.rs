//! The gate and the pace: random histories beside reference models, threads at the edges of short
//! buckets, and statistics.

// What a gate promises, and its judges.
mod bucket_edges;
mod clocks;
mod contract;
mod judge;
mod limits;
mod numbers_and_clocks;
mod oracle;
mod scales;
mod schedules;
mod spans;
mod unsteady_clocks;

// What becomes of a grant.
mod ignored_answers;
mod patience;
mod rations;
mod remembered_refusals;
mod retired_gates;
mod retry_budget;
mod settled_reservations;
mod unused_grants;

// Paces.
mod pace;
mod pace_changes;
mod pace_retired;
mod pace_settled;
mod paces;

use std::collections::BTreeMap;

/// Returns the greatest sum of grants in any run of `buckets` buckets, from the sum of each bucket,
/// by its start.
fn most_in_a_run(granted: &BTreeMap<u64, u64>, length: u64, buckets: u64) -> u64 {
    let run = |last: &u64| {
        let first = last.saturating_sub(length * (buckets - 1));
        granted.range(first..=*last).map(|(_, n)| n).sum()
    };
    granted.keys().map(run).max().unwrap_or(0)
}
