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
/// the list of [`listed()`]), and musl counts the cores on which the calling thread may run.
const LIBRARY_COUNTS: bool = cfg!(any(not(target_os = "linux"), target_env = "gnu"));

/// Returns the number of cores, which is not zero.
#[inline]
pub(super) fn count() -> usize {
    let count = if LIBRARY_COUNTS { None } else { listed().map(|[count, _]| count) };
    count.or_else(by_library).unwrap_or(1)
}

/// Returns one more than the highest number that a core of this machine can ever have; `None` if
/// the system does not say.
#[inline]
pub(super) fn end() -> Option<usize> {
    listed().map(|[_, end]| end)
}

/// Returns the number of cores that the system's library tells.
///
/// (On Unix, `std::thread::available_parallelism` would tell what the process may use, and bring
/// code that reads the quotas of cgroups.)
#[inline]
fn by_library() -> Option<usize> {
    #[cfg(unix)]
    let count = {
        // SAFETY: this reads a setting of the system.
        let told = |name| usize::try_from(unsafe { libc::sysconf(name) }).ok();
        let some = |name| told(name).filter(|count| *count > 0);
        some(libc::_SC_NPROCESSORS_CONF).or_else(|| some(libc::_SC_NPROCESSORS_ONLN))
    };
    #[cfg(not(unix))]
    let count = std::thread::available_parallelism().ok().map(usize::from);
    count
}
