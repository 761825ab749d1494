//! A file mapped into the process, as atomic words.
//!
//! All accesses are to words of eight bytes, or of sixteen, by atomic operations: other processes
//! may write any value at any time, and no value leads to an access outside of the mapping. A
//! mapping is never taken back once a counter may have a pointer into it, so counters are valid for
//! ever.

use std::fs::File;
use std::path::Path;
use std::ptr::{NonNull, null_mut};
use std::sync::atomic::AtomicU64;

use portable_atomic::AtomicU128;
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use crate::error::MappedError;

/// A mapping of a whole file.
#[derive(Debug)]
pub(crate) struct Mapping {
    base: NonNull<u8>,
    length: usize,
}

// SAFETY: it gives out atomics alone.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a file of this length, for reading and writing.
    pub(crate) fn new(file: &File, length: u64, path: &Path) -> Result<Mapping, MappedError> {
        let length = length as usize; // at most 2^42, and pointers have 64 bits
        let rights = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let base = unsafe { mmap(null_mut(), length, rights, MapFlags::SHARED, file, 0) };
        let base = base.and_then(|base| NonNull::new(base.cast()).ok_or(Errno::NOMEM));
        base.map(|base| Mapping { base, length })
            .map_err(|error| MappedError::failed("map", path)(error.into()))
    }

    /// Returns the word at a place.
    ///
    /// # Panics
    ///
    /// Panics if the place is outside of the file, or no multiple of eight.
    pub(crate) fn word(&self, place: u64) -> NonNull<AtomicU64> {
        let place = place as usize;
        assert!(place.is_multiple_of(8) && place <= self.length - 8, "{place} is outside");
        // SAFETY: within the mapping, whose base is that of a page.
        unsafe { self.base.add(place).cast() }
    }

    /// Returns the word at a place, for as long as this mapping is borrowed.
    pub(crate) fn at(&self, place: u64) -> &AtomicU64 {
        // SAFETY: `word` checks the place. The mapping lasts as long as `self` does. If the file is
        // cut off, an access is a signal, and not another memory.
        unsafe { self.word(place).as_ref() }
    }

    /// Returns the sixteen bytes at a place, for as long as this mapping is borrowed.
    ///
    /// # Panics
    ///
    /// Panics if the place is outside of the file, or no multiple of sixteen.
    pub(crate) fn wide_at(&self, place: u64) -> &AtomicU128 {
        assert!(place.is_multiple_of(16), "{place} is between");
        self.word(place + 8); // within
        // SAFETY: both words are within the mapping, whose base is that of a page, so the pointer
        // is aligned. The rest is as in `at`.
        unsafe { AtomicU128::from_ptr(self.word(place).cast().as_ptr()) }
    }
}

/// Takes the mapping back. One to which a counter may have a pointer is never dropped.
impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `new` has mapped this.
        let _ = unsafe { munmap(self.base.as_ptr().cast(), self.length) };
    }
}
