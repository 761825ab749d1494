//! The words of a thread: which row and which slot it has.
//!
//! Each has its own module, which decides what it is, also when the thread ends and in a forked
//! child. A thread may have either without the other. But a slot repeats the word of the row
//! (`reclaim::announced`), so that a portable add to a window looks up one word alone: a look-up
//! may be a call, in a library that is loaded at run time.
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
