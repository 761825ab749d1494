//! Diagnostics: the process's strategy, and the usage of the arena.
//!
//! No program needs this module to count. Use it for a line in a log, for tests, and to investigate
//! speed.

pub use crate::arena::columns::{Columns, columns};
#[doc(hidden)]
pub use crate::stripe::aborts;
#[doc(hidden)]
pub use crate::stripe::leases;
#[cfg(windrow_per_core)]
#[doc(hidden)]
pub use crate::stripe::run_on_second_core;
pub use crate::stripe::{Strategy, strategy};
