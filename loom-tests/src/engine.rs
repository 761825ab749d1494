//! The three engines that run a model, of which a build has one.
//!
//! | engine | build | runs a model |
//! |---|---|---|
//! | loom | `--cfg loom` | once for each order of its steps and each value that a load may return |
//! | shuttle | `--cfg shuttle` | in a number of random orders; every atomic is as if `SeqCst` |
//! | real threads | neither | a number of times, on this machine's cores, in any order |
//!
//! Loom takes two or three threads of a few steps; shuttle takes many threads and many steps.
//!
//! Each of them has the same names: [`sync`], [`thread`], `thread_local!`, [`UnsafeCell`] and
//! [`turn`].

#[cfg_attr(loom, path = "engine/exhaustive.rs")]
#[cfg_attr(shuttle, path = "engine/random.rs")]
#[cfg_attr(not(any(loom, shuttle)), path = "engine/real.rs")]
mod chosen;

mod cell;

pub use cell::UnsafeCell;
pub(crate) use chosen::run;
pub use chosen::*;

/// Has this thread run on the second core from now on, where a model has cores.
pub fn on_second_core() {
    #[cfg(windrow_per_core)]
    windrow::diagnostics::run_on_second_core();
}

/// The result of a model that did not fail.
pub(crate) struct Explored {
    /// The number of executions.
    pub(crate) executions: usize,
    /// The orders of steps that were explored.
    pub(crate) orders: String,
}
