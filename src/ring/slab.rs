//! The memory of a window's buckets: reused for one slice of time after another, and freed with the window.
//!
//! So a rotation costs no allocation, a window's memory is bounded whatever stalls (a thread that has a
//! reference keeps one bucket from reuse), and it is safe to follow an old pointer. A bucket's reference count
//! alone tells whether it is free (see `ref_count`); there is no list of free buckets to keep.

use std::ptr::{NonNull, null_mut};

use crate::event::layout::BucketLayout;
use crate::ring::bucket::Bucket;
use crate::ring::cells::BucketCell;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// At most so many buckets are made at first.
const MOST_AT_FIRST: usize = 1024;
/// At least and at most so many are made at once later.
const LATER: (usize, usize) = (crate::sync::sized(16, 1), 65_536);

#[derive(Debug)]
pub(super) struct Slab {
    layout: BucketLayout,
    /// How many are made at first.
    at_first: usize,
    first: AtomicPtr<Chunk>,
    /// The number of the bucket after the one that was taken last. It is likely free, since those that were
    /// taken first are free first.
    hint: AtomicUsize,
}

/// Buckets that were made at once.
#[derive(Debug)]
struct Chunk {
    buckets: Box<[Bucket]>,
    /// What the buckets point into.
    cells: NonNull<[BucketCell]>,
    next: AtomicPtr<Chunk>,
}

impl Slab {
    /// A slab that makes `at_first` buckets when the first is taken.
    pub(super) fn new(layout: BucketLayout, at_first: usize) -> Slab {
        Slab {
            layout,
            at_first: at_first.min(MOST_AT_FIRST),
            first: AtomicPtr::new(null_mut()),
            hint: AtomicUsize::new(0),
        }
    }

    /// A free bucket, now the caller's.
    pub(super) fn take(&self) -> &Bucket {
        // Relaxed: the search may begin at any bucket.
        let hint = self.hint.load(Ordering::Relaxed);
        let free = self.free_from(hint, usize::MAX).or_else(|| self.free_from(0, hint));
        let (number, bucket) = free.unwrap_or_else(|| self.grow());
        self.hint.store(number + 1, Ordering::Relaxed);
        bucket
    }

    /// Takes the first free bucket among those numbered from `begin` on, and before `end`.
    fn free_from(&self, begin: usize, end: usize) -> Option<(usize, &Bucket)> {
        let mut base = 0;
        for chunk in self.chunks() {
            let length = chunk.buckets.len();
            let (from, to) = (begin.max(base), end.min(base + length));
            if let Some(found) =
                (from..to).find(|number| chunk.buckets[number - base].references.try_take())
            {
                return Some((found, &chunk.buckets[found - base]));
            }
            base += length;
        }
        None
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        // SAFETY: null, or a chunk that lives as long as the slab. Acquire: pairs with the Release in `grow`.
        let follow =
            |pointer: &AtomicPtr<Chunk>| unsafe { pointer.load(Ordering::Acquire).as_ref() };
        std::iter::successors(follow(&self.first), move |chunk| follow(&chunk.next))
    }

    /// All buckets.
    pub(super) fn buckets(&self) -> impl Iterator<Item = &Bucket> {
        self.chunks().flat_map(|chunk| &chunk.buckets)
    }

    /// Makes more buckets, and takes the first.
    #[cold]
    fn grow(&self) -> (usize, &Bucket) {
        let (mut pointer, mut total) = (&self.first, 0);
        let mut new: Option<Chunk> = None;
        loop {
            // SAFETY: as in `chunks`. Acquire: likewise.
            if let Some(chunk) = unsafe { pointer.load(Ordering::Acquire).as_ref() } {
                total += chunk.buckets.len();
                pointer = &chunk.next;
                continue;
            }
            let size = if total == 0 { self.at_first } else { (total / 4).clamp(LATER.0, LATER.1) };
            let chunk = new.take().unwrap_or_else(|| Chunk::new(self.layout, size));
            let chunk = Box::into_raw(Box::new(chunk));
            // SAFETY: just made, and ours alone until it is linked.
            let bucket = unsafe { &(&(*chunk).buckets)[0] };
            bucket.references.try_take();
            // Release: publishes the chunk; pairs with the Acquire in `chunks`.
            let linked =
                pointer.compare_exchange(null_mut(), chunk, Ordering::Release, Ordering::Relaxed);
            if linked.is_ok() {
                return (total, bucket);
            }
            // Another thread has grown the slab: our chunk goes behind that one.
            bucket.references.release();
            // SAFETY: made above, and not linked.
            new = Some(*unsafe { Box::from_raw(chunk) });
        }
    }
}

impl Chunk {
    fn new(layout: BucketLayout, size: usize) -> Chunk {
        let cells: Box<[BucketCell]> =
            (0..size * layout.cells()).map(|_| BucketCell::default()).collect();
        // As a pointer, because a box must be the only way to its content, and buckets point there.
        let cells = NonNull::from(Box::leak(cells));
        let first = cells.cast::<BucketCell>();
        let bucket = |index: usize| {
            // SAFETY: within the cells, which live as long as the chunk. They belong to this bucket alone.
            unsafe { Bucket::new(first.add(index * layout.cells()).as_ptr(), layout) }
        };
        let buckets = (0..size).map(bucket).collect();
        Chunk { buckets, cells, next: AtomicPtr::new(null_mut()) }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`; the buckets, which point there, go with the chunk.
        drop(unsafe { Box::from_raw(self.cells.as_ptr()) });
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // Relaxed, both: `&mut self`: no other thread is there, and all that was done comes before.
        let mut next = self.first.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: no other thread is there. Each chunk was made by `Box::into_raw`, and is linked once.
            next = unsafe { Box::from_raw(next) }.next.load(Ordering::Relaxed);
        }
    }
}
