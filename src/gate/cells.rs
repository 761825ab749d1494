//! What was granted in each bucket before that of a sheet.
//!
//! A sheet that is used for more buckets than it has room for gets other cells. Those before are
//! kept, because a thread may be reading them that has not seen yet that the sheet is no longer the
//! head; they go with the gate. New ones are at least twice as many, so those that are kept are
//! fewer than those in use.

use std::ptr::null_mut;

use crate::sync::{AtomicPtr, AtomicU64, Ordering, Witness};

/// What a cell has. The head tells whether it belongs to what else was read.
pub(super) fn load(cell: &AtomicU64) -> u64 {
    cell.load(Ordering::Relaxed)
}

/// Room for the numbers of so many buckets.
#[derive(Debug)]
pub(super) struct Cells {
    all: Box<[AtomicU64]>,
    /// The sheet's cells before, or null.
    older: AtomicPtr<Cells>,
    made: Witness,
}

impl Cells {
    /// So many; `None` if there is no memory for them.
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

    /// Keeps the cells before, until these go.
    ///
    /// # Safety
    /// `older` is null, or is from `Box::into_raw`, and nothing else will free it.
    pub(super) unsafe fn keep(&self, older: *mut Cells) {
        self.older.store(older, Ordering::Relaxed); // nobody reads it but `drop`
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        let older = self.older.load(Ordering::Relaxed); // `&mut self`: no other thread is there
        if !older.is_null() {
            // SAFETY: by the contract of `keep`.
            drop(unsafe { Box::from_raw(older) });
        }
    }
}
