//! A value that lasts for as long as a schedule, for layers that want a static.

use std::ops::Deref;

/// A value at an address that stays, until this is dropped.
pub(super) struct Leaked<T: 'static>(*mut T);

impl<T> Leaked<T> {
    pub(super) fn new(value: T) -> Leaked<T> {
        Leaked(Box::into_raw(Box::new(value)))
    }

    /// Returns the value as if it were in a static.
    ///
    /// # Safety
    ///
    /// Nothing that has the reference may be used after this value is dropped.
    pub(super) unsafe fn get(&self) -> &'static T {
        // SAFETY: the box lasts until the drop, and the caller keeps no reference beyond it.
        unsafe { &*self.0 }
    }
}

impl<T> Deref for Leaked<T> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the box lasts until the drop.
        unsafe { &*self.0 }
    }
}

impl<T> Drop for Leaked<T> {
    fn drop(&mut self) {
        // SAFETY: the pointer is that of a box, and is used no more.
        drop(unsafe { Box::from_raw(self.0) });
    }
}
