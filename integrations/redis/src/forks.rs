//! The number of forks between the first process and this one.
//!
//! A child has its parent's memory, rations included, and none of its threads. So what was made
//! before a fork admits nothing after it, and the child connects anew.

use std::sync::atomic::{AtomicU64, Ordering};

static FORKS: AtomicU64 = AtomicU64::new(0);

/// Returns a number that differs between a forked child and its parent, if [`watch`] was called
/// before.
#[inline]
pub(crate) fn process() -> u64 {
    // Relaxed: the first thread of a process writes it, before it starts any other.
    FORKS.load(Ordering::Relaxed)
}

/// Counts forks from now on, those by the C library's `fork`.
#[cfg(unix)]
pub(crate) fn watch() -> std::io::Result<()> {
    use std::sync::OnceLock;

    extern "C" fn count() {
        FORKS.fetch_add(1, Ordering::Relaxed); // as above
    }

    static HANDLED: OnceLock<i32> = OnceLock::new();
    // SAFETY: the handler does nothing but an atomic add.
    match *HANDLED.get_or_init(|| unsafe { libc::pthread_atfork(None, None, Some(count)) }) {
        0 => Ok(()),
        error => Err(std::io::Error::from_raw_os_error(error)),
    }
}

/// Returns at once: there is no fork.
#[cfg(not(unix))]
pub(crate) fn watch() -> std::io::Result<()> {
    Ok(())
}
