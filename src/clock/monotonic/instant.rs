//! `std`'s clock, for systems without a coarse one.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// The time of the first reading. Not zero, so that a window has buckets before it.
const FIRST: Duration = Duration::from_secs(86_400);

static ORIGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

pub(super) fn coarse_nanos() -> u64 {
    fine_nanos()
}

pub(super) fn coarse_resolution() -> Duration {
    Duration::from_nanos(100) // the coarsest that std documents, on Windows
}

pub(in super::super) fn fine_nanos() -> u64 {
    crate::timestamp::saturating_nanos(ORIGIN.elapsed().saturating_add(FIRST))
}
