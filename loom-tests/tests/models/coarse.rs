//! The clocks of a model, where [`pulse`](crate::shared::pulse) looks for the system's: a precise
//! one, and a coarse one that can be set.
//!
//! (On real threads there is none: all models of a process would have the same.)
//!
//! Both are one word, which no thread reads as it was earlier: that is so of a machine's clocks. A
//! reading orders no memory.

use windrow_loom_tests::engine::sync::atomic::{AtomicU64, Ordering};

/// The unit of both clocks, in nanoseconds: a quarter of a beat.
pub(crate) const UNIT: u64 = 1_000_000;

#[cfg(loom)]
loom::lazy_static! {
    static ref CLOCKS: AtomicU64 = AtomicU64::new(0);
}
#[cfg(shuttle)]
shuttle::lazy_static! {
    static ref CLOCKS: AtomicU64 = AtomicU64::new(0);
}

/// Sets both clocks, in units.
pub(crate) fn set(precise: u64, coarse: u64) {
    CLOCKS.swap(precise << 32 | coarse, Ordering::Relaxed);
}

fn read() -> u64 {
    CLOCKS.fetch_add(0, Ordering::Relaxed)
}

/// Returns the precise clock's time, in nanoseconds.
pub(crate) fn precise() -> u64 {
    (read() >> 32) * UNIT
}

/// Returns the coarse clock's time, in nanoseconds.
#[allow(clippy::unnecessary_wraps)] // some systems have none
pub(crate) fn now() -> Option<u64> {
    Some(u64::from(read() as u32) * UNIT)
}

/// Returns the time between two ticks: no more than the others' unit.
#[allow(clippy::unnecessary_wraps)]
pub(crate) fn tick() -> Option<u64> {
    Some(0)
}
