//! Sums at once at many wide positions: of each, or of all pairs together.

use std::ops::Range;

use super::sums::{Part, Sums};
use crate::arena::rows;
use crate::ring::cells::wide::{GROUP, Sparse, Wide, by_group};
use crate::ring::order::bucket::{Bucket, Prefix};
use crate::ring::store::Store;
use crate::sync::{AtomicU64, Ordering};

/// Returns the cells of a bucket's existing groups at a range of wide positions, and where they
/// begin in the range.
fn groups<'b>(
    store: &Store,
    bucket: &'b Bucket,
    positions: &Range<usize>,
    of: fn(&'b Wide) -> &'b Sparse,
) -> impl Iterator<Item = (usize, &'b [AtomicU64])> {
    let Range { start, end } = *positions;
    let first = start / GROUP;
    let wide = &store.cells(bucket).wide[first..end.div_ceil(GROUP)];
    (first..).zip(wide).filter_map(move |(group, wide)| {
        let cells = of(wide).get()?; // first: most are absent
        let [from, to] = [group, group + 1].map(|group| (group * GROUP).clamp(start, end));
        Some((from - start, &cells[from - group * GROUP..to - group * GROUP]))
    })
}

/// Adds what the interval of the live bucket, or its part before that bucket, holds at wide
/// positions, which lie in one group, without shared cells.
fn add_through_blocks(
    store: &Store,
    live: &Bucket,
    (prefix, part): (Prefix, Part),
    positions: &Range<usize>,
    numbers: &mut [u64],
) -> Option<()> {
    match (prefix, part) {
        (Prefix::Known, _) => {
            let own = store.block_of(live)?;
            for block in store.blocks.iter() {
                if part == Part::Complete && std::ptr::eq(block, own) {
                    block.add_bases(positions, numbers);
                } else {
                    block.add_present_sums(positions, numbers);
                }
            }
            own.take_off_prefixes(positions, numbers);
        }
        (Prefix::Alone, Part::Whole) => store.block_of(live)?.add_differences(positions, numbers),
        (Prefix::Alone, Part::Complete) => {} // the live bucket is the only one
        (Prefix::Unknown, _) => return None,
    }
    Some(())
}

/// The sums at a range of wide positions. Group by group, so that each costs little more than its
/// loads.
pub(super) struct Many<'r> {
    pub(super) store: &'r Store,
    pub(super) positions: Range<usize>,
    pub(super) numbers: &'r mut [u64],
}

impl Many<'_> {
    /// Merges the cells of existing groups into the numbers at their positions.
    fn merge<'b>(
        &mut self,
        bucket: &'b Bucket,
        of: fn(&'b Wide) -> &'b Sparse,
        order: Ordering,
        with: impl Fn(u64, u64) -> u64,
    ) {
        for (first, cells) in groups(self.store, bucket, &self.positions, of) {
            rows::merge(&mut self.numbers[first..][..cells.len()], cells, order, &with);
        }
    }
}

impl Sums for Many<'_> {
    fn take_off(&mut self, gone: &Bucket) {
        // Relaxed: as in `One`.
        self.merge(gone, Wide::totals, Ordering::Relaxed, u64::wrapping_sub);
    }

    fn add_interval(&mut self, live: &Bucket, prefix: Prefix, part: Part) -> Option<()> {
        let first = self.positions.start;
        for range in by_group(self.positions.clone()) {
            let numbers = &mut self.numbers[range.start - first..][..range.len()];
            add_through_blocks(self.store, live, (prefix, part), &range, numbers)?;
        }
        Some(())
    }

    fn add_shared(&mut self, touched: &Bucket) {
        // Acquire: pairs with the Release in `Target::add`. A reader that counts a value, by the
        // first of a pair, finds it in the sum, by the second.
        self.merge(touched, |wide| &wide.shared, Ordering::Acquire, u64::wrapping_add);
    }
}

/// The two sums of the pairs at a range of wide positions. One group at a time, so that this needs
/// no memory.
pub(super) struct Pairs<'r> {
    pub(super) store: &'r Store,
    pub(super) positions: Range<usize>,
    /// The sums of the first numbers of all pairs, and of the second ones.
    pub(super) sums: [u64; 2],
}

impl Pairs<'_> {
    /// Merges the cells of existing groups into the sums.
    fn merge<'b>(
        &mut self,
        bucket: &'b Bucket,
        of: fn(&'b Wide) -> &'b Sparse,
        order: Ordering,
        with: impl Fn(u64, u64) -> u64,
    ) {
        for (_, cells) in groups(self.store, bucket, &self.positions, of) {
            for pair in cells.as_chunks::<2>().0 {
                self.sums[0] = with(self.sums[0], pair[0].load(order));
                self.sums[1] = with(self.sums[1], pair[1].load(order));
            }
        }
    }
}

impl Sums for Pairs<'_> {
    fn take_off(&mut self, gone: &Bucket) {
        // Relaxed: as in `One`.
        self.merge(gone, Wide::totals, Ordering::Relaxed, u64::wrapping_sub);
    }

    fn add_interval(&mut self, live: &Bucket, prefix: Prefix, part: Part) -> Option<()> {
        for range in by_group(self.positions.clone()) {
            let mut numbers = [0; GROUP];
            let numbers = &mut numbers[..range.len()];
            add_through_blocks(self.store, live, (prefix, part), &range, numbers)?;
            for [first, second] in numbers.as_chunks::<2>().0 {
                self.sums[0] = self.sums[0].wrapping_add(*first);
                self.sums[1] = self.sums[1].wrapping_add(*second);
            }
        }
        Some(())
    }

    fn add_shared(&mut self, touched: &Bucket) {
        // Acquire: as in `Many`.
        self.merge(touched, |wide| &wide.shared, Ordering::Acquire, u64::wrapping_add);
    }
}
