//! Sparse cells: most stay zero, so they are allocated in groups, on first use. A position with
//! such cells is *wide*.
//!
//! # Promise
//!
//! A wide cell is an atomic number that begins with zero, as every other cell; but a group of wide
//! cells takes memory only when one of them needs a value other than zero. From then on the group
//! belongs to the memory of what it is in (a bucket, whatever that is reused for, a block, or the
//! ring), and lives as long. So a window that has had the groups it needs allocates no more.
//!
//! # Why an absent group reads as zeros
//!
//! The pointer to a group goes from null to the group once, by a compare-exchange, and never
//! changes again. Every thread that writes to a cell has found the pointer set, or has set it. Let
//! a reader find null. If a write to the cell had happened before, then the exchange had happened
//! before too, and the reader would have found the group (*coherence*). So no write has happened
//! before, and the reader's answer, zero, is the initial value of the cell, which it may then find
//! of any atomic number. A thread that has once read another number from the cell has seen the
//! pointer, and never finds null again. So nothing goes back.
//!
//! The exchange is a Release, and each load of the pointer an Acquire: a thread that follows the
//! pointer finds the zeros with which the group was made. Everything more that readers need rests
//! on the cells themselves, and on the bucket's version, as for other cells. No thread writes zero
//! to an absent group, which says zero already. So a reader without a reference that finds the
//! group of a later slice of time finds either zeros there, which is what its own slice has
//! counted, or what was stored behind that slice's version: see
//! [`begin_init`](crate::ring::order::bucket::Bucket::begin_init).

use std::ops::Range;
use std::ptr::null_mut;

use crate::event::layout::BucketLayout;
use crate::sync::{AtomicPtr, AtomicU64, Ordering, sized};

/// The number of cells in a group. Similar values lie in few groups, and a pointer is a small part
/// of a group. Even, so that no pair lies in two groups.
pub(in crate::ring) const GROUP: usize = sized(32, 2);

/// Returns the number of groups of a layout's wide cells.
pub(in crate::ring) fn groups(layout: BucketLayout) -> usize {
    layout.wide().div_ceil(GROUP)
}

/// Splits a range of wide positions at the ends of groups.
pub(in crate::ring) fn by_group(positions: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let Range { start, end } = positions;
    let groups = start / GROUP..end.div_ceil(GROUP);
    groups.map(move |group| start.max(group * GROUP)..end.min((group + 1) * GROUP))
}

/// A group of cells, all zero until a thread writes to one of them.
#[derive(Debug)]
pub(in crate::ring) struct Sparse(AtomicPtr<[AtomicU64; GROUP]>);

impl Sparse {
    pub(in crate::ring) fn new() -> Sparse {
        Sparse(AtomicPtr::new(null_mut()))
    }

    /// Returns the cells; `None` if all are zero.
    #[inline]
    pub(in crate::ring) fn get(&self) -> Option<&[AtomicU64; GROUP]> {
        // SAFETY: null, or a group that lives as long as this. Acquire: pairs with the Release in
        // `attach`.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    /// Returns the cells at a range of wide positions that lies in this group; `None` if all are
    /// zero.
    #[inline]
    pub(in crate::ring) fn at(&self, positions: &Range<usize>) -> Option<&[AtomicU64]> {
        Some(&self.get()?[positions.start % GROUP..][..positions.len()])
    }

    /// Stores a number at a wide position of this group, Relaxed. Called by a thread that no other
    /// one is writing beside.
    pub(in crate::ring) fn store(&self, position: usize, number: u64) {
        let cells = if number == 0 { self.get() } else { Some(self.cells()) };
        if let Some(cells) = cells {
            cells[position % GROUP].store(number, Ordering::Relaxed);
        }
    }

    /// Returns the cells to a caller that writes a number other than zero to one of them.
    #[inline]
    pub(in crate::ring) fn cells(&self) -> &[AtomicU64; GROUP] {
        self.get().unwrap_or_else(|| self.attach())
    }

    #[cold]
    fn attach(&self) -> &[AtomicU64; GROUP] {
        let new = Box::into_raw(Box::new(std::array::from_fn(|_| AtomicU64::new(0))));
        // Release: publishes the zeros; pairs with the Acquire in `get`. Acquire on failure: as
        // there.
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

    /// Sets all cells to zero, Relaxed. Called by the thread that initialises a bucket, or writes
    /// its prefixes, behind its fence.
    pub(in crate::ring) fn clear(&self) {
        for cell in self.get().map_or(&[][..], |cells| cells) {
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

/// Frees the cells. (Those of a bucket stand in a union: the store frees them.)
impl Drop for Sparse {
    fn drop(&mut self) {
        // SAFETY: `&mut self`: no other thread follows them.
        unsafe { self.free() };
    }
}

/// The cells of a bucket at a group of wide positions.
#[derive(Debug)]
#[cfg_attr(target_pointer_width = "32", repr(align(16)))] // as large as two cells
pub(in crate::ring) struct Wide {
    /// The sums of adds through blocks, as in [`BucketCell`](super::BucketCell).
    through_blocks: Sparse,
    /// The sums of adds to the shared cells.
    pub(in crate::ring) shared: Sparse,
}

impl Wide {
    pub(in crate::ring) fn new() -> Wide {
        Wide { through_blocks: Sparse::new(), shared: Sparse::new() }
    }

    /// Returns the prefixes of a coarse bucket. (Those of a live one stand with its block.)
    #[inline]
    pub(in crate::ring) fn prefixes(&self) -> &Sparse {
        &self.through_blocks
    }

    /// Returns what was added through the block, of a bucket that is CLOSED or is being closed.
    #[inline]
    pub(in crate::ring) fn totals(&self) -> &Sparse {
        &self.through_blocks
    }

    /// Sets all cells to zero, as
    /// [`Bucket::begin_init`](crate::ring::order::bucket::Bucket::begin_init) does with other
    /// cells.
    pub(in crate::ring) fn clear(&self) {
        self.through_blocks.clear();
        self.shared.clear();
    }

    /// Frees the memory of the cells.
    ///
    /// # Safety
    /// The window is being dropped: no other thread is in it.
    pub(in crate::ring) unsafe fn free(&self) {
        // SAFETY: by contract.
        unsafe {
            self.through_blocks.free();
            self.shared.free();
        }
    }
}
