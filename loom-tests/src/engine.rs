//! The three engines that run a model, of which a build has one.
//!
//! | engine | build | runs a model |
//! |---|---|---|
//! | loom | `--cfg loom` | once for every order in which its steps can happen, and for every value that the memory model lets a load return; two or three threads of a few steps |
//! | shuttle | `--cfg shuttle` | in as many random orders as it is told; many threads, many steps; every atomic as if it were `SeqCst` |
//! | real threads | neither | as often as it is told, on this machine's cores and in whatever order they come |
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
