//! Where shared cells were added to: said before the first such add, so that a sum at once need not look.
//!
//! A word holds the *last start* of an interval that a touched bucket is in. It only rises, and nothing ever
//! clears it: it is out of date by itself when the newest start has passed it. So no stalled thread can clear
//! what another relies on.

use std::ops::Range;

use crate::sync::{AtomicU64, Ordering, sized};

/// The last start of an interval with a touched bucket; zero at first, which says of the interval that ends
/// at time zero that it may have one.
#[derive(Debug, Default)]
pub(in crate::ring) struct Touched(AtomicU64);

impl Touched {
    /// Before the shared cells of a bucket are added to.
    pub(in crate::ring) fn touch(&self, until: u64) {
        // Relaxed, both: it only rises. A reader that the add happened before finds it raised, by coherence;
        // and one that it did not happen before may leave the add out.
        if self.0.load(Ordering::Relaxed) < until {
            self.0.fetch_max(until, Ordering::Relaxed);
        }
    }

    /// Whether the interval that ends with the bucket at `newest` may have a touched bucket.
    #[inline]
    pub(in crate::ring) fn reaches(&self, newest: u64) -> bool {
        self.0.load(Ordering::Relaxed) >= newest // as in `touch`
    }
}

/// The same of each group of neighbouring slots.
#[derive(Debug)]
pub(in crate::ring) struct TouchedSlots {
    /// How many slots a group has: about as many as there are groups.
    size: usize,
    groups: Box<[Touched]>,
}

impl TouchedSlots {
    pub(in crate::ring) fn new(slots: usize) -> TouchedSlots {
        let size = sized(slots.isqrt().max(1), slots);
        TouchedSlots {
            size,
            groups: (0..slots.div_ceil(size)).map(|_| Touched::default()).collect(),
        }
    }

    /// Before the shared cells of the bucket in a slot are added to.
    pub(in crate::ring) fn touch(&self, slot: usize, until: u64) {
        self.groups[slot / self.size].touch(until);
    }

    /// The slots that may lead to a touched bucket of the interval that ends at `newest`, in ranges, the last
    /// of which may go beyond the end.
    pub(in crate::ring) fn slots(&self, newest: u64) -> impl Iterator<Item = Range<usize>> {
        let touched = move |(_, group): &(usize, &Touched)| group.reaches(newest);
        let groups = self.groups.iter().enumerate().filter(touched);
        groups.map(|(group, _)| group * self.size..(group + 1) * self.size)
    }
}
