//! The words of a thread: which row and which slot it has.
//!
//! Each has its own module, which decides what it is, also when the thread ends and in a forked
//! child. A thread may have either without the other. But a slot repeats the word of the row
//! (`reclaim::announced`), so that a portable add to a window looks up one word alone: a look-up
//! may be a call, in a library that is loaded at run time.
//!
//! They have no destructor, so that an add works at any moment of a thread's life. (Except under
//! loom, which drops all values of a thread at once.)

use std::ptr::null;

use crate::sync::{Word, thread_words};

/// The words of one thread. Both are zero before their first use.
pub(crate) struct Words {
    /// The word of `stripe::portable`.
    pub(crate) row: Word<usize>,
    /// The word of `reclaim::announced`: the address of a slot, or a number.
    pub(crate) slot: Word<*const ()>,
}

impl Words {
    const fn new() -> Words {
        Words { row: Word::new(0), slot: Word::new(null()) }
    }
}

thread_words! {
    pub(crate) static WORDS: Words = Words::new();
}
