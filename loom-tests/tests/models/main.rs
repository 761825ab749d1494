//! The models: small programs of a few threads that use the library's real code, explored by loom,
//! shuttle and real threads. Each file names its invariant, and the threads that it explores.

#[cfg(all(loom, windrow_announced))]
mod announced;
mod breaker;
mod clear;
mod closing;
#[cfg(any(loom, shuttle))]
mod coarse;
mod columns;
#[cfg(loom)]
mod comeback;
mod counter_drains;
mod counter_sum;
mod each_bucket;
mod exemplars;
mod extreme_takes;
mod extremes;
mod families;
mod gate;
mod growth;
mod heavy_keys;
mod histograms;
mod in_flight;
mod last_calls;
mod leases;
mod lifetime;
mod one_bucket;
mod open_rows;
mod order;
mod order_asked_for;
mod pace;
mod permits;
#[cfg(any(windrow_per_core, windrow_announced))]
mod rations;
mod reclamation;
mod reconfigure;
mod refusals;
mod seen;
#[cfg(loom)]
mod settling;
mod shared;
mod sync;
mod wide;
mod window_complete;
mod window_drains;
mod window_histograms;
mod window_sum;
mod window_tiers;

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
