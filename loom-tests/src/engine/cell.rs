//! A cell for a value that a model's threads hand on by the atomics between them. Loom checks that
//! they do; the others let it be.

#[cfg(loom)]
type Inner<T> = loom::cell::UnsafeCell<T>;
#[cfg(not(loom))]
type Inner<T> = std::cell::UnsafeCell<T>;

/// A cell that two threads use one after the other.
#[derive(Debug)]
pub struct UnsafeCell<T>(Inner<T>);

// SAFETY: the model answers for its use of the pointers.
unsafe impl<T: Send> Sync for UnsafeCell<T> {}

impl<T> UnsafeCell<T> {
    /// Returns a cell.
    #[track_caller]
    pub fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(Inner::new(value))
    }

    /// Reads the value.
    #[track_caller]
    pub fn with<R>(&self, read: impl FnOnce(*const T) -> R) -> R {
        #[cfg(loom)]
        return self.0.with(read);
        #[cfg(not(loom))]
        read(self.0.get())
    }

    /// Writes the value.
    #[track_caller]
    pub fn with_mut<R>(&self, write: impl FnOnce(*mut T) -> R) -> R {
        #[cfg(loom)]
        return self.0.with_mut(write);
        #[cfg(not(loom))]
        write(self.0.get())
    }
}
