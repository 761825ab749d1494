//! The gate and the pace: random histories beside reference models, threads at the edges of short
//! buckets, and statistics.

mod clocks;
mod contract;
mod edges;
mod ignored;
mod judge;
mod limits;
mod oracle;
mod pace;
mod pace_changes;
mod pace_retired;
mod pace_settled;
mod paces;
mod patience;
mod rations;
mod remembered;
mod retired;
mod retry_budget;
mod scales;
mod schedules;
mod settled;
mod spans;
mod storm;
mod unsteady;
mod unused;

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
