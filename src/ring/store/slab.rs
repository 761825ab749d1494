//! The memory of a window's buckets: reused for one slice of time after another, and freed with the
//! window.
//!
//! # Promise
//!
//! A slab has no more buckets than its window has needed at once, or, while they are fewer than the
//! ring takes, than twice that. It makes more only when none is free and none has left the ring. So
//! a window that is added to now and then keeps no more buckets than are in its ring. Once there
//! are enough for the ring, a rotation allocates nothing. A window's memory is bounded whatever
//! stalls (a thread with a reference keeps one bucket from reuse), and it is safe to follow an old
//! pointer.
//!
//! # How
//!
//! The reference count of a bucket alone tells whether it is free (see `bucket_ref`); there is no
//! list of free buckets to keep. A bucket that has left the ring stays in its slot until another
//! takes its place there. A search takes such a bucket out of its slot, which frees it (see
//! `slot`), as readily as it takes a free one. It begins where the last search ended: the bucket
//! that was taken first is free first, and leaves first.

use std::ptr::{NonNull, null_mut};

use crate::event::layout::BucketLayout;
use crate::ring::cells::Unit;
use crate::ring::order::bucket::Bucket;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering, sized};

/// The number of buckets made at first: the live bucket, and one to move on to.
const AT_FIRST: usize = sized(2, 1);
/// While there are at most this many, the number doubles; beyond that, it grows by a quarter.
const DOUBLED: usize = sized(1024, 1);
/// The least and the greatest number of buckets made at once when the ring has all that it takes,
/// because threads have stalled.
const BEYOND: (usize, usize) = (sized(16, 1), 65_536);

#[cfg(all(test, not(any(loom, shuttle))))]
std::thread_local! {
    /// The number of times that this thread has looked whether a bucket is free.
    static LOOKS: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[derive(Debug)]
pub(in crate::ring) struct Slab {
    /// The number of buckets that the ring takes.
    enough: usize,
    first: AtomicPtr<Chunk>,
    /// The number of the bucket after the one that was taken last. It is likely free, since the
    /// buckets that were taken first are free first.
    hint: AtomicUsize,
}

/// Buckets that were made at once.
#[derive(Debug)]
struct Chunk {
    buckets: Box<[Bucket]>,
    /// The memory of the buckets' cells.
    units: NonNull<[Unit]>,
    next: AtomicPtr<Chunk>,
}

impl Slab {
    /// Makes an empty slab, for a ring that takes `enough` buckets.
    pub(in crate::ring) fn new(enough: usize) -> Slab {
        Slab { enough, first: AtomicPtr::new(null_mut()), hint: AtomicUsize::new(0) }
    }

    /// Takes a bucket. `evict` takes a bucket that has left the ring out of its slot, if nothing
    /// else refers to it.
    pub(in crate::ring) fn take(
        &self,
        layout: BucketLayout,
        evict: impl Fn(&Bucket) -> bool,
    ) -> &Bucket {
        let take = |bucket: &Bucket| {
            #[cfg(all(test, not(any(loom, shuttle))))]
            LOOKS.with(|looks| looks.set(looks.get() + 1));
            bucket.references.try_take() || (evict(bucket) && bucket.references.try_take())
        };
        // Relaxed: the search may begin at any bucket.
        let hint = self.hint.load(Ordering::Relaxed);
        let found = self.find(hint, usize::MAX, take).or_else(|| self.find(0, hint, take));
        let (number, bucket) = found.unwrap_or_else(|| self.grow(layout));
        self.hint.store(number + 1, Ordering::Relaxed);
        bucket
    }

    /// Returns the first bucket that `take` takes, among those numbered from `begin` on, and before
    /// `end`.
    fn find(
        &self,
        begin: usize,
        end: usize,
        take: impl Fn(&Bucket) -> bool,
    ) -> Option<(usize, &Bucket)> {
        let mut base = 0;
        for chunk in self.chunks() {
            let length = chunk.buckets.len();
            let (from, to) = (begin.max(base), end.min(base + length));
            if let Some(found) = (from..to).find(|number| take(&chunk.buckets[number - base])) {
                return Some((found, &chunk.buckets[found - base]));
            }
            base += length;
        }
        None
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        // SAFETY: null, or a chunk that lives as long as the slab. Acquire: pairs with the Release
        // in `grow`.
        let follow =
            |pointer: &AtomicPtr<Chunk>| unsafe { pointer.load(Ordering::Acquire).as_ref() };
        std::iter::successors(follow(&self.first), move |chunk| follow(&chunk.next))
    }

    /// Returns all buckets.
    pub(in crate::ring) fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        self.chunks().flat_map(|chunk| &chunk.buckets)
    }

    /// Makes more buckets, and takes the first of them, or one that another thread has made
    /// meanwhile.
    #[cold]
    fn grow(&self, layout: BucketLayout) -> (usize, &Bucket) {
        let (mut end, mut total) = (&self.first, 0);
        for chunk in self.chunks() {
            (end, total) = (&chunk.next, total + chunk.buckets.len());
        }
        let mut new = Box::new(Chunk::new(layout, self.more(total)));
        loop {
            new.buckets[0].references.try_take();
            let chunk = Box::into_raw(new);
            // Release: publishes the chunk; pairs with the Acquire in `chunks`. Acquire on failure:
            // as there.
            let (order, failed) = (Ordering::Release, Ordering::Acquire);
            let Err(theirs) = end.compare_exchange(null_mut(), chunk, order, failed) else {
                // SAFETY: linked, so that it lives as long as the slab.
                return (total, unsafe { &(&(*chunk).buckets)[0] });
            };
            // SAFETY: made above, and not linked.
            new = unsafe { Box::from_raw(chunk) };
            new.buckets[0].references.release();
            // SAFETY: linked, as above.
            let theirs = unsafe { &*theirs };
            let free = theirs.buckets.iter().position(|bucket| bucket.references.try_take());
            if let Some(index) = free {
                return (total + index, &theirs.buckets[index]);
            }
            // Other threads have taken them all: this thread's go behind.
            (end, total) = (&theirs.next, total + theirs.buckets.len());
        }
    }

    /// Returns the number of buckets to make at once when there are `total`.
    fn more(&self, total: usize) -> usize {
        match self.enough.checked_sub(total) {
            Some(missing) if missing > 0 => {
                total.clamp(AT_FIRST, DOUBLED).max(total / 4).min(missing)
            }
            _ => (total / 4).clamp(BEYOND.0, BEYOND.1),
        }
    }
}

impl Chunk {
    fn new(layout: BucketLayout, size: usize) -> Chunk {
        let units = Unit::zeroed(layout, size);
        // A pointer, because a box must be the only way to its content, and buckets point there.
        let units = NonNull::from(Box::leak(units));
        let first = units.cast::<Unit>().as_ptr();
        let bucket = |index| {
            // SAFETY: there are units for each bucket, and each bucket has its own.
            unsafe { Bucket::new(first.add(index * Unit::count(layout)), layout) }
        };
        let buckets = (0..size).map(bucket).collect();
        Chunk { buckets, units, next: AtomicPtr::new(null_mut()) }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`; the buckets, which point there, go with the chunk.
        drop(unsafe { Box::from_raw(self.units.as_ptr()) });
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // Relaxed, both: `&mut self`: no other thread is there, and all that was done comes before.
        let mut next = self.first.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: no other thread is there. Each chunk was made by `Box::into_raw`, and is
            // linked once.
            next = unsafe { Box::from_raw(next) }.next.load(Ordering::Relaxed);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::event::Kind;
    use crate::event::layout::CellIndex;
    use crate::ring::{Geometry, Ring};

    const EVENTS: &[(&str, Kind)] = &[("Took", Kind::Value)];

    /// "The bucket that was taken first is free first, and leaves first", for each level of a tier.
    #[test]
    fn a_search_ends_soon_while_a_tier_goes_round() {
        let ring = Geometry::new(Duration::from_nanos(600), 60).expect("sound");
        let took = CellIndex::Value { pair: 0, extremes: 2 };
        for step in [1, 7, 8, 50] {
            let tier = Geometry::of_length(Duration::from_nanos(10), 3_600).expect("sound");
            let ring = Ring::new(ring, vec![tier], BucketLayout::of(&EVENTS), 0).expect("sound");
            for second in (0..16 * 3_600_u64).step_by(step) {
                let before = LOOKS.get();
                ring.add_at(10 * second, 10 * second, took, second).expect("in the ring");
                let looks = LOOKS.get() - before;
                let is_warm = second > 2 * 3_600;
                assert!(!is_warm || looks <= 20, "{looks} at {second} s, a record each {step} s");
            }
        }
    }
}
