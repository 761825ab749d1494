//! The atomics and the lock of [`permits`](crate::permits) and [`pulse`](crate::pulse): std's.
//!
//! The models build the same files with those of a model checker in this place
//! (`loom-tests/tests/models/shared.rs`).

pub(crate) use std::sync::Mutex;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
