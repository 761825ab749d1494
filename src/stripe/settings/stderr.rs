//! Writing to standard error by one call of the system.

/// Writes a line, or the part of it that the system takes at once.
#[inline]
pub(super) fn write(line: &[u8]) {
    platform::write(line);
}

#[cfg(unix)]
mod platform {
    #[inline]
    pub(super) fn write(line: &[u8]) {
        // SAFETY: the pointer and the length are those of the line.
        let _ = unsafe { libc::write(libc::STDERR_FILENO, line.as_ptr().cast(), line.len()) };
    }
}

#[cfg(windows)]
mod platform {
    use std::ffi::c_void;
    use std::ptr::{null, null_mut};

    const STD_ERROR_HANDLE: u32 = -12_i32 as u32;

    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetStdHandle(which: u32) -> *mut c_void;
        fn WriteFile(
            file: *mut c_void,
            bytes: *const u8,
            length: u32,
            written: *mut u32,
            overlapped: *const c_void,
        ) -> i32;
    }

    pub(super) fn write(line: &[u8]) {
        let mut written = 0;
        // SAFETY: the pointer and the length are those of the line. A handle that there is not is
        // refused.
        unsafe {
            let file = GetStdHandle(STD_ERROR_HANDLE);
            let length = line.len() as u32;
            if file != null_mut() {
                WriteFile(file, line.as_ptr(), length, &raw mut written, null());
            }
        }
    }
}

#[cfg(not(any(unix, windows)))]
mod platform {
    /// Says nothing: only `std` knows where to, and it has a lock.
    pub(super) fn write(_: &[u8]) {}
}
