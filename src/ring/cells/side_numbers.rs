//! The numbers beside the buckets and blocks of a ring.
//!
//! # Promise
//!
//! Each position has two: `shared_total`, a copy of every add to a bucket's shared cells, with the
//! extremes of closed buckets, which their blocks have dropped; and the sum of late adds. Both only
//! grow, and live as long as the ring. At wide positions they take memory where they are used.
//!
//! They stand in cells as a bucket's: `shared_total` as the shared cells, and late adds where a
//! bucket has what was added through its block.

use std::ops::Range;

use crate::arena::rows;
use crate::event::layout::BucketLayout;
use crate::ring::cells::wide::{GROUP, Wide, groups};
use crate::ring::cells::{BucketCell, Cells, Target, add_to};
use crate::stripe::portable;
use crate::sync::{AtomicU64, Ordering};

/// `shared_total` and the sum of late adds, by position.
#[derive(Debug)]
pub(in crate::ring) struct Beside {
    wide: Box<[Wide]>,
    dense: Box<[BucketCell]>,
}

/// The target of late adds.
struct Late<'r>(Cells<'r>);

impl Beside {
    pub(in crate::ring) fn new(layout: BucketLayout) -> Beside {
        // In this order, there is no code that drops `wide` because `dense` has no memory.
        let dense = (layout.wide()..layout.cells()).map(|_| BucketCell::default()).collect();
        Beside { wide: (0..groups(layout)).map(|_| Wide::new()).collect(), dense }
    }

    /// Returns the cells that have `shared_total` as their shared cells.
    #[inline]
    pub(in crate::ring) fn shared_total(&self, layout: BucketLayout) -> Cells<'_> {
        Cells { wide: &self.wide, dense: &self.dense, first: layout.wide() }
    }

    /// Returns the target of late adds.
    pub(in crate::ring) fn late(&self, layout: BucketLayout) -> impl Target {
        Late(self.shared_total(layout))
    }

    /// Returns `shared_total` and the sum of late adds at a position.
    pub(in crate::ring) fn numbers(&self, layout: BucketLayout, position: usize) -> [u64; 2] {
        let cells = self.shared_total(layout);
        // Acquire, both: pairs with the Release in `add` and `raise`.
        let late = cells.load(position, Ordering::Acquire, Wide::totals, BucketCell::total);
        [cells.shared(position, Ordering::Acquire), late]
    }

    /// Adds both at a range of wide positions, which lies in one group, to `numbers`.
    pub(in crate::ring) fn add_wide(&self, positions: &Range<usize>, numbers: &mut [u64]) {
        let wide = &self.wide[positions.start / GROUP];
        for cells in [&wide.shared, wide.totals()] {
            if let Some(cells) = cells.at(positions) {
                // Acquire: as above.
                rows::merge(numbers, cells, Ordering::Acquire, u64::wrapping_add);
            }
        }
    }
}

impl Late<'_> {
    #[inline(never)] // its code once
    fn cell(&self, position: usize) -> &AtomicU64 {
        self.0.cell(position, Wide::totals, BucketCell::total)
    }
}

impl Target for Late<'_> {
    const IS_ROW: bool = false;

    fn is_below(&self, position: usize, value: u64) -> bool {
        portable::is_below(self.cell(position), value)
    }

    fn add(&self, position: usize, n: u64) {
        add_to(self.cell(position), n);
    }

    fn raise(&self, position: usize, value: u64) {
        portable::raise_cell(self.cell(position), value);
    }
}
