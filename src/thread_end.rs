//! A thread's end: what a thread holds for itself alone is given back then.
//!
//! # Promise
//!
//! [`AtEnd::arm`] has the thing that it is told of [given back](GiveBack::give_back) on this
//! thread, when the thread ends: once, unless it says that it cannot. Where that [takes no
//! memory](AtEnd::takes_no_memory), it may be called wherever a thread's first add stands: in an
//! allocator, in a signal handler, in a destructor.
//!
//! # How
//!
//! * By a key of the C library (`pthread_key_create(3)`), where there is one. To arm takes no lock,
//!   and no memory but that of the C library's own list (glibc: none for the first 32 keys of a
//!   process). The key's destructor is code of ours, so the object that holds it is kept loaded.
//! * Elsewhere by a thread-local value of std with a destructor. That may take memory, and must not
//!   be armed in an allocator. So [`AtEnd::takes_no_memory`] says no there, and threads lease no
//!   rows.
//!
//! Other destructors may run before it and after it, and add to numbers. Some systems (macOS) have
//! put a thread's own words back by then to what they were at first. So the thing itself says what
//! to give back; nobody looks into such a word for it.
//!
//! Nothing is given back by a thread that ends without the C library's knowing (a raw `exit` system
//! call), nor at the end of the process.

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

pub(crate) use key::{AtEnd, in_children, keep_code, process};

/// What a thread holds for itself alone.
pub(crate) trait GiveBack: Sync + 'static {
    /// Gives it back: this thread uses it no more.
    fn give_back(&'static self);
}
