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

use crate::clock::UNTOLD;
use crate::column::Column;
use crate::error::BuildError;
use crate::layout::{Place, Shape};
use crate::pages;
use crate::reclaim::{self, Guard, Owned};
use crate::stripe::again::{Refusal, Refused, again, note_abort, once};
use crate::stripe::live::Live;
use crate::stripe::{self, Strategy, barrier, per_core};
use crate::sync::{AtomicPtr, Ordering, sized};
use crate::timestamp::Timestamp;

mod block;
mod cells;
mod close;
mod drain;
mod generation;
mod geometry;
mod grace;
mod header;
mod hold;
#[cfg(loom)]
pub mod parts;
mod read;
mod reconfigure;
mod rotate;
mod scan;
mod slab;
mod slots;

use block::Block;
use cells::Update;
use cells::cells;
use close::Seat;
use drain::Cursor;
use generation::Generation;
pub(crate) use geometry::{Geometry, Outside};
use header::Link;
use hold::{Adder, Held};
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
    /// Who asks for barriers.
    seat: Seat,
}

/// What a ring is in, with a clock.
pub(crate) trait Around {
    fn ring(&self) -> &Ring;

    /// The time now, in nanoseconds.
    fn now(&self) -> u64;
}

impl Ring {
    /// A ring whose newest bucket is the one that contains `now`.
    pub(crate) fn new(geometry: Geometry, shape: Shape, now: u64) -> Result<Ring, BuildError> {
        // Columns are claimed below, which takes a decision. Without barriers sequences can never
        // be known to be over, and on some processors a record is not seen as one: then windows are
        // portable, while counters stay as they are.
        let strategy = match stripe::strategy() {
            Strategy::PerCore if per_core::pairs_are_whole() && barrier::available() => {
                Strategy::PerCore
            }
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
            seat: Seat::new(),
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

    /// Counts a number in the bucket of `at`, or of now if that is [untold](UNTOLD); in `late` if the bucket
    /// has left the ring.
    ///
    /// (Given what is around the ring, in place of the ring and its clock: that would be one thing more to
    /// carry along on the quick path, which needs no clock.)
    #[inline(always)]
    #[allow(clippy::inline_always)] // so that the place is a constant, as the event mostly is
    pub(crate) fn add(around: &impl Around, at: Timestamp, place: Place, number: u64) {
        let (ring, at) = (around.ring(), at.as_nanos());
        if ring.strategy == Strategy::PerCore {
            ring.add_per_core(at, place, number, |refusal| {
                if refusal == Refusal::Aborted {
                    note_abort();
                }
                Ring::add_when_told(around, at, place, number);
            });
        } else {
            Ring::add_without_sequences(around, at, place, number);
        }
    }

    /// As [`add`](Self::add), portably. Not inlined, because a pin is long; each kind of place by
    /// itself, because a `Count` then needs few registers, and stores that save them would wait before
    /// each locked instruction.
    #[inline]
    fn add_without_sequences(around: &impl Around, at: u64, place: Place, number: u64) {
        match place {
            Place::Count { cell } => Ring::count_without_sequences(around, at, cell, number),
            Place::Value { .. } => Ring::record_without_sequences(around, at, place, number),
        }
    }

    #[inline(never)]
    fn count_without_sequences(around: &impl Around, at: u64, cell: u16, number: u64) {
        let place = Place::Count { cell };
        let slowly = |_| Ring::add_when_told(around, at, place, number);
        around.ring().add_portably(at, place, number, slowly);
    }

    #[inline(never)]
    fn record_without_sequences(around: &impl Around, at: u64, place: Place, number: u64) {
        let slowly = |_| Ring::add_when_told(around, at, place, number);
        around.ring().add_portably(at, place, number, slowly);
    }

    /// As [`add`](Self::add), off the quick path.
    #[cold]
    #[inline(never)]
    fn add_when_told(around: &impl Around, at: u64, place: Place, number: u64) {
        let at = if at == UNTOLD.as_nanos() { around.now() } else { at };
        around.ring().add_slowly(at, place, number);
    }

    /// Counts a number in the live bucket, if `at` lies in it; else calls `refused`: also for a value
    /// beyond what this core's row has seen.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn add_per_core(&self, at: u64, place: Place, number: u64, refused: impl FnOnce(Refusal)) {
        let live = self.live();
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

    /// As [`add_per_core`](Self::add_per_core), of any value.
    fn add_any_per_core(&self, at: u64, place: Place, number: u64, refused: &Refused) {
        let because = |why| refused.set(Some(why));
        let Place::Value { pair, extremes } = place else {
            return self.add_per_core(at, place, number, because);
        };
        let (live, pair, extremes) = (self.live(), pair.into(), extremes.into());
        let pending = self.shape.pending(pair);
        // SAFETY: as in `add_per_core`; a block has a column for each pending value.
        unsafe {
            per_core::fold_live(live, at, (pair, extremes, pending), because);
            if refused.get().is_none() {
                per_core::record_pending(live, at, (pair, pending), number, because);
            }
        }
    }

    /// Where adds go; a header begins with what is live of it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address
    fn live(&self) -> *const AtomicPtr<Live> {
        from_ref::<Link>(&self.current).cast()
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
        if self.add_in_ring(at, None, update).is_err() {
            update.put(&*self.late);
        }
    }

    /// Counts a number in the bucket of `at`, if the clock's `now` admits that and the bucket is in the
    /// ring; nowhere else.
    pub(crate) fn add_at(
        &self,
        at: u64,
        now: u64,
        place: Place,
        number: u64,
    ) -> Result<(), Outside> {
        self.add_in_ring(at, Some(now), Update::new(place, number))
    }

    /// Counts `update` in the bucket of `at`; nowhere if that has left the ring, or is not admitted at
    /// `now`.
    ///
    /// Each time round, the ring has moved on: either `at` is in the present bucket by then, or
    /// older. What admits it is the geometry in which its bucket would be opened: in one of longer buckets
    /// a time may lie in the bucket of now which in this one is far ahead.
    fn add_in_ring(&self, at: u64, now: Option<u64>, update: Update) -> Result<(), Outside> {
        loop {
            let admitted_by = now.map(|now| {
                let (geometry, newest) = self.newest();
                geometry.admit(at, now, newest).map(|()| geometry)
            });
            let admitted_by = admitted_by.transpose()?;
            let refusal = self.add_live(at, update);
            if refusal.is_none() {
                return Ok(());
            }
            let guard = reclaim::pin();
            let current = self.hold_current();
            // SAFETY: of a header that is current under the guard.
            let geometry = unsafe { current.generation(&guard).deref() }.geometry();
            if admitted_by.is_some_and(|other| other != geometry) {
                continue;
            }
            let start = geometry.start_of(at);
            if start < current.start() {
                return self.add_back_dated(&current, start, update, &guard);
            }
            if start == current.start() {
                // Through its block, if the ring has only just come to this bucket.
                let has_way = refusal == Some(Refusal::Elsewhere) && current.block().is_some();
                if !has_way && self.put_live(&current, update) {
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
        let sequence = |refused: &Refused| {
            if per_core {
                self.add_any_per_core(at, place, number, refused);
            } else {
                self.add_portably(at, place, number, |why| refused.set(Some(why)));
            }
        };
        // A value is mostly here because it lies beyond what its row has seen: it was not tried like this.
        let first = match place {
            Place::Value { .. } => once(sequence),
            Place::Count { .. } => Some(Refusal::Aborted),
        };
        if first == Some(Refusal::Aborted) { again(sequence) } else { first }
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
    ) -> Result<(), Outside> {
        let of = current.generation(guard);
        // SAFETY: of a header that was current under the guard.
        let slots = &unsafe { of.deref() }.slots;
        let geometry = slots.geometry;
        if !geometry.in_ring(start, current.start()) {
            return Err(Outside::Before { oldest: geometry.oldest(current.start()) });
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
                    return Err(Outside::Before { oldest: geometry.oldest(newer.start()) });
                }
                _ => {
                    let new = self.unstriped.take();
                    new.make(of, start);
                    new.made(header::CLOSED);
                    if !slots.replace(start, seen.as_ref(), new) {
                        new.let_go(); // it will never be in a slot
                    }
                }
            }
        }
    }

    /// Counts `update` in the shared cells of a header that is current; not if it no longer is. Nobody
    /// calls the bucket closed before that is done.
    fn put_live(&self, current: &Held<'_>, update: Update) -> bool {
        let adder = Adder::of(current, &self.current);
        if adder.is_some() {
            self.put_shared(current, update);
        }
        adder.is_some()
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
