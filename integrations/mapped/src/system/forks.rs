//! Words that the kernel clears in a forked child; and open files that the child closes.
//!
//! The kernel clears a word at every kind of fork (`MADV_WIPEONFORK`, Linux 4.14), where a process
//! id may be the same in a child with a name space of its own.

use std::io;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};

use crate::layout::PAGE;

pub(crate) mod own_file;

/// A word that is zero in each forked child.
#[derive(Debug)]
pub(crate) struct Wiped {
    word: NonNull<AtomicU64>,
}

// SAFETY: it has a pointer to an atomic that it owns.
unsafe impl Send for Wiped {}
// SAFETY: as above.
unsafe impl Sync for Wiped {}

impl Wiped {
    /// Makes a word, which has this value until then.
    pub(crate) fn new(value: u64) -> io::Result<Wiped> {
        let (bytes, rights) = (PAGE as usize, ProtFlags::READ | ProtFlags::WRITE);
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let base = unsafe { mmap_anonymous(null_mut(), bytes, rights, MapFlags::PRIVATE)? };
        let wiped = Wiped { word: NonNull::new(base.cast()).ok_or(Errno::NOMEM)? };
        // SAFETY: the mapping is this one's.
        unsafe { madvise(base, bytes, Advice::LinuxWipeOnFork)? };
        wiped.word().store(value, Ordering::Relaxed); // no other thread has it yet
        Ok(wiped)
    }

    /// Returns the word.
    #[inline]
    pub(crate) fn word(&self) -> &AtomicU64 {
        // SAFETY: the mapping lasts as long as this one, and is aligned to a page.
        unsafe { self.word.as_ref() }
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped this, and no reference outlives this one.
        let _ = unsafe { munmap(self.word.as_ptr().cast(), PAGE as usize) };
    }
}
