//! The gate: random histories beside a reference model, threads at the edges of short buckets, and
//! what it says of itself.

mod contract;
mod edges;
mod ignored;
mod judge;
mod oracle;
mod rations;
mod retired;
mod scales;
mod schedules;
mod spans;
mod storm;

use std::collections::BTreeMap;

/// Returns the most that was granted in any run of so many buckets, of what was granted in each, by
/// its start.
fn most_in_a_run(granted: &BTreeMap<u64, u64>, length: u64, buckets: u64) -> u64 {
    let run = |last: &u64| {
        let first = last.saturating_sub(length * (buckets - 1));
        granted.range(first..=*last).map(|(_, n)| n).sum()
    };
    granted.keys().map(run).max().unwrap_or(0)
}
