//! Books: what each thread of each process has begun to add, and what it has added.
//!
//! A thread that is killed between its two entries has added once more, or not.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};

/// The greatest number of threads.
pub(crate) const THREADS: usize = 128;

/// The books of all threads, in a file of their own.
#[derive(Clone, Copy)]
pub(crate) struct Books {
    /// For each thread the adds that it has begun and done.
    pages: &'static [[AtomicU64; 2]; THREADS],
}

impl Books {
    /// Opens the books of one kind that belong to a file.
    pub(crate) fn of(path: &Path, kind: &str) -> Books {
        let path = path.with_extension(kind);
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(path).unwrap();
        let length = size_of::<[[AtomicU64; 2]; THREADS]>();
        file.set_len(length as u64).unwrap();
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping of a file that is never cut off; it lasts as long as the process.
        let pages = unsafe {
            let base =
                libc::mmap(null_mut(), length, rights, libc::MAP_SHARED, file.as_raw_fd(), 0);
            assert_ne!(base, libc::MAP_FAILED);
            &*base.cast()
        };
        Books { pages }
    }

    /// Enters an add of `n` by a thread before and after it.
    pub(crate) fn enter(self, thread: usize, n: u64, add: impl FnOnce()) {
        self.begin(thread, n);
        add();
        self.finish(thread, n);
    }

    /// Enters that a thread begins to add `n`.
    pub(crate) fn begin(self, thread: usize, n: u64) {
        // Release, as all entries: a reader of a done add sees it begun.
        self.pages[thread][0].fetch_add(n, Ordering::Release);
    }

    /// Enters that a thread has added `n`.
    pub(crate) fn finish(self, thread: usize, n: u64) {
        self.pages[thread][1].fetch_add(n, Ordering::Release);
    }

    /// Returns the sum of what was begun.
    pub(crate) fn begun(self) -> u64 {
        self.pages.iter().map(|[begun, _]| begun.load(Ordering::Acquire)).sum()
    }

    /// Returns the sum of what was done.
    pub(crate) fn done(self) -> u64 {
        self.pages.iter().map(|[_, done]| done.load(Ordering::Acquire)).sum()
    }
}
