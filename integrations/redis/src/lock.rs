//! Locks that no panic closes.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks. What a thread that has panicked left behind is in order.
pub(crate) fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
