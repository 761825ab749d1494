//! A thread's end, at which it gives back the resources that only it uses.
//!
//! # Promise
//!
//! After a successful [`AtEnd::arm`], its argument is [given back](GiveBack::give_back) once, on
//! this thread, when the thread ends. If `arm` [takes no memory](AtEnd::takes_no_memory), it may be
//! called anywhere where a thread's first add may happen: in an allocator, in a signal handler, in
//! a destructor.
//!
//! # How
//!
//! * By a key of the C library (`pthread_key_create(3)`), where there is one. `arm` takes no lock,
//!   and no memory except for the C library's own list (glibc: none for the first 32 keys of a
//!   process). The key's destructor is code of this library, so the object that holds it is kept
//!   loaded.
//! * On other systems by a thread-local value of `std` with a destructor. That may take memory, and
//!   must not be armed in an allocator. So [`AtEnd::takes_no_memory`] is false there, and threads
//!   lease no rows.
//!
//! Other destructors may run before it and after it, and add to numbers. Some systems (macOS) have
//! reset a thread's thread-local words by then. So the resource itself is passed to the destructor,
//! which does not rely on such a word.
//!
//! A thread that ends without the C library's knowledge (a raw `exit` system call) gives nothing
//! back; nor does the end of the process.

// One of two, with the same functions: where the C library has keys, or elsewhere. A system with
// keys is added here, and one whose processes fork in `clock::ticker`.
#[cfg_attr(
    any(
        loom,
        shuttle,
        miri,
        not(any(
            target_os = "linux",
            target_os = "android",
            target_os = "freebsd",
            target_vendor = "apple"
        ))
    ),
    path = "thread_end/local.rs"
)]
mod key;

pub(crate) mod holder;
pub(crate) mod words;

pub(crate) use key::{AtEnd, in_children, keep_code, process};

/// A resource that only one thread uses at a time.
pub(crate) trait GiveBack: Sync + 'static {
    /// Gives it back: this thread no longer uses it.
    fn give_back(&'static self);
}
