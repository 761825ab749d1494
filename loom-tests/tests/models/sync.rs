//! The engine's atomics and lock, where the files of `windrow-redis` in [`shared`](crate::shared)
//! look for std's.

pub(crate) use windrow_loom_tests::engine::sync::Mutex;
pub(crate) use windrow_loom_tests::engine::sync::atomic::{AtomicBool, AtomicU64, Ordering};
