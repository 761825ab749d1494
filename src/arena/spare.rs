//! Spare columns: the last one that was freed on each core, for the next claim there.
//!
//! # Promise
//!
//! A counter that is made, used and dropped on one core costs two exchanges of a word that no other
//! core writes. A column that was freed before a claim is found by the claim, in the bitmap or here
//! by [`take_each`](Spares::take_each), unless another claim has taken it meanwhile, for itself or
//! to free it in the bitmap.
//!
//! # Why
//!
//! Each place holds one column, or null. A spare column is taken in the bitmap of its segment, and
//! all its cells are zero. The thread that exchanges it for null owns it, as if the bitmap had
//! given it.
//!
//! ```text
//!   free:   place: null -> column       Release; if there is one, the bitmap gets the column
//!   claim:  place: column -> null       Acquire
//! ```
//!
//! A claim that no bitmap can serve asks all places before it gives up or maps a segment. A run of
//! several columns frees the spare ones first, since the run might be among them.

use std::ptr::{NonNull, null_mut};

use crossbeam_utils::CachePadded;

use crate::memory::column::Column;
use crate::stripe::shard_choice::spread;
use crate::sync::{AtomicPtr, AtomicU64, Ordering, alike, const_fn, sized};

/// The number of places. Cores beyond it share them.
const PLACES: usize = sized(64, 2);

/// A spare column for each core.
#[derive(Debug)]
pub(super) struct Spares {
    /// Each spare column's first cell, or null.
    places: [CachePadded<AtomicPtr<AtomicU64>>; PLACES],
}

impl Spares {
    const_fn! {
        /// Returns places without columns.
        pub(super) const fn new() -> Spares {
            Spares { places: alike![CachePadded::new(AtomicPtr::new(null_mut())); PLACES] }
        }
    }

    /// Takes this core's spare column.
    pub(super) fn take(&self) -> Option<Column> {
        take(&self.places[spread() % PLACES])
    }

    /// Takes the spare columns of all cores, one after the other.
    pub(super) fn take_each(&self) -> impl Iterator<Item = Column> {
        self.places.iter().filter_map(|place| take(place))
    }

    /// Keeps a free column, whose cells are zero, for this core. Returns false if the core has one.
    pub(super) fn keep(&self, column: Column) -> bool {
        let place = &self.places[spread() % PLACES];
        // Relaxed: a look first. If the place only looked full, the bitmap gets the column.
        let looks_free = place.load(Ordering::Relaxed).is_null();
        // Release: pairs with the Acquire in `take`; the cells are seen as zero.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let first = column.first().as_ptr();
        looks_free && place.compare_exchange(null_mut(), first, order, failed).is_ok()
    }

    /// Returns the number of spare columns.
    pub(super) fn count(&self) -> usize {
        // Relaxed: the number is for people.
        self.places.iter().filter(|place| !place.load(Ordering::Relaxed).is_null()).count()
    }
}

/// Takes the column in a place.
fn take(place: &AtomicPtr<AtomicU64>) -> Option<Column> {
    // Relaxed: a look first. A column that was kept before this claim, and not taken since, is
    // seen; of any other, this claim is allowed to know nothing.
    if place.load(Ordering::Relaxed).is_null() {
        return None;
    }
    // Acquire: pairs with the Release in `keep`.
    let first = NonNull::new(place.swap(null_mut(), Ordering::Acquire))?;
    // SAFETY: `keep` has stored the first cell of a column, of a segment that is never unmapped.
    Some(unsafe { Column::new(first) })
}
