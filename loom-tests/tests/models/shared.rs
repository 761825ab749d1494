//! Shared limits: the permits that a process holds of one, and the quick clock of its rows.
//!
//! The files are those of `windrow-redis`, with the engine's atomics in place of std's
//! ([`sync`](crate::sync)) and a model's clocks in place of the system's
//! ([`coarse`](crate::coarse)).

#[allow(dead_code, unused_imports)] // a model uses a part
#[path = "../../../integrations/redis/src/permits.rs"]
mod permits;
#[cfg(any(loom, shuttle))]
#[allow(dead_code)]
#[path = "../../../integrations/redis/src/pulse.rs"]
pub(crate) mod pulse;

mod costs;
mod leases;
#[cfg(any(loom, shuttle))]
mod pulses;
#[cfg(any(windrow_per_core, windrow_announced))]
mod rows;

use permits::Permits;
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};

/// Does something in another thread, with the permits.
fn spawn<R: Send + 'static>(
    permits: &Arc<Permits>,
    body: impl FnOnce(&Permits) -> R + Send + 'static,
) -> JoinHandle<R> {
    let permits = Arc::clone(permits);
    thread::spawn(move || body(&permits))
}

/// Returns the permits of a lease that were put back after its end.
fn late(permits: &Permits, end: u64) -> u64 {
    permits.late().into_iter().filter(|(of, _)| *of == end).map(|(_, count)| count).sum()
}
