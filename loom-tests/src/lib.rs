//! What windrow's models share. The models themselves are in `tests/models`, one file for each
//! thing that they check; `cargo xtask models` runs them.
//!
//! A model is a small program with two or three threads that uses the library's real code, built
//! with `--cfg loom`. Loom runs it once for every order in which its steps can happen, and for every
//! value that the memory model lets a load return; each run is an *execution*. Without that flag
//! there is nothing here.

#[cfg(loom)]
mod explore;
#[cfg(loom)]
pub mod window;

#[cfg(loom)]
pub use explore::{Model, turn};
