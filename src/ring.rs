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

use std::collections::HashMap;
use std::ptr::{NonNull, from_ref, null_mut};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::column::Column;
use crate::error::BuildError;
use crate::layout::{Place, Shape};
use crate::pages;
use crate::reclaim::{self, Atomic, Guard, Owned};
use crate::stripe::again::{Refusal, again, note_abort};
use crate::stripe::live::Live;
use crate::stripe::{self, Strategy, barrier, per_core};
use crate::sync::{AtomicPtr, Ordering, sized};

mod block;
mod cells;
mod close;
mod cursor;
mod drain;
mod generation;
mod geometry;
mod grace;
mod header;
mod hold;
mod proposal;
mod read;
mod reconfigure;
mod rotate;
mod scan;
mod slab;
mod slots;

use block::Block;
pub(crate) use cells::Update;
use cells::cells;
use cursor::Cursor;
use generation::Generation;
pub(crate) use geometry::Geometry;
use header::Link;
use hold::Held;
use proposal::Proposal;
pub(crate) use read::{Source, View};
use slab::Slab;

/// One for the live bucket, one to move on to, and as many again for buckets that are waiting for
/// their grace period.
const BLOCKS: usize = sized(4, 2);

/// How many headers without a block are made when the first is needed, which is seldom.
const UNSTRIPED_AT_FIRST: usize = sized(8, 1);

/// The buckets of a window.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The header of the newest bucket; never null. Read by every add, so on a line of its own,
    /// with what else every add reads.
    current: CachePadded<Link>,
    /// How this window's adds are kept from meeting.
    strategy: Strategy,
    shape: Shape,
    blocks: Box<[Block]>,
    /// Headers that count in blocks.
    striped: Slab,
    /// Headers that never do: an add that has loaded one from `current` goes elsewhere, whatever the
    /// header has become meanwhile. So they may be used again without waiting for anybody.
    unstriped: Slab,
    /// A copy of every add to a header's shared cells.
    side: Box<[pages::Cell]>,
    /// Adds that found their bucket gone.
    late: Box<[pages::Cell]>,
    /// The extremes of closed buckets, whose blocks have forgotten them. The rest is unused.
    past: Box<[pages::Cell]>,
    /// Which closed buckets were handed out.
    cursor: Cursor,
    /// A change of geometry that whoever moves on is asked to make.
    proposal: Atomic<Proposal>,
}

/// The bucket of a timestamp has left the ring, which begins at `oldest` now.
pub(crate) struct Gone {
    pub(crate) oldest: u64,
}

impl Ring {
    /// A ring whose newest bucket is the one that contains `now`.
    pub(crate) fn new(geometry: Geometry, shape: Shape, now: u64) -> Result<Ring, BuildError> {
        // Columns are claimed below, which takes a decision. Without barriers sequences can never
        // be known to be over: then windows are portable, while counters stay as they are.
        let strategy = match stripe::strategy() {
            Strategy::PerCore if barrier::available() => Strategy::PerCore,
            _ => Strategy::Portable,
        };
        let generation = Generation::first(geometry)?;
        let slots = Arc::clone(&generation.slots);
        // Beside those in the slots, some are displaced and not closed, and one is being made.
        let at_first = sized(geometry.buckets().saturating_add(BLOCKS + 1), 1);
        let mut ring = Ring {
            current: CachePadded::new(Link::new(null_mut())),
            strategy,
            shape,
            blocks: (0..BLOCKS).map_while(|_| Block::claim(shape, strategy)).collect(),
            striped: Slab::new(shape, at_first),
            unstriped: Slab::new(shape, UNSTRIPED_AT_FIRST),
            side: cells(shape.cells()),
            late: cells(shape.cells()),
            past: cells(shape.cells()),
            cursor: Cursor::default(),
            proposal: Atomic::null(),
        };
        let guard = reclaim::pin();
        let generation = Owned::new(generation).into_shared(&guard);
        let first = ring.open(generation, geometry.start_of(now));
        slots.install(first);
        // Not a store: nobody else is there yet, and whoever hands the ring on publishes it.
        *ring.current = Link::new(from_ref(first).cast_mut());
        drop(guard);
        Ok(ring)
    }

    /// Counts a number in the bucket of `at`; in `late` if that has left the ring.
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that the place is a constant, as the event mostly is
    pub(crate) fn add(&self, at: u64, place: Place, number: u64) {
        if self.strategy == Strategy::PerCore {
            self.add_per_core(at, place, number, |refusal| {
                if refusal == Refusal::Aborted {
                    note_abort();
                }
                self.add_slowly(at, place, number);
            });
        } else {
            self.add_without_sequences(at, place, number);
        }
    }

    /// As [`add`](Self::add), portably. Not inlined, because a pin is long; each kind of place by
    /// itself, because a `Count` then needs few registers, and stores that save them would wait before
    /// each locked instruction.
    #[inline]
    fn add_without_sequences(&self, at: u64, place: Place, number: u64) {
        match place {
            Place::Count { cell } => self.count_without_sequences(at, cell, number),
            Place::Value { .. } => self.record_without_sequences(at, place, number),
        }
    }

    #[inline(never)]
    fn count_without_sequences(&self, at: u64, cell: u16, number: u64) {
        let place = Place::Count { cell };
        self.add_portably(at, place, number, |_| self.add_slowly(at, place, number));
    }

    #[inline(never)]
    fn record_without_sequences(&self, at: u64, place: Place, number: u64) {
        self.add_portably(at, place, number, |_| self.add_slowly(at, place, number));
    }

    /// Counts a number in the live bucket, if `at` lies in it; else calls `refused`.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn add_per_core(&self, at: u64, place: Place, number: u64, refused: impl FnOnce(Refusal)) {
        // A header begins with what is live of it.
        let live: *const AtomicPtr<Live> = from_ref::<Link>(&self.current).cast();
        // SAFETY: `current` is never null, and a header that counts in a block is not made into
        // another bucket before it was silent (see `close`); one that does not has no reach,
        // whatever it is made into.
        unsafe {
            match place {
                Place::Count { cell } => per_core::add_live(live, at, cell.into(), number, refused),
                Place::Value { pair, extremes } => {
                    let places = (pair.into(), extremes.into());
                    per_core::record_live(live, at, places, number, refused);
                }
            }
        }
    }

    /// As [`add_per_core`](Self::add_per_core), portably.
    #[inline(always)]
    #[allow(clippy::inline_always)] // its callers are the two ways to be called
    fn add_portably(&self, at: u64, place: Place, number: u64, refused: impl FnOnce(Refusal)) {
        let guard = reclaim::pin();
        // SAFETY: never null. Not held: as in `add_per_core`, with the pin in place of the
        // sequence.
        let header = unsafe { &*self.current.load(Ordering::Acquire) };
        if header.live.reaches(at) {
            header.check();
            let column = NonNull::new(header.live.column.load(Ordering::Relaxed));
            // SAFETY: a portable block's word is its first column, and there is one within reach.
            let column = unsafe { Column::new(column.unwrap_unchecked()) };
            Update::new(place, number).put(&column);
        } else {
            drop(guard);
            refused(Refusal::Elsewhere);
        }
    }

    // Not given the `Update` of the fast path, which would have to be put into memory for it.
    #[cold]
    fn add_slowly(&self, at: u64, place: Place, number: u64) {
        let update = Update::new(place, number);
        if self.add_in_ring(at, update).is_err() {
            update.put(&*self.late);
        }
    }

    /// Counts `update` in the bucket of `at`; nowhere if that has left the ring.
    ///
    /// Each time round, the ring has moved on: either `at` is in the present bucket by then, or
    /// older.
    pub(crate) fn add_in_ring(&self, at: u64, update: Update) -> Result<(), Gone> {
        loop {
            let refusal = self.add_live(at, update);
            if refusal.is_none() {
                return Ok(());
            }
            let guard = reclaim::pin();
            let current = self.hold_current();
            // SAFETY: of a header that is current under the guard.
            let geometry = unsafe { current.generation(&guard).deref() }.geometry();
            let start = geometry.start_of(at);
            if start < current.start() {
                return self.add_back_dated(&current, start, update, &guard);
            }
            if start == current.start() {
                // Through its block, if the ring has only just come to this bucket.
                if refusal != Some(Refusal::Elsewhere) || current.block().is_none() {
                    self.put_shared(&current, update);
                    return Ok(());
                }
                continue;
            }
            let moved = self.rotate(&current, at, &guard);
            drop((current, guard));
            if moved {
                self.settle();
            }
        }
    }

    /// Counts `update` through the live bucket's block. Says why not, if it has not.
    fn add_live(&self, at: u64, update: Update) -> Option<Refusal> {
        let Update { place, number } = update;
        let per_core = self.strategy == Strategy::PerCore;
        again(|refused| {
            let because = |why| refused.set(Some(why));
            if per_core {
                self.add_per_core(at, place, number, because);
            } else {
                self.add_portably(at, place, number, because);
            }
        })
    }

    /// Counts `update` in the bucket at `start`, older than `current`.
    ///
    /// `current` never goes back, so nobody can make that bucket current any more; and if it ever
    /// was, it was in its slot before `current` could be loaded. What we do not find there we may
    /// put there.
    fn add_back_dated(
        &self,
        current: &Held<'_>,
        start: u64,
        update: Update,
        guard: &Guard,
    ) -> Result<(), Gone> {
        let of = current.generation(guard);
        // SAFETY: of a header that was current under the guard.
        let slots = &unsafe { of.deref() }.slots;
        let geometry = slots.geometry;
        if !geometry.in_ring(start, current.start()) {
            return Err(Gone { oldest: geometry.oldest(current.start()) });
        }
        loop {
            // SAFETY: the window lives as long as `self`.
            let seen = unsafe { slots.held(start) };
            match &seen {
                Some(header) if header.start() == start => {
                    self.put_shared(header, update);
                    return Ok(());
                }
                // A whole round has passed since `current` was loaded.
                Some(newer) if newer.start() > start => {
                    return Err(Gone { oldest: geometry.oldest(newer.start()) });
                }
                _ => {
                    let new = self.unstriped.take();
                    new.make(of, start, header::CLOSED);
                    if !slots.replace(start, seen.as_ref(), new) {
                        new.let_go(); // it will never be in a slot
                    }
                }
            }
        }
    }

    /// Counts `update` in a header's shared cells.
    fn put_shared(&self, header: &Held<'_>, update: Update) {
        update.put(header.pairs());
        update.put(&*self.side);
    }

    /// The header of the newest bucket, held.
    fn hold_current(&self) -> Held<'_> {
        // SAFETY: headers live as long as the window. (The first load pairs with the Release that
        // made it current: we see the header, and the slot of every one before it.)
        unsafe { Held::by(&self.current) }.expect("there is always a newest bucket")
    }
}

/// Frees the generation; the slabs free the headers, and the blocks their columns.
impl Drop for Ring {
    fn drop(&mut self) {
        let guard = reclaim::pin();
        let current = self.hold_current();
        let generation = current.generation(&guard);
        // SAFETY: of the header that is current; `&mut self`: nobody else is in the window.
        let of = unsafe { generation.deref() };
        // Only while somebody is on the way is a header current and not yet in its slot.
        debug_assert!(
            of.slots.of(current.start()).load(Ordering::Relaxed)
                == from_ref(current.header()).cast_mut()
        );
        drop(current);
        debug_assert!(self.holds_are_accounted_for(of), "a hold was not let go, or twice");
        // SAFETY: as above, and nobody will follow the headers that refer to it.
        drop(unsafe { generation.into_owned() });
        let proposal = self.proposal.load(Ordering::Relaxed, &guard);
        if !proposal.is_null() {
            // SAFETY: as above. (Whoever proposed it has never come back to withdraw it.)
            drop(unsafe { proposal.into_owned() });
        }
    }
}

impl Ring {
    /// Whether each header is held by the slots and blocks that link to it, and by nothing else.
    fn holds_are_accounted_for(&self, generation: &Generation) -> bool {
        let slots = generation.all_slots().flat_map(|slots| slots.links());
        let mut links = HashMap::new();
        for link in slots.chain(self.blocks.iter().map(|block| &block.owner)) {
            *links.entry(link.load(Ordering::Relaxed).cast_const()).or_insert(0) += 1;
        }
        self.striped.headers().chain(self.unstriped.headers()).all(|header| {
            let linked = links.get(&from_ref(header)).copied().unwrap_or(0);
            header.holds.load(Ordering::Relaxed) == linked
        })
    }
}
