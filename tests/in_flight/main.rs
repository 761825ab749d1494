//! How many at once: random histories beside what was held, threads that come and go, and what it
//! says of itself.

mod contract;
mod oracle;
mod panics;
mod storm;

use windrow::{events, histogram::Scale};

events! {
    /// What is kept of a level: the most in each bucket, or each level that an operation raises.
    enum Pool { Busy: Maximum, Raised: Histogram(Scale::fixed::<5, 1, 64>()) }
}
