//! The loop of a sum: what a run of slots holds at one position.
//!
//! It stands apart from the rest of reading, because a sum of sixty buckets is this loop and nothing else. An
//! ordinary bucket (in its slot, closed, and the one that was looked for) costs some twenty instructions here;
//! any other goes through [`View::bucket`].

use crate::ring::order::bucket::{BucketPointer, CLOSED};
use crate::ring::order::slot::Slot;
use crate::ring::read::view::View;
use crate::sync::Ordering;

impl View<'_> {
    /// What `count` buckets from `start` down hold at a position, all in the ring and older than `current`.
    pub(in crate::ring) fn scan(&self, start: u64, count: usize, position: usize) -> u64 {
        if position < self.layout().wide() {
            self.scan_wide(start, count, position)
        } else if self.layout().adds_up(position) {
            self.scan_by(start, count, position, u64::wrapping_add)
        } else {
            self.scan_by(start, count, position, u64::max)
        }
    }

    #[cold]
    fn scan_wide(&self, start: u64, count: usize, position: usize) -> u64 {
        let (mut total, mut start) = (0_u64, start);
        for _ in 0..count {
            let slot = self.generation().slots.slot(self.slot_of(start));
            total = total.wrapping_add(self.number_by(slot, start, position));
            start = start.wrapping_sub(self.geometry().length());
        }
        total
    }

    #[inline(never)] // so that what it needs stays in registers
    fn scan_by(
        &self,
        mut start: u64,
        count: usize,
        position: usize,
        join: impl Fn(u64, u64) -> u64,
    ) -> u64 {
        let length = self.geometry().length();
        assert!((self.layout().wide()..self.layout().cells()).contains(&position));
        let slots = self.generation().slots.all();
        let (below, above) = slots.split_at(self.slot_of(start) + 1);
        let first = count.min(below.len());
        let mut total = 0;
        let mut scan = |slots: &[Slot]| {
            for slot in slots.iter().rev() {
                // SAFETY: asserted above.
                let number = unsafe { closed_number(slot, start, position, &join) };
                let number = number.unwrap_or_else(|| self.number_by(slot, start, position));
                total = join(total, number);
                start = start.wrapping_sub(length);
            }
        };
        scan(&below[below.len() - first..]);
        scan(&above[above.len() - (count - first)..]); // a round at most
        total
    }

    #[cold]
    fn number_by(&self, slot: &Slot, start: u64, position: usize) -> u64 {
        self.bucket(start, slot).map_or(0, |data| self.number(data, position))
    }
}

/// What the bucket at `start` holds, if the slot leads to it and it is closed. In the
/// order of `Versioned::load`, `Store::number` and `Versioned::is_valid`.
///
/// # Safety
/// The position is one of the layout's, and not wide.
#[inline(always)]
#[allow(clippy::inline_always)] // the body of the loop
unsafe fn closed_number(
    slot: &Slot,
    start: u64,
    position: usize,
    join: &impl Fn(u64, u64) -> u64,
) -> Option<u64> {
    // SAFETY: buckets live as long as the window.
    let bucket = unsafe { slot.follow() }?;
    let identity = bucket.identity();
    let is_it = identity & CLOSED != 0
        && bucket.start() == start
        && slot.leads_to(bucket, Ordering::Relaxed); // as in `Versioned::load`
    if !is_it {
        return None;
    }
    // SAFETY: by contract.
    let cell = unsafe { bucket.cell(position) };
    // Relaxed, both: the fence in `identity_after` pairs with the Release in `Target::add`.
    let number = join(cell.total.load(Ordering::Relaxed), cell.shared.load(Ordering::Relaxed));
    (bucket.identity_after() == identity).then_some(number)
}
