//! The words of a thread: which row and which slot it has.
//!
//! They are one thread-local, because each look-up of one may be a call (in a library that is
//! loaded at run time), and a portable add to a window needs both. That is all that they share:
//! each has its own module, which alone reads and writes it, also when the thread ends and in a
//! forked child. A thread may have either without the other.
//!
//! They have no destructor, so that an add works at any moment of a thread's life. (Except under
//! loom, which drops all values of a thread at once.)

use std::cell::Cell;

#[cfg(any(loom, shuttle))]
use crate::sync::engine::thread_local;

/// The words of one thread. Both are zero before their first use.
pub(crate) struct Words {
    /// The word of `stripe::portable`.
    pub(crate) row: Cell<usize>,
    /// The word of `reclaim::announced`: the address of a slot, or a number.
    pub(crate) slot: Cell<*const ()>,
}

impl Words {
    const fn new() -> Words {
        Words { row: Cell::new(0), slot: Cell::new(std::ptr::null()) }
    }
}

#[cfg(not(any(loom, shuttle)))]
std::thread_local! {
    pub(crate) static WORDS: Words = const { Words::new() };
}
#[cfg(any(loom, shuttle))]
thread_local! {
    pub(crate) static WORDS: Words = Words::new();
}
