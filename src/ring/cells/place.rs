//! The memory that a bucket's cells stand in: a run of places in the slab, as long in all buckets of a window.
//!
//! ```text
//!   group | group | ... | cell | cell | ...
//!   of wide cells        the others
//! ```
//!
//! A place has the size of either. So one pointer leads to both: a bucket has that of its cells, and the groups stand before them. A window
//! without histograms has no groups, and pays nothing for them.

use std::mem::ManuallyDrop;

use crate::event::layout::BucketLayout;
use crate::ring::cells::BucketCell;
use crate::ring::cells::wide::{Wide, groups};

/// A place in the memory that a bucket's cells stand in: first a place for each of its groups, then one for each cell that is
/// not wide.
#[repr(C)]
pub(in crate::ring) union Place {
    wide: ManuallyDrop<Wide>,
    cell: ManuallyDrop<BucketCell>,
}

// So that a run of places is one of groups, and then one of cells.
const _: () = assert!(size_of::<Place>() == size_of::<BucketCell>());
const _: () = assert!(size_of::<Place>() == size_of::<Wide>());

impl Place {
    /// How many places a bucket has.
    pub(in crate::ring) fn count(layout: BucketLayout) -> usize {
        groups(layout) + layout.cells() - layout.wide()
    }

    /// The places of a number of buckets, all zero.
    pub(in crate::ring) fn zeroed(layout: BucketLayout, buckets: usize) -> Box<[Place]> {
        let groups = groups(layout);
        let place = |index: usize| {
            if index < groups {
                Place { wide: ManuallyDrop::new(Wide::new()) }
            } else {
                Place { cell: ManuallyDrop::new(BucketCell::default()) }
            }
        };
        (0..buckets).flat_map(|_| (0..Place::count(layout)).map(place)).collect()
    }
}
