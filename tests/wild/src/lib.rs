//! Counters, windows, histograms, gauges, levels and rations, used by everything that runs code in
//! a process: threads that come and go, stackful coroutines and tasks that move between threads,
//! forked children. Every total must be exact.
//!
//! `cargo xtask wild` builds this in many ways, and loads it into Python and Node as a shared
//! object. It depends on few crates, unwinds nowhere and needs no test harness, so that each build
//! and each host runs the same program.

pub mod books;
mod coroutines;
mod forks;
mod loss;
mod outcome;
mod storm;
mod tasks;

pub use loss::{Loss, PARTS};
pub use outcome::Outcome;

/// Runs every part and returns what each has counted, one line a part.
///
/// `times` is the number of adds of one thread; `loss` names the add to leave out, which the part
/// must notice.
///
/// # Errors
/// If a total is not exact.
pub fn run(times: u64, loss: Loss) -> Outcome {
    let strategy = windrow::diagnostics::strategy();
    let mut said = vec![format!("{strategy:?}, leases {}", windrow::diagnostics::leases())];
    let parts: [fn(u64, Loss) -> Outcome; 4] =
        [storm::run, coroutines::run, tasks::run, forks::run];
    for part in parts {
        said.push(part(times, loss)?);
    }
    Ok(said.join("\n"))
}
