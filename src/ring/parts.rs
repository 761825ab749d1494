//! Parts of a ring for models (`--cfg loom`). Through a window, these cases would take three
//! threads and many rotations, or could not be told from what is allowed. The code is the window's
//! own.

use std::ptr::{from_ref, null_mut};
use std::time::Duration;

use crate::event::cells::EventCells;
use crate::event::layout::{BucketLayout, CellIndex};
use crate::event::{Kind, Stats};
use crate::reclaim;
use crate::ring::order::bucket::{Bucket, CLOSED, OPEN};
use crate::ring::order::bucket_ref::{Adder, BucketRef};
use crate::ring::order::bucket_ref::{BucketPtr, Versioned};
use crate::ring::order::level::Level;
use crate::ring::order::opening::Opening;
use crate::ring::order::slot::{Content, Slot};
use crate::ring::order::slots::each_closed;
use crate::ring::store::block::Block;
use crate::ring::{Geometry, Ring};
use crate::sync::Ordering;

/// Says whether the models that this thread explores from now on add with fences, or behind a
/// barrier.
#[cfg(windrow_announced)]
pub fn add_with_fences(is_so: bool) {
    crate::stripe::WITH_FENCES.set(is_so);
}

const COUNT: &[(&str, Kind)] = &[("Event", Kind::Count)];
const VALUE: &[(&str, Kind)] = &[("Event", Kind::Value)];

/// Makes a ring of two buckets of 10 ns that counts one event.
fn ring(events: &'static &'static [(&'static str, Kind)]) -> Ring {
    let geometry = Geometry::new(Duration::from_nanos(20), 2).expect("sound");
    Ring::new(geometry, Vec::new(), BucketLayout::of(events), 0).expect("sound")
}

/// A bucket that leaves a pointer, is reused, and comes back to the pointer: `Store::open`,
/// `Versioned::load` and `Level::fold`.
///
/// The bucket is in no slot; both blocks are free.
#[derive(Debug)]
pub struct Comeback {
    ring: Ring,
    /// A level of one slice, whose slot is the pointer.
    level: Level,
    /// The initial content of the pointer. (The thread that exchanges it does not load it before:
    /// loom would no longer see the exchange meet a load by another thread.)
    first: BucketPtr,
}

/// The start of the bucket at first, and when it has come back.
const STARTS: [u64; 2] = [10, 30];

impl Comeback {
    /// Makes a pointer that leads to a bucket that has counted in a block, and in its shared cells.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Comeback {
        let (ring, first) = (ring(&COUNT), BucketPtr::new(null_mut()));
        let geometry = Geometry::of_length(Duration::from_nanos(10), 1).expect("sound");
        let level = Level::new(0, (0, 0), geometry).expect("one slot");
        let comeback = Comeback { ring, level, first };
        let bucket = comeback.open(STARTS[0]);
        comeback.first.store(from_ref(bucket).cast_mut(), Ordering::Release);
        assert!(comeback.pointer().replace(&Content::Left(0), bucket));
        comeback.ring.store.cells(bucket).dense[0].shared.store(16, Ordering::Relaxed);
        bucket.close();
        comeback.free_blocks();
        comeback
    }

    fn open(&self, start: u64) -> &Bucket {
        let guard = reclaim::pin();
        let current = self.ring.acquire_current();
        let opening = Opening::fine(current.generation(&guard), start, current.start());
        self.ring.store.open(&opening, &|_, _| {})
    }

    fn free_blocks(&self) {
        for (block, bucket) in self.ring.store.owners() {
            block.disown(&bucket);
        }
    }

    /// Returns the initial content of the pointer.
    fn at_first(&self) -> Content<'_> {
        // SAFETY: a bucket of this ring's.
        Content::Bucket(unsafe { BucketRef::acquire(&self.first) }.expect("it was stored"))
    }

    fn pointer(&self) -> &Slot {
        self.level.slots.slot(0)
    }

    /// Takes the bucket out of the pointer, reuses it, and has the pointer lead to it again.
    pub fn leave_and_come_back(&self) {
        assert!(self.pointer().evict(&self.at_first(), 0));
        let bucket = self.open(STARTS[1]);
        assert!(self.pointer().replace(&Content::Left(1), bucket));
    }

    /// Takes the first block, if it is free.
    pub fn take_a_block(&self) {
        let current = self.ring.acquire_current();
        if self.ring.store.blocks.get(0).is_some_and(|block| block.try_own(&current)) {
            std::mem::forget(current); // the block's reference
        }
    }

    /// Returns what a reader finds: the start of the bucket, and the block in which it counts.
    #[must_use]
    pub fn read(&self) -> Option<(u64, Option<usize>)> {
        // SAFETY: a bucket of this ring's.
        let found = unsafe { Versioned::load(self.pointer()) }?;
        let result = (found.bucket.start(), found.bucket.block());
        found.is_valid().then_some(result)
    }

    /// Takes the bucket out of the pointer, and reuses it for the same slice, which it gives up: as
    /// if another bucket had been there first. Reuses it once more, and adds.
    pub fn leave_and_be_given_up(&self) {
        assert!(self.pointer().evict(&self.at_first(), 0));
        self.ring.store.discard(self.open(STARTS[1]));
        let other = self.open(2 * STARTS[1]);
        self.ring.store.cells(other).dense[0].shared.store(8, Ordering::Relaxed);
        self.ring.store.discard(other);
    }

    /// Returns what a span finds that has the slice of the later start, which has counted nothing;
    /// `None` if it is overtaken.
    #[must_use]
    pub fn sum_of_slices(&self) -> Option<u64> {
        self.level.fold((STARTS[1] / 10, 1), 0, |sum, slice| {
            sum + self.ring.store.cells(slice).shared(0, Ordering::Relaxed)
        })
    }

    /// Makes the pointer lead to a newer bucket, and reuses the one that it led to for an older
    /// start, elsewhere.
    pub fn become_older(&self) {
        let newer = self.open(STARTS[1]);
        assert!(self.pointer().replace(&self.at_first(), newer));
        let older = self.open(0);
        older.close();
        older.references.release(); // its slot's
    }

    /// Returns whether a reader finds the bucket that was there at first, or knows that it came too
    /// late.
    #[must_use]
    pub fn find_or_be_overtaken(&self) -> bool {
        let guard = reclaim::pin();
        let Some(view) = self.ring.present(&guard) else { return true };
        view.bucket(STARTS[0], self.pointer()).is_some() || view.is_overtaken()
    }

    /// Returns, when all is done, what a reader must have found, if it found the bucket that came
    /// back.
    #[must_use]
    #[allow(clippy::missing_panics_doc)]
    pub fn end(self) -> (u64, Option<usize>) {
        let found = self.read().expect("the pointer leads to it");
        self.free_blocks();
        // SAFETY: a bucket of this ring's.
        assert!(self.pointer().evict(&unsafe { self.pointer().content() }, 1));
        found
    }
}

/// A bucket that is retired while a thread adds to its shared cells. Models race an [`Adder`]
/// against [`Bucket::is_final`] on it.
#[derive(Debug)]
pub struct Retired {
    ring: Ring,
    /// The newest bucket, as far as adders know.
    current: BucketPtr,
}

impl Retired {
    /// Makes the bucket, which has no block, and is the newest.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Retired {
        let ring = ring(&VALUE);
        let current = {
            let guard = reclaim::pin();
            let generation = ring.acquire_current().generation(&guard);
            let opening = Opening::fine(generation, STARTS[0], 0);
            from_ref(ring.store.open_without_block(&opening, OPEN)).cast_mut()
        };
        Retired { ring, current: BucketPtr::new(current) }
    }

    /// Adds to two cells, if the bucket is still the newest.
    pub fn add(&self) {
        // SAFETY: a bucket of the ring's.
        let Some(bucket) = (unsafe { BucketRef::acquire(&self.current) }) else { return };
        if let Some(_adder) = Adder::register(&bucket, &self.current) {
            for cell in &self.ring.store.cells(&bucket).dense[..2] {
                cell.shared.fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Retires the bucket. Returns what the two cells hold, if the bucket is final.
    #[must_use]
    #[allow(clippy::missing_panics_doc)]
    pub fn retire(&self) -> Option<(u64, u64)> {
        let bucket = self.current.swap(null_mut(), Ordering::AcqRel);
        // SAFETY: a bucket of the ring's, which its slot would still refer to.
        let bucket = unsafe { &*bucket };
        let cell = |position| self.ring.store.cells(bucket).shared(position, Ordering::Relaxed);
        let found = bucket.is_final().then(|| (cell(0), cell(1)));
        bucket.references.release();
        found
    }
}

/// A retired bucket that several threads want closed at once: [`Ring::close_retired`].
#[derive(Debug)]
pub struct Unclosed(Ring);

impl Unclosed {
    /// Makes a ring whose first bucket is retired, and not closed.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Unclosed {
        let ring = ring(&COUNT);
        assert!(ring.rotate(&ring.acquire_current(), STARTS[0], &reclaim::pin()));
        Unclosed(ring)
    }

    /// Closes the bucket, unless another thread is about to.
    pub fn close_retired(&self) {
        self.0.close_retired();
    }

    /// Returns whether the bucket is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.0.store.blocks.get(0).is_some_and(Block::is_free)
    }
}

/// A rotation that comes too late, from a bucket that is retired, beside one from the live bucket:
/// [`Ring::rotate`] and
/// [`each_closed`].
#[derive(Debug)]
pub struct LateRotation {
    ring: Ring,
    /// The retired bucket, with a reference.
    retired: BucketPtr,
}

impl LateRotation {
    /// Makes a ring of four buckets. Those at 0, 10 and 20 have left the ring, and stand in their
    /// slots; the one at 70 is retired, the one at 110 is live.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> LateRotation {
        let geometry = Geometry::new(Duration::from_nanos(40), 4).expect("sound");
        let layout = BucketLayout::of(&VALUE);
        let ring = Ring::new(geometry, Vec::new(), layout, 0).expect("sound");
        // In a model only values are added through the block of a bucket that they have opened.
        let cells = CellIndex::Value { pair: 0, extremes: 2 };
        let record = |at| assert!(ring.add_at(at, at, cells, 16).is_ok());
        [0, 10, 20, 70].into_iter().for_each(record);
        let retired = ring.acquire_current();
        let pointer = from_ref(retired.bucket()).cast_mut();
        std::mem::forget(retired);
        record(110);
        LateRotation { ring, retired: BucketPtr::new(pointer) }
    }

    /// Returns the count that a rotation from the live bucket to 140 would subtract for the buckets
    /// that leave the interval: zero. `None` if it is not known.
    #[must_use]
    pub fn leaves(&self) -> Option<u64> {
        let guard = reclaim::pin();
        let current = self.ring.acquire_current();
        // SAFETY: of a bucket that is current under the guard.
        let slots = &*unsafe { current.generation(&guard).deref() }.slots;
        let mut all = 0;
        each_closed(slots, 80, 110, |gone| {
            all += self.ring.store.cells(gone).total(1);
        })
        .then_some(all)
    }

    /// Attempts to move on from the retired bucket to 90, in the slot of the bucket at 10.
    #[allow(clippy::missing_panics_doc)]
    pub fn rotate_late(&self) {
        let guard = reclaim::pin();
        // SAFETY: a bucket of the ring's, to which `new` has left a reference.
        let retired = unsafe { &*self.retired.load(Ordering::Relaxed) };
        assert!(!self.ring.rotate(&BucketRef::to(retired), 93, &guard));
        retired.references.release();
    }
}

/// Sums at once of a touched interval, against writers to shared cells and threads that settle:
/// [`Ring::settle`], `shared_prefix`.
#[derive(Debug)]
pub struct Settling(Ring);

impl Settling {
    /// Makes a ring of four buckets, of which the one at 40 is live and has counted 16. Shared
    /// cells have counted 8 at 10, and 1 at 30.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> Settling {
        let geometry = Geometry::new(Duration::from_nanos(40), 4).expect("sound");
        let ring = Ring::new(geometry, Vec::new(), BucketLayout::of(&COUNT), 0).expect("sound");
        let settling = Settling(ring);
        for (at, n) in [(43, 16), (13, 8), (33, 1)] {
            assert!(settling.add(at, n));
        }
        settling.0.close_retired();
        settling
    }

    /// Adds `n` at a time. Returns false if its bucket has left the ring.
    pub fn add(&self, at: u64, n: u64) -> bool {
        self.0.add_at(at, at, CellIndex::Count { cell: 0 }, n).is_ok()
    }

    /// Moves on to the bucket at a start.
    pub fn rotate(&self, start: u64) -> bool {
        self.0.rotate(&self.0.acquire_current(), start, &reclaim::pin())
    }

    /// Changes the geometry to three buckets of 20 ns.
    #[allow(clippy::missing_panics_doc)]
    pub fn reconfigure(&self) {
        let geometry = Geometry::new(Duration::from_nanos(60), 3).expect("sound");
        self.0.reconfigure(geometry).expect("there is memory");
    }

    /// Closes retired buckets.
    pub fn close_retired(&self) {
        self.0.close_retired();
    }

    /// Settles, in one attempt.
    pub fn settle(&self) {
        self.0.settle_in(1);
    }

    /// Returns the sum at once, of the interval that ends at a time.
    #[must_use]
    pub fn sum_at_once(&self, now: u64) -> Option<u64> {
        self.0.sum_at_once(|| now, 0)
    }

    /// Returns the sum, bucket by bucket.
    #[must_use]
    pub fn sum(&self, now: u64) -> u64 {
        let (geometry, _) = self.0.newest();
        let newest = geometry.start_of(now);
        self.0.view(|| now, |view| view.total_between(geometry.oldest(newest), newest, 0))
    }
}

/// A retired bucket that one thread closes while another reads what a tier holds of it:
/// [`Ring::close_retired`], and `open_extreme` in `tier_view`.
#[derive(Debug)]
pub struct TierClosed {
    ring: Ring,
    /// The retired bucket, without a reference.
    retired: BucketPtr,
}

impl TierClosed {
    /// Makes a ring with a tier of 33 times 20 ns. The value 16 was recorded at 173, in a bucket
    /// that is retired and not closed. Its slice of eight coarse buckets is not opened.
    #[must_use]
    #[allow(clippy::missing_panics_doc, clippy::new_without_default)]
    pub fn new() -> TierClosed {
        let geometry = Geometry::new(Duration::from_nanos(20), 2).expect("sound");
        let tier = Geometry::of_length(Duration::from_nanos(20), 33).expect("sound");
        let ring = Ring::new(geometry, vec![tier], BucketLayout::of(&VALUE), 160).expect("sound");
        assert!(ring.rotate(&ring.acquire_current(), 170, &reclaim::pin()));
        ring.close_retired();
        // In a model only values are added through the block of a bucket that they have opened.
        assert!(ring.add_at(173, 173, CellIndex::Value { pair: 0, extremes: 2 }, 16).is_ok());
        let retired = BucketPtr::new(from_ref(ring.acquire_current().bucket()).cast_mut());
        assert!(ring.rotate(&ring.acquire_current(), 180, &reclaim::pin()));
        let closed = TierClosed { ring, retired };
        assert!(!closed.is_closed());
        closed
    }

    /// Closes the bucket.
    pub fn close_retired(&self) {
        self.ring.close_retired();
    }

    /// Returns whether the bucket is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.store.blocks.get(1).is_some_and(Block::is_free)
    }

    /// Reuses the bucket for the slice at 190, as a rotation does that is given up later. Returns
    /// false if it is not closed.
    #[must_use]
    pub fn reuse(&self) -> bool {
        let guard = reclaim::pin();
        let current = self.ring.acquire_current();
        let opening = Opening::fine(current.generation(&guard), 190, 190);
        // SAFETY: a bucket of the ring's.
        let bucket = unsafe { &*self.retired.load(Ordering::Relaxed) };
        let is_free = opening.evict(bucket) && bucket.references.try_take();
        if is_free {
            // SAFETY: all buckets have this layout.
            unsafe { bucket.begin_init(self.ring.store.layout, &opening) };
            bucket.end_init(CLOSED);
            bucket.references.release();
        }
        is_free
    }

    /// Returns what the tier's ten newest buckets hold, which are read as slices of eight.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let cells = EventCells::Same(CellIndex::Value { pair: 0, extremes: 2 });
        self.ring.view(|| 183, |view| view.stats_in(view.recent(200), cells))
    }
}
