//! The grants of each bucket before that of a sheet.
//!
//! A sheet that needs more buckets than it has cells for gets new cells. The old ones are kept
//! until the gate is dropped, because a thread that has not yet seen that the sheet is no longer
//! the head may be reading them. The number of new cells is at least twice the number of old ones,
//! so the kept ones are fewer than those in use.

use std::ptr::null_mut;

use crate::sync::{AtomicPtr, AtomicU64, Ordering, Witness};

/// Returns a cell's value. The head's version tells whether it belongs to the other values read.
#[inline]
pub(super) fn load(cell: &AtomicU64) -> u64 {
    cell.load(Ordering::Relaxed)
}

/// Cells for the grants of a number of buckets.
#[derive(Debug)]
pub(super) struct Cells {
    all: Box<[AtomicU64]>,
    /// The sheet's previous cells, or null.
    older: AtomicPtr<Cells>,
    made: Witness,
}

impl Cells {
    /// Makes `count` cells; `None` if there is no memory for them.
    #[inline]
    pub(super) fn new(count: usize) -> Option<Cells> {
        let mut all = Vec::new();
        all.try_reserve_exact(count).ok()?;
        all.extend((0..count).map(|_| AtomicU64::new(0)));
        Some(Cells { all: all.into(), older: AtomicPtr::new(null_mut()), made: Witness::new() })
    }

    pub(super) fn all(&self) -> &[AtomicU64] {
        self.made.check();
        &self.all
    }

    /// Keeps the previous cells until these are dropped.
    ///
    /// # Safety
    /// `older` is null, or is from `Box::into_raw`, and nothing else will free it.
    #[inline]
    pub(super) unsafe fn keep(&self, older: *mut Cells) {
        self.older.store(older, Ordering::Relaxed); // only `drop` reads it
    }
}

impl Drop for Cells {
    #[inline]
    fn drop(&mut self) {
        let older = self.older.load(Ordering::Relaxed); // `&mut self`: no other thread is there
        if !older.is_null() {
            // SAFETY: by the contract of `keep`.
            drop(unsafe { Box::from_raw(older) });
        }
    }
}
