//! `std`'s clock, for systems without a coarse one.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::step;

/// The time of the first reading. Not zero, so that a window has buckets before it.
const FIRST: Duration = Duration::from_secs(86_400);

/// The longest time between two timer interrupts, on Windows.
const TICK: Duration = Duration::from_micros(15_625);

static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(super) fn coarse_nanos() -> u64 {
    fine_nanos()
}

pub(super) fn coarse_resolution() -> Duration {
    fine_resolution()
}

pub(in super::super) fn fine_nanos() -> u64 {
    crate::timestamp::saturating_nanos(ORIGIN.elapsed().saturating_add(FIRST))
}

pub(in super::super) fn fine_resolution() -> Duration {
    step::of(fine_nanos, || TICK)
}
