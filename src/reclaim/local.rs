//! Pinning, by a handle of this thread's own.
//!
//! `crossbeam_epoch::pin` looks up its handle, makes it if there is none yet, and makes one for this pin
//! alone if the thread is about to end: too much to be put into every function that pins, so it is
//! called, and the registers that the caller keeps over the call are stored just before an instruction
//! that waits for stores. Here the handle's address is in a thread-local without initialiser or
//! destructor, which leaves one branch on the way.

use std::cell::Cell;
use std::ptr::{from_ref, null};

use crossbeam_epoch::{Guard, LocalHandle, default_collector};

/// A thread's handle. Its address is in [`CURRENT`] as long as it lives.
struct Handle(LocalHandle);

thread_local! {
    static HANDLE: Handle = Handle(default_collector().register());
    /// Null before the first pin, and while the thread is about to end.
    static CURRENT: Cell<*const LocalHandle> = const { Cell::new(null()) };
}

impl Drop for Handle {
    fn drop(&mut self) {
        CURRENT.set(null());
    }
}

/// Pins this thread, in the collector that `crossbeam_epoch::pin` pins it in.
#[inline]
pub(crate) fn pin() -> Guard {
    // SAFETY: null, or the address of this thread's `HANDLE`, which does not move, and takes the address
    // away before it ends.
    match unsafe { CURRENT.get().as_ref() } {
        Some(handle) => handle.pin(),
        None => pin_first(),
    }
}

#[cold]
fn pin_first() -> Guard {
    let pinned = HANDLE.try_with(|handle| {
        CURRENT.set(from_ref(&handle.0));
        handle.0.pin()
    });
    // In the thread's last moments, for this pin alone. (The guard keeps what it needs.)
    pinned.unwrap_or_else(|_| default_collector().register().pin())
}
