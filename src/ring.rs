//! A window's ring of buckets: counting into it, and what it is made of.
//!
//! ```text
//!   Ring -- current -------------------+              the only root
//!     |                                v
//!     |    slots [ header ][ header ][ header ]       who holds each start now
//!     |              |         |         `- live: start, length, block
//!     |              |         `- displaced, not yet closed: block
//!     |              `- closed: totals; the block is another's
//!     |-- blocks     a few sets of columns, cumulative, alive as long as the window
//!     |-- side       a copy of everything that was added to a header's shared cells
//!     `-- late, past
//! ```
//!
//! One file for each thing that happens: an add here, opening the next bucket in `rotate`, making
//! an old one final in `close`, changing the geometry in `reconfigure`, reading in `read`.
//!
//! # The rules that all of them keep
//!
//! 1. *A block is reached only through `current`*, loaded under the pin under which it is written.
//!    Whoever finds a header anywhere else writes to its shared cells. So a block falls silent one
//!    grace period after its header was displaced.
//! 2. *Current first, slot second, and into the slot before it is displaced*: whoever displaces a
//!    header first makes sure that it is in its slot. So a start older than `current` that is not in
//!    its slot was never current, and never will be.
//! 3. *Numbers never move.* What was added stays in its block, its header's shared cells and `side`,
//!    or `late`, each of which only grows; totals are differences. So a read that sums them can
//!    neither miss a number on the move nor see it twice.
//! 4. *No one waits.* A bucket that finds no free block counts in its shared cells: exact, slower.

use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::error::BuildError;
use crate::layout::{Place, Shape};
use crate::reclaim::{self, Atomic, Guard, Owned, Shared};
use crate::stripe;
use crate::sync::{Ordering, sized};

mod block;
mod cells;
mod close;
mod generation;
mod geometry;
mod grace;
mod header;
mod read;
mod reconfigure;
mod rotate;
mod slots;

use block::Block;
use cells::Cells;
pub(crate) use cells::Update;
use generation::Generation;
pub(crate) use geometry::Geometry;
use header::Header;
pub(crate) use read::{Source, View};

/// One for the live bucket, one to move on to, and as many again for buckets that are waiting for
/// their grace period.
const BLOCKS: usize = sized(4, 2);

/// The buckets of a window.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The header of the newest bucket; never null. Read by every add, so on a line of its own.
    current: CachePadded<Atomic<Header>>,
    shape: Shape,
    blocks: Box<[Block]>,
    /// A copy of every add to a header's shared cells.
    side: Cells,
    /// Adds that found their bucket gone.
    late: Cells,
    /// The extremes of closed buckets, whose blocks have forgotten them. The rest is unused.
    past: Cells,
}

/// The bucket of a timestamp has left the ring, which begins at `oldest` now.
pub(crate) struct Gone {
    pub(crate) oldest: u64,
}

impl Ring {
    /// A ring whose newest bucket is the one that contains `now`.
    pub(crate) fn new(geometry: Geometry, shape: Shape, now: u64) -> Result<Ring, BuildError> {
        stripe::strategy(); // columns are claimed below
        let generation = Generation::first(geometry, shape)?;
        let slots = Arc::clone(&generation.slots);
        let ring = Ring {
            current: CachePadded::new(Atomic::null()),
            shape,
            blocks: (0..BLOCKS).map_while(|_| Block::claim(shape)).collect(),
            side: Cells::new(shape.cells()),
            late: Cells::new(shape.cells()),
            past: Cells::new(shape.cells()),
        };
        let guard = reclaim::pin();
        let generation = Owned::new(generation).into_shared(&guard);
        let first = ring.open(generation, geometry.start_of(now), &guard);
        ring.current.store(first, Ordering::Release); // nobody else is there yet
        slots.install(first, &guard);
        drop(guard);
        Ok(ring)
    }

    /// Counts a number in the bucket of `at`; in `late` if that has left the ring.
    #[inline]
    pub(crate) fn add(&self, at: u64, place: Place, number: u64) {
        let guard = reclaim::pin();
        // SAFETY: never null, and loaded under the pin.
        let header = unsafe { self.current(&guard).deref() };
        if header.covers(at)
            && let Some(column) = header.column
        {
            header.check();
            Update::new(place, number).put(&column);
        } else {
            drop(guard);
            self.add_slowly(at, place, number);
        }
    }

    // Not given the `Update` of the fast path, which would have to be put into memory for it.
    #[cold]
    fn add_slowly(&self, at: u64, place: Place, number: u64) {
        let update = Update::new(place, number);
        if self.add_in_ring(at, update).is_err() {
            update.put(&self.late);
        }
    }

    /// Counts `update` in the bucket of `at`; nowhere if that has left the ring.
    ///
    /// Each time round, the ring has moved on: either `at` is in the present bucket by then, or
    /// older.
    pub(crate) fn add_in_ring(&self, at: u64, update: Update) -> Result<(), Gone> {
        loop {
            let guard = reclaim::pin();
            let current = self.current(&guard);
            // SAFETY: never null, and loaded under the pin.
            let header = unsafe { current.deref() };
            if header.covers(at) {
                match header.column {
                    Some(column) => update.put(&column),
                    None => self.put_shared(header, update),
                }
                return Ok(());
            }
            if at < header.start {
                return self.add_back_dated(header, at, update, &guard);
            }
            let moved = self.rotate(current, at, &guard);
            drop(guard);
            if moved {
                self.settle();
            }
        }
    }

    /// Counts `update` in a bucket older than `current`.
    ///
    /// `current` never goes back, so nobody can make that bucket current any more; and if it ever
    /// was, it was in its slot before `current` could be loaded. What we do not find there we may
    /// put there.
    fn add_back_dated(
        &self,
        current: &Header,
        at: u64,
        update: Update,
        guard: &Guard,
    ) -> Result<(), Gone> {
        // SAFETY: `current` was loaded from there, under the guard.
        let generation = unsafe { current.generation(guard).deref() };
        let geometry = generation.geometry();
        let start = geometry.start_of(at);
        if !geometry.in_ring(start, current.start) {
            return Err(Gone { oldest: geometry.oldest(current.start) });
        }
        loop {
            let seen = generation.slots.held(start, guard);
            // SAFETY: null, or loaded under the pin.
            match unsafe { seen.as_ref() } {
                Some(header) if header.start == start => {
                    header.check();
                    self.put_shared(header, update);
                    return Ok(());
                }
                // A whole round has passed since `current` was loaded.
                Some(newer) if newer.start > start => {
                    return Err(Gone { oldest: geometry.oldest(newer.start) });
                }
                _ => {
                    let new = Header::new(current.generation(guard), start, header::CLOSED);
                    generation.slots.insert(seen, new, guard);
                }
            }
        }
    }

    /// Counts `update` in a header's shared cells.
    fn put_shared(&self, header: &Header, update: Update) {
        update.put(&header.shared);
        update.put(&self.side);
    }

    #[inline]
    fn current<'g>(&self, guard: &'g Guard) -> Shared<'g, Header> {
        // Acquire: pairs with the Release that made it current. We see the header, and the slot
        // of every one before it.
        self.current.load(Ordering::Acquire, guard)
    }

    /// The present geometry.
    pub(crate) fn geometry(&self) -> Geometry {
        let guard = reclaim::pin();
        // SAFETY: never null, and loaded under the pin; its generation likewise.
        unsafe { self.current(&guard).deref().generation(&guard).deref() }.geometry()
    }
}

/// Frees the headers and the generation; the blocks free their columns.
impl Drop for Ring {
    fn drop(&mut self) {
        let guard = reclaim::pin();
        let current = self.current(&guard);
        // SAFETY: `&mut self`: nobody else is in the window. `current` and its generation are never
        // retired.
        let header = unsafe { current.deref() };
        let generation = header.generation(&guard);
        // SAFETY: as above.
        let of = unsafe { generation.deref() };
        // Only while somebody is on the way is a header current and not yet in its slot.
        debug_assert!(of.slots.held(header.start, &guard) == current);
        let owned = self.blocks.iter().map(|block| block.owner.load(Ordering::Acquire, &guard));
        let slots = of.inherited.iter().map(|inherited| &inherited.slots);
        let slotted = slots.chain([&of.slots]).flat_map(|slots| slots.headers(&guard));
        let linked: Vec<_> = owned.filter(|owner| !owner.is_null()).chain(slotted).collect();
        for header in linked {
            // SAFETY: each link is ended once: it was found in a slot, or in a block, that is no
            // more.
            unsafe { Header::release_last(header) };
        }
        // SAFETY: as above, and the headers that refer to it are gone.
        drop(unsafe { generation.into_owned() });
    }
}
