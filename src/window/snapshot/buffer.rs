//! A bucket's snapshot as a reusable buffer.

use std::mem;

use super::BucketSnapshot;
use crate::event::cells::EventCells;
use crate::event::kinds::HasDistribution;
use crate::event::snapshot_numbers::Kept;
use crate::event::{Event, Events, cells_of};
use crate::histogram::Distribution;
use crate::timestamp::Timestamp;

impl<E: Events> BucketSnapshot<E> {
    /// Overwrites this copy with a closed bucket and its numbers, and reuses its memory.
    pub(crate) fn refill(&mut self, start: u64, length: u64, number: impl FnMut(usize) -> u64) {
        self.start = Timestamp::from_nanos(start);
        self.end = Timestamp::from_nanos(start.saturating_add(length));
        self.is_closed = true;
        self.numbers.refill(number);
    }

    /// Overwrites `into` with the [`distribution`](Self::distribution) of a `Histogram` event, and
    /// reuses its memory. Allocates only if more cells of the scale were used than `into` ever had.
    ///
    /// ```
    /// use windrow::{SlidingWindow, events, histogram::Distribution, snapshot::BucketSnapshot};
    ///
    /// events! { enum Http { Rt: Histogram } }
    ///
    /// let window = SlidingWindow::<Http>::builder().build()?;
    /// let (mut bucket, mut times) = (BucketSnapshot::default(), Distribution::default());
    /// while window.drain_next(&mut bucket) {
    ///     bucket.distribution_into(Http::Rt, &mut times);
    ///     println!("{:?}: {times}", bucket.start());
    /// }
    /// # Ok::<(), windrow::BuildError>(())
    /// ```
    pub fn distribution_into<K: HasDistribution>(
        &self,
        event: Event<E, K>,
        into: &mut Distribution,
    ) {
        self.refill_distribution(cells_of(event), into);
    }

    pub(super) fn refill_distribution(&self, cells: EventCells, into: &mut Distribution) {
        let memory = mem::take(into);
        if let Some(places) = cells.places() {
            *into = self.numbers.distribution(places, memory);
        }
    }
}

/// An empty bucket of no length at time zero, for [`drain_next`](crate::SlidingWindow::drain_next)
/// to fill.
impl<E: Events> Default for BucketSnapshot<E> {
    fn default() -> BucketSnapshot<E> {
        let start = Timestamp::from_nanos(0);
        BucketSnapshot { start, end: start, is_closed: true, numbers: Kept::ZERO }
    }
}
