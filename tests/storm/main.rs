//! Many threads at once, and nothing lost.
//!
//! Writers keep ledgers beside what they add; at rest each bucket and each lifetime must agree with
//! them to the last count, and while they run every answer must lie between the adds finished
//! before the question and those begun before the answer.

mod buckets;
mod churn;
mod clears;
mod counters;
mod reconfigure;
mod reuse;
mod short_tiers;
#[cfg(target_os = "linux")]
mod stalls;
mod tiers;
mod writers;

windrow::events! {
    /// One of each kind, and one of each that must stay untouched beside them.
    pub(crate) enum Seen { Pass: Count, Idle: Count, Rt: Value, Still: Value }
}
