//! Gauges of operations in flight: random histories beside the guards held, limits and maxima while
//! threads come and go, user code that panics, and the documented answers.

mod contract;
mod oracle;
mod panics;
mod threads;

use windrow::{events, histogram::Scale};

events! {
    /// The events of a level: the maximum of each bucket, or each level that an operation raises.
    enum Pool { Busy: Maximum, Raised: Histogram(Scale::fixed::<5, 1, 64>()) }
}
