//! The number of the machine's cores.
//!
//! This thread may not be allowed on all of them, but other threads may, and its own set can
//! change. So what counts is what the machine has, or may have later, and not what the process may
//! use. Nothing here takes memory.

// One of two, with the same function.
#[cfg_attr(not(all(target_os = "linux", not(miri))), path = "cores/not_listed.rs")]
mod listed;

use listed::listed;

/// True if `sysconf` counts the cores of the machine. Of the C libraries on Linux, glibc does (by
/// the list of [`listed`]), and musl counts the cores on which the calling thread may run.
const LIBRARY_COUNTS: bool = cfg!(any(not(target_os = "linux"), target_env = "gnu"));

/// Returns the number of cores, which is not zero.
pub(super) fn count() -> usize {
    let count = if LIBRARY_COUNTS { None } else { listed().map(|[count, _]| count) };
    let count = count.or_else(by_library);
    count.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from))
}

/// Returns one more than the highest number that a core of this machine can ever have; `None` if
/// the system does not say.
pub(super) fn end() -> Option<usize> {
    listed().map(|[_, end]| end)
}

fn by_library() -> Option<usize> {
    #[cfg(unix)]
    // SAFETY: this reads a setting of the system.
    let count = usize::try_from(unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) });
    #[cfg(not(unix))]
    let count = Err(()); // no `sysconf`
    count.ok().filter(|count| *count > 0)
}
