//! A value that is made at the first use, without waiting for another thread.

use std::ptr::null_mut;

use crate::sync::{AtomicPtr, Ordering, const_fn};

/// A value that is set once. Two threads may make one each at the same time; the second is dropped.
///
/// (With a `OnceLock` a thread would wait for another thread that was interrupted while it made the
/// value.)
#[derive(Debug)]
pub struct Once<T>(AtomicPtr<T>);

impl<T> Once<T> {
    const_fn! {
        /// Returns one without a value.
        pub const fn new() -> Once<T> {
            Once(AtomicPtr::new(null_mut()))
        }
    }

    /// Returns the value, if it is made.
    #[inline]
    pub fn get(&self) -> Option<&T> {
        // Acquire: pairs with the Release in `set`. SAFETY: null, or from `Box::into_raw` in `set`;
        // only the drop frees it.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Sets the value, unless there is one already, and returns the value that is there now.
    #[inline]
    pub fn set(&self, value: T) -> &T {
        let new = Box::into_raw(Box::new(value));
        // Release: publishes the value. Acquire, on failure: as in `get`.
        let (order, failed) = (Ordering::Release, Ordering::Acquire);
        match self.0.compare_exchange(null_mut(), new, order, failed) {
            // SAFETY: `new` is from `into_raw`; only the drop frees it.
            Ok(_) => unsafe { &*new },
            Err(first) => {
                // SAFETY: from `into_raw` above; no other thread has seen it.
                drop(unsafe { Box::from_raw(new) });
                // SAFETY: as in `get`; it was not null.
                unsafe { &*first }
            }
        }
    }
}

impl<T> Default for Once<T> {
    fn default() -> Once<T> {
        Once::new()
    }
}

impl<T> Drop for Once<T> {
    #[inline]
    fn drop(&mut self) {
        let value = self.0.load(Ordering::Relaxed); // `&mut self`: no other access
        if !value.is_null() {
            // SAFETY: from `Box::into_raw` in `set`.
            drop(unsafe { Box::from_raw(value) });
        }
    }
}

// SAFETY: it owns a `T` and gives out `&T`.
unsafe impl<T: Send> Send for Once<T> {}
// SAFETY: the same; and any thread may drop the value that another has made.
unsafe impl<T: Send + Sync> Sync for Once<T> {}
