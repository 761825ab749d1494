//! A book of admissions, which survives the processes that write it: for each bucket of the wall
//! clock, which the engine on this machine has too, the weight that was admitted in it.
//!
//! An admission lies between two readings of the clock. If these are of two neighbouring buckets,
//! it is of the one or of the other, and counts only in runs of buckets that have both; if they
//! are further apart, it counts nowhere. So a run that is over the limit is over for sure.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

/// The number of buckets: of 20 ms, twenty minutes.
const BUCKETS: usize = 1 << 16;

const BYTES: usize = BUCKETS * 2 * 8;

/// A book in a mapped file.
pub(crate) struct Book {
    cells: &'static [AtomicU64],
    bucket: Duration,
}

impl Book {
    /// Opens a book for buckets of this length, or makes it.
    pub(crate) fn open(path: &Path, bucket: Duration) -> Book {
        let file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let file = file.expect("the folder can be written");
        file.set_len(BYTES as u64).expect("there is room");
        Book { cells: mapped(&file), bucket }
    }

    /// Books a weight if `admit` does.
    pub(crate) fn admit(&self, weight: u64, admit: impl FnOnce() -> bool) -> bool {
        let before = self.now();
        let is_admitted = admit();
        if is_admitted {
            let at = before as usize % BUCKETS;
            match self.now() - before {
                0 => self.cells[at].fetch_add(weight, Ordering::Relaxed),
                1 => self.cells[BUCKETS + at].fetch_add(weight, Ordering::Relaxed),
                _ => 0,
            };
        }
        is_admitted
    }

    /// Returns what was admitted for sure in the worst run of `n` buckets, and in all.
    pub(crate) fn worst(&self, n: usize) -> (u64, u64) {
        let value = |at: usize| self.cells[at % BUCKETS].load(Ordering::Relaxed);
        let either = |at: usize| self.cells[BUCKETS + at % BUCKETS].load(Ordering::Relaxed);
        let run = |from: usize| -> u64 {
            (from..from + n).map(value).sum::<u64>() + (from..from + n - 1).map(either).sum::<u64>()
        };
        let all = (0..BUCKETS).map(|at| value(at) + either(at)).sum();
        ((0..BUCKETS).map(run).max().unwrap_or(0), all)
    }

    /// Returns the current bucket's number.
    fn now(&self) -> u64 {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("it is later");
        (now.as_nanos() / self.bucket.as_nanos()) as u64
    }
}

/// Maps a file, for as long as the process lives.
fn mapped(file: &File) -> &'static [AtomicU64] {
    let (rights, descriptor) = (libc::PROT_READ | libc::PROT_WRITE, file.as_raw_fd());
    // SAFETY: a new mapping, at an address that the kernel chooses.
    let base = unsafe { libc::mmap(null_mut(), BYTES, rights, libc::MAP_SHARED, descriptor, 0) };
    assert_ne!(base, libc::MAP_FAILED, "the file can be mapped");
    // SAFETY: the mapping is never undone, as long as the slice, and written by atomics only.
    unsafe { std::slice::from_raw_parts(base.cast(), BYTES / 8) }
}
