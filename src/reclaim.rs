//! Reclamation of memory that was unlinked, but that other threads may still be reading.
//!
//! The library uses epoch-based reclamation by `crossbeam-epoch` (Fraser, *Practical lock-freedom*,
//! 2004). Only this module names it, because models run over two reclaimers: `crossbeam-epoch`
//! itself, and a checking one (`windrow_checker`). The checking one frees at the earliest moment
//! that the contract allows, and fails the model at the first access after that.

#[cfg(not(windrow_checker))]
pub(crate) use crossbeam_epoch::{Atomic, Guard, Owned, Shared};

pub(crate) mod announced;
pub(crate) mod grace;

#[cfg(not(any(loom, shuttle)))]
mod local;
#[cfg(not(any(loom, shuttle)))]
pub(crate) use local::{pin, pin_apart};

#[cfg(all(loom, not(windrow_checker)))]
pub(crate) use crossbeam_epoch::{pin, pin as pin_apart};

#[cfg(windrow_checker)]
mod checker;
#[cfg(any(windrow_per_core, windrow_announced))]
pub(crate) use checker::is_pinned;
#[cfg(windrow_checker)]
pub(crate) use checker::{Atomic, Guard, Owned, Shared, pin, pin as pin_apart};
