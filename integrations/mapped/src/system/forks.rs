//! A word that the kernel clears in each forked child.
//!
//! The kernel does so at every kind of fork (`MADV_WIPEONFORK`, Linux 4.14), where a process id may
//! be the same in a child with a name space of its own.

use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::layout::PAGE;

/// A word that is 1 in the process that has made it, and 0 in its children.
#[derive(Debug)]
pub(crate) struct Mark {
    word: NonNull<AtomicU64>,
}

// SAFETY: it has a pointer to an atomic that it owns.
unsafe impl Send for Mark {}

impl Mark {
    /// Makes a mark of this process.
    pub(crate) fn new() -> io::Result<Mark> {
        let (bytes, rights) = (PAGE as usize, libc::PROT_READ | libc::PROT_WRITE);
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let base = unsafe { libc::mmap(null_mut(), bytes, rights, flags, -1, 0) };
        let mapped = NonNull::new(base.cast()).filter(|_| base != libc::MAP_FAILED);
        let mark = Mark { word: mapped.ok_or_else(io::Error::last_os_error)? };
        // SAFETY: the mapping is this one's.
        if unsafe { libc::madvise(base, bytes, libc::MADV_WIPEONFORK) } != 0 {
            return Err(io::Error::last_os_error());
        }
        mark.word().store(1, Ordering::Relaxed); // used under a lock
        Ok(mark)
    }

    /// Returns whether this process has made the mark.
    pub(crate) fn is_own(&self) -> bool {
        self.word().load(Ordering::Relaxed) == 1 // as above
    }

    fn word(&self) -> &AtomicU64 {
        // SAFETY: the mapping lasts as long as the mark, and is aligned to a page.
        unsafe { self.word.as_ref() }
    }
}

impl Drop for Mark {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped this, and no reference outlives the mark.
        unsafe { libc::munmap(self.word.as_ptr().cast(), PAGE as usize) };
    }
}
