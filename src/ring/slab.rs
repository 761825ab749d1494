//! The memory of a window's headers: taken once, used for one bucket after another, and freed with the
//! window.
//!
//! That is what makes a rotation cost no allocation, what bounds a window's memory whatever stalls
//! (a thread that holds a header holds up that one), and what makes it safe to follow an old pointer.
//! Which headers are free is told by their holds alone (see `hold`); there is no list of them to keep.

use std::ptr::{NonNull, null_mut};

use crate::layout::Shape;
use crate::ring::cells::Pair;
use crate::ring::header::Header;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// More headers than this are not made at once, at first.
const MOST_AT_FIRST: usize = 1024;
/// Nor fewer than this, nor more than that, later.
const LATER: (usize, usize) = (crate::sync::sized(16, 1), 65_536);

/// Headers.
#[derive(Debug)]
pub(super) struct Slab {
    shape: Shape,
    /// How many are made at first.
    at_first: usize,
    first: AtomicPtr<Chunk>,
    /// The number of the header behind the one that was taken last: likely free, since those that
    /// were taken first are free first.
    hint: AtomicUsize,
}

/// Headers that were made at once.
#[derive(Debug)]
struct Chunk {
    headers: Box<[Header]>,
    /// What the headers point into.
    pairs: NonNull<[Pair]>,
    next: AtomicPtr<Chunk>,
}

impl Slab {
    /// A slab that makes so many headers when the first is taken.
    pub(super) fn new(shape: Shape, at_first: usize) -> Slab {
        Slab {
            shape,
            at_first: at_first.min(MOST_AT_FIRST),
            first: AtomicPtr::new(null_mut()),
            hint: AtomicUsize::new(0),
        }
    }

    /// A free header, now the caller's.
    pub(super) fn take(&self) -> &Header {
        // Relaxed: any header is a right one to begin with.
        let hint = self.hint.load(Ordering::Relaxed);
        let free = self.free_from(hint, usize::MAX).or_else(|| self.free_from(0, hint));
        let (number, header) = free.unwrap_or_else(|| self.grow());
        self.hint.store(number + 1, Ordering::Relaxed);
        header
    }

    /// Takes the first free header among those numbered from `begin` on, and before `end`.
    fn free_from(&self, begin: usize, end: usize) -> Option<(usize, &Header)> {
        let mut base = 0;
        for chunk in self.chunks() {
            let length = chunk.headers.len();
            let (from, to) = (begin.max(base), end.min(base + length));
            if let Some(found) = (from..to).find(|number| chunk.headers[number - base].take()) {
                return Some((found, &chunk.headers[found - base]));
            }
            base += length;
        }
        None
    }

    fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        // SAFETY: null, or a chunk that lives as long as the slab. Acquire: pairs with the Release in
        // `grow`.
        let follow = |link: &AtomicPtr<Chunk>| unsafe { link.load(Ordering::Acquire).as_ref() };
        std::iter::successors(follow(&self.first), move |chunk| follow(&chunk.next))
    }

    /// All headers.
    pub(super) fn headers(&self) -> impl Iterator<Item = &Header> {
        self.chunks().flat_map(|chunk| &chunk.headers)
    }

    /// Makes more headers, and takes the first.
    #[cold]
    fn grow(&self) -> (usize, &Header) {
        let (mut link, mut total) = (&self.first, 0);
        let mut new: Option<Chunk> = None;
        loop {
            // SAFETY: as in `chunks`.
            if let Some(chunk) = unsafe { link.load(Ordering::Acquire).as_ref() } {
                total += chunk.headers.len();
                link = &chunk.next;
                continue;
            }
            let size = if total == 0 { self.at_first } else { (total / 4).clamp(LATER.0, LATER.1) };
            let chunk = new.take().unwrap_or_else(|| Chunk::new(self.shape, size));
            let chunk = Box::into_raw(Box::new(chunk));
            // SAFETY: just made; ours alone, until it is linked.
            let header = unsafe { &(&(*chunk).headers)[0] };
            header.take();
            // Release: publishes the chunk.
            let linked =
                link.compare_exchange(null_mut(), chunk, Ordering::Release, Ordering::Relaxed);
            if linked.is_ok() {
                return (total, header);
            }
            // Somebody else has grown the slab; ours goes behind theirs.
            header.let_go();
            // SAFETY: made above, and not linked.
            new = Some(*unsafe { Box::from_raw(chunk) });
        }
    }
}

impl Chunk {
    fn new(shape: Shape, size: usize) -> Chunk {
        let pairs: Box<[Pair]> = (0..size * shape.cells()).map(|_| Pair::default()).collect();
        // As a pointer: a box would have to be the only way to what is in it, and headers point there.
        let pairs = NonNull::from(Box::leak(pairs));
        let first = pairs.cast::<Pair>();
        let header = |index: usize| {
            // SAFETY: within the pairs, which live as long as the chunk, and no other's.
            unsafe { Header::new(first.add(index * shape.cells()).as_ptr(), shape) }
        };
        let headers = (0..size).map(header).collect();
        Chunk { headers, pairs, next: AtomicPtr::new(null_mut()) }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        // SAFETY: leaked in `new`; the headers, which point there, go with the chunk.
        drop(unsafe { Box::from_raw(self.pairs.as_ptr()) });
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        // Relaxed, both: `&mut self`: nobody else is there, and all that was done is behind us.
        let mut next = self.first.load(Ordering::Relaxed);
        while !next.is_null() {
            // SAFETY: as said. Each chunk was made by `Box::into_raw`, and is linked once.
            next = unsafe { Box::from_raw(next) }.next.load(Ordering::Relaxed);
        }
    }
}
