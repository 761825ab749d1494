//! The engine's atomics and lock, where the files of `windrow-redis` in [`shared`](crate::shared)
//! look for std's.

pub(crate) use windrow_loom_tests::engine::sync::Mutex;
#[cfg(any(loom, shuttle))]
pub(crate) use windrow_loom_tests::engine::sync::atomic::AtomicBool; // for the quick clock
pub(crate) use windrow_loom_tests::engine::sync::atomic::{AtomicU64, Ordering};
