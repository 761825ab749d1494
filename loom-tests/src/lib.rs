//! The code that windrow's models share. The models themselves are in `tests/models`, one file for
//! each thing that they check.
//!
//! A model is a small program with a few threads that uses the library's real code, and asserts
//! what must hold however its threads meet. Three [engines](engine) run it: loom, shuttle, and real
//! threads. [`histories`] checks the record of a run against the library's promises.

pub mod engine;
mod explore;
pub mod histories;
#[cfg(not(loom))]
mod progress;
pub mod window;

pub use engine::turn;
pub use explore::Model;
