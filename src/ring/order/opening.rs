//! The slice of time that a bucket is opened for.

use crate::reclaim::Shared;
use crate::ring::order::bucket::Bucket;
use crate::ring::order::generation::Generation;
use crate::ring::order::level::Level;
use crate::ring::order::slots::Slots;
use crate::sync::Ordering;

/// The slice of time that a bucket is opened for, and where it will stand.
pub(in crate::ring) struct Opening<'g> {
    pub(in crate::ring) start: u64,
    /// The slots in which the bucket will stand.
    pub(super) slots: &'g Slots,
    /// The number of the generation, or of the level of a tier.
    pub(super) number: u64,
    pub(super) generation: Shared<'g, Generation>,
    /// The newest start of these slots that the opener knows to have been current (not one that may
    /// never be). A bucket that has left the ring by this start may be taken out of its slot.
    newest: u64,
}

impl<'g> Opening<'g> {
    /// Describes the slice at `start` of a generation. The caller is about to publish a bucket of
    /// that generation, or has loaded one from `current` under its guard. The ring has come to
    /// `newest`.
    pub(in crate::ring) fn fine(
        generation: Shared<'g, Generation>,
        start: u64,
        newest: u64,
    ) -> Opening<'g> {
        // SAFETY: the caller publishes the generation, or has found it under its guard.
        let of = unsafe { generation.deref() };
        Opening { start, slots: &of.slots, number: of.number, generation, newest }
    }

    /// Describes the first slice of a generation. Nothing has left its ring: no start of it is
    /// known to have been current. (Another thread may have made the same slots current, at another
    /// start.)
    pub(in crate::ring) fn first(generation: Shared<'g, Generation>, start: u64) -> Opening<'g> {
        Opening::fine(generation, start, 0)
    }

    /// Describes the slice at `start` of a level of a tier, whose newest start is `newest`.
    pub(in crate::ring) fn coarse(start: u64, level: &'g Level, newest: u64) -> Opening<'g> {
        let Level { slots, number, .. } = level;
        Opening { start, slots, number: *number, generation: Shared::null(), newest }
    }

    /// Returns the length of the slice, in nanoseconds.
    pub(in crate::ring) fn length(&self) -> u64 {
        self.slots.geometry.length_at(self.start)
    }

    /// Returns the interval that ends with the slice, in nanoseconds.
    pub(in crate::ring) fn interval(&self) -> u64 {
        self.slots.geometry.interval()
    }

    /// Takes a bucket out of these slots if it has left their ring, and only its slot refers to it.
    /// The caller has no reference: the memory may be another bucket by then.
    pub(in crate::ring) fn evict(&self, bucket: &Bucket) -> bool {
        // Relaxed, all: hints. `Slots::evict` looks at the content of the slot.
        let start = bucket.start();
        !self.slots.geometry.in_ring(start, self.newest)
            && bucket.number.load(Ordering::Relaxed) == self.number
            && bucket.references.is(1)
            && self.slots.evict(start)
    }
}
