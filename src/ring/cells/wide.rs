//! Wide cells: many of which few are used, in groups that a bucket has only where it needs them.
//!
//! # Promise
//!
//! A wide cell is one atomic number, zero at first, as every other cell is; but a group of them takes memory only when one is to hold
//! something other than zero. From then on the group belongs to the bucket's memory, whatever that is reused for, and lives as
//! long: what a window has needed once it has, and allocates no more.
//!
//! # Why a group that is not there is a group of zeros
//!
//! A group's pointer goes from null to the group once, by a compare-exchange, and never changes again. Every write to a cell
//! is by a thread that has found the pointer set, or has set it. Let a reader find null. If a write to the cell had happened before,
//! then so had the exchange, and the reader would have found the group (*coherence*). So no write has happened
//! before; and what the reader answers, zero, is what the cell began with, which it may then find of any atomic number. A thread that has once
//! read another number from the cell has seen the pointer, and never finds null again. So nothing goes back.
//!
//! The exchange is a Release, and each load of the pointer an Acquire: whoever follows the pointer finds the zeros that the group was made
//! with. All else that readers need rests on the cells themselves, and on the bucket's version, as for other cells. Nobody writes
//! zero to a group that is not there: it says so already. So a reader without a reference that finds the group of a later
//! slice of time finds either zeros there, which is what its own slice has counted, or what was stored behind that slice's version: see
//! [`begin_init`](crate::ring::order::bucket::Bucket::begin_init).

use std::ops::Range;
use std::ptr::null_mut;

use crate::event::layout::BucketLayout;
use crate::sync::{AtomicPtr, AtomicU64, Ordering, sized};

/// How many cells a group has. Values that are alike lie in few groups; a pointer is a small part of one. Even, so that no pair is in two.
pub(in crate::ring) const GROUP: usize = sized(32, 2);

/// How many groups a layout's wide cells take.
pub(in crate::ring) fn groups(layout: BucketLayout) -> usize {
    layout.wide().div_ceil(GROUP)
}

/// Splits a range of wide positions where groups end.
pub(in crate::ring) fn by_group(positions: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let Range { start, end } = positions;
    let groups = start / GROUP..end.div_ceil(GROUP);
    groups.map(move |group| start.max(group * GROUP)..end.min((group + 1) * GROUP))
}

/// Cells side by side, all zero until a thread writes to one of them.
#[derive(Debug)]
pub(in crate::ring) struct Sparse(AtomicPtr<[AtomicU64; GROUP]>);

impl Sparse {
    fn new() -> Sparse {
        Sparse(AtomicPtr::new(null_mut()))
    }

    /// The cells; `None` if all are zero.
    #[inline]
    pub(in crate::ring) fn get(&self) -> Option<&[AtomicU64; GROUP]> {
        // SAFETY: null, or a group that lives as long as this. Acquire: pairs with the Release in `attach`.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// The cells, to write to one of them what is not zero.
    #[inline]
    pub(in crate::ring) fn cells(&self) -> &[AtomicU64; GROUP] {
        self.get().unwrap_or_else(|| self.attach())
    }

    #[cold]
    fn attach(&self) -> &[AtomicU64; GROUP] {
        let new = Box::into_raw(Box::new(std::array::from_fn(|_| AtomicU64::new(0))));
        // Release: publishes the zeros; pairs with the Acquire in `get`. Acquire on failure: as there.
        let (order, failed) = (Ordering::Release, Ordering::Acquire);
        let attached = self.0.compare_exchange(null_mut(), new, order, failed);
        let attached = attached.map_or_else(
            |theirs| {
                // SAFETY: made above, and not published.
                drop(unsafe { Box::from_raw(new) });
                theirs
            },
            |_| new,
        );
        // SAFETY: as in `get`.
        unsafe { &*attached }
    }

    /// Sets all cells to zero. For the thread that initialises the bucket, behind its fence.
    fn clear(&self) {
        for cell in self.get().into_iter().flatten() {
            cell.store(0, Ordering::Relaxed);
        }
    }

    /// Frees the cells.
    ///
    /// # Safety
    /// No thread follows them any more.
    unsafe fn free(&self) {
        // Relaxed, both: no other thread is there, and all that was done comes before.
        let cells = self.0.load(Ordering::Relaxed);
        self.0.store(null_mut(), Ordering::Relaxed);
        if !cells.is_null() {
            // SAFETY: made by `Box::into_raw`, and found here once.
            drop(unsafe { Box::from_raw(cells) });
        }
    }
}

/// What a bucket holds at a group of wide positions.
#[derive(Debug)]
#[cfg_attr(target_pointer_width = "32", repr(align(16)))] // as large as two cells
pub(in crate::ring) struct Wide {
    /// What was added through the block, once CLOSED; of a coarse bucket its note.
    pub(in crate::ring) totals: Sparse,
    /// What was added other than through the block.
    pub(in crate::ring) shared: Sparse,
}

impl Wide {
    pub(in crate::ring) fn new() -> Wide {
        Wide { totals: Sparse::new(), shared: Sparse::new() }
    }

    /// As [`Bucket::begin_init`](crate::ring::order::bucket::Bucket::begin_init) does with other cells.
    pub(in crate::ring) fn clear(&self) {
        self.totals.clear();
        self.shared.clear();
    }

    /// Frees the memory of its cells.
    ///
    /// # Safety
    /// The window is dropped: no other thread is there, and none comes.
    pub(in crate::ring) unsafe fn free(&self) {
        // SAFETY: by contract.
        unsafe {
            self.totals.free();
            self.shared.free();
        }
    }
}
