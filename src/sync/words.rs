//! Words of each thread: thread-locals of `std`, or in a model of the engine.

pub(crate) use std::cell::Cell as Word;

/// Declares words of each thread, as `std::thread_local!` does, which must all start at zero. They
/// have no destructor, so a thread can read them at any time, even in its last moments. (Except
/// under loom, which drops all values of a thread at once.)
///
/// A look takes no memory where `std` has thread-locals of the linker's. (On Android, OpenBSD and
/// illumos it has boxes, which it takes from the global allocator before Rust 1.93.)
macro_rules! thread_words {
    ($(#[$attribute:meta])* $visibility:vis static $name:ident: $type:ty = $value:expr;) => {
        #[cfg(not(any(loom, shuttle)))]
        std::thread_local! {
            $(#[$attribute])*
            $visibility static $name: $type = const { $value };
        }
        #[cfg(any(loom, shuttle))]
        $crate::sync::engine::thread_local! {
            $(#[$attribute])*
            $visibility static $name: $type = $value;
        }
    };
}

pub(crate) use thread_words;
