//! How this process counts: its strategy, and how full the arena is.
//!
//! No program needs it to count. It is for a line in a log, for tests, and for questions about
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
