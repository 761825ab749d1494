//! Pinning in a collector of the library's own, by a handle of each thread.
//!
//! `crossbeam_epoch::pin` pins in a collector that every crate of the process shares. A thread that
//! is pinned there delays the freeing of this library's memory; a thread that pins there runs
//! functions that other crates have deferred. One that sleeps or panics would do so inside an add.
//! So the library has its own collector: no other crate can pin in it, and it runs only the
//! library's code.
//!
//! `crossbeam_epoch::pin` also looks up its handle, makes it if there is none yet, and makes one
//! only for this pin if the thread is about to end. That is too much to inline into every function
//! that pins, so it is a call. The caller then stores registers, just before an instruction that
//! waits for stores. Here the handle's address is in a thread-local without initialiser or
//! destructor: one branch remains.
//!
//! # A thread's first and last moments
//!
//! The first pin registers the thread: one allocation of about two kilobytes, freed when the thread
//! has ended. When a thread ends, its handle is dropped with its other thread-locals, in any order.
//! A later pin, in another thread-local's destructor, registers the thread only for that pin: it
//! works as before, but allocates and frees each time.

use std::cell::Cell;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{from_ref, null};
use std::sync::LazyLock;

use crossbeam_epoch::{Collector, Guard, LocalHandle};

/// The library's collector. (A static is never dropped: threads may outlive `main`.)
static COLLECTOR: LazyLock<Collector> = LazyLock::new(Collector::new);

/// A thread's handle. Its address is in [`CURRENT`] as long as it lives.
struct Handle(LocalHandle);

thread_local! {
    static HANDLE: Handle = Handle(COLLECTOR.register());
    /// Null before the first pin, and while the thread is about to end.
    static CURRENT: Cell<*const LocalHandle> = const { Cell::new(null()) };
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        CURRENT.set(null());
    }
}

/// Pins this thread.
#[inline]
pub(crate) fn pin() -> Guard {
    // SAFETY: null, or the address of this thread's `HANDLE`. That does not move, and its drop sets
    // the pointer to null.
    match unsafe { CURRENT.get().as_ref() } {
        Some(handle) => handle.pin(),
        None => pin_first(),
    }
}

/// A pin whose code is called and not in line, for what does not happen at every add: so the code
/// is in a program once.
pub(crate) struct Apart(ManuallyDrop<Guard>);

/// Pins this thread.
#[inline(never)]
pub(crate) fn pin_apart() -> Apart {
    Apart(ManuallyDrop::new(pin()))
}

impl Deref for Apart {
    type Target = Guard;

    #[inline]
    fn deref(&self) -> &Guard {
        &self.0
    }
}

impl Drop for Apart {
    #[inline(never)]
    fn drop(&mut self) {
        // SAFETY: once, and the guard is not used again.
        unsafe { ManuallyDrop::drop(&mut self.0) };
    }
}

#[cold]
fn pin_first() -> Guard {
    let pinned = HANDLE.try_with(|handle| {
        CURRENT.set(from_ref(&handle.0));
        handle.0.pin()
    });
    // On an error the thread is about to end: make a handle only for this pin. (The guard keeps the
    // data that it needs.)
    pinned.unwrap_or_else(|_| COLLECTOR.register().pin())
}
