//! The models: small programs of a few threads that use the library's real code, explored by loom,
//! shuttle and real threads. Each file names its invariant, and the threads that it explores.

// Memory, columns and rows.
mod columns;
mod growth;
mod leases;
mod open_rows;
mod reclamation;
mod refusals;

// Counters, and reads of them.
mod counter_drains;
mod counter_sum;
mod exemplars;
mod extreme_takes;
mod order_asked_for;

// A window's adds and buckets.
#[cfg(all(loom, windrow_announced))]
mod announced;
mod closing;
#[cfg(loom)]
mod comeback;
mod each_bucket;
mod extremes;
mod one_bucket;
mod order;
mod seen;
mod wide;

// A window's reads, drains and changes.
mod clear;
mod lifetime;
mod reconfigure;
#[cfg(loom)]
mod settling;
mod window_complete;
mod window_drains;
mod window_histograms;
mod window_parts;
mod window_sum;
mod window_tiers;

// Limits.
mod breaker;
mod gate;
mod pace;
mod permits;
#[cfg(any(windrow_per_core, windrow_announced))]
mod rations;

// Limits that processes share, over the files of windrow-redis.
#[cfg(any(loom, shuttle))]
mod coarse;
mod shared;
mod sync;

// Other things that count.
mod families;
mod heavy_keys;
mod histograms;
mod in_flight;
mod last_calls;

use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::window::Window;

/// Runs `body` in another thread, with the window.
fn spawn<E, R>(
    window: &Arc<Window<E>>,
    body: impl FnOnce(&Window<E>) -> R + Send + 'static,
) -> JoinHandle<R>
where
    E: windrow::Events,
    R: Send + 'static,
{
    let window = Arc::clone(window);
    thread::spawn(move || body(&window))
}
