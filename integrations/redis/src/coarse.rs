//! The coarse clock of the real time, where the system has one: a tick behind, and cheap to read.

pub(crate) use system::{now, tick};

#[cfg(any(target_os = "linux", target_os = "android"))]
#[allow(clippy::unnecessary_wraps)] // elsewhere there is none
mod system {
    /// Returns the coarse clock's time, in nanoseconds.
    #[inline]
    pub(crate) fn now() -> Option<u64> {
        Some(read(libc::clock_gettime))
    }

    /// Returns the time between two ticks, in nanoseconds.
    pub(crate) fn tick() -> Option<u64> {
        Some(read(libc::clock_getres))
    }

    type Read = unsafe extern "C" fn(libc::clockid_t, *mut libc::timespec) -> libc::c_int;

    /// (Seconds before 1970 wrap, and differences stay right.)
    #[inline]
    #[allow(clippy::cast_sign_loss)]
    fn read(read: Read) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of this call.
        unsafe { read(libc::CLOCK_REALTIME_COARSE, &raw mut time) };
        (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
    }
}

/// Elsewhere the precise clock is the only one that goes on, and takes no longer to read.
#[cfg(not(any(target_os = "linux", target_os = "android")))]
mod system {
    #[inline]
    pub(crate) fn now() -> Option<u64> {
        None
    }

    pub(crate) fn tick() -> Option<u64> {
        None
    }
}
