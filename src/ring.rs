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
//! One file for each thing that happens: counting in `add`, opening the next bucket in `rotate`, making
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
use std::ptr::{from_ref, null_mut};
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::error::BuildError;
use crate::layout::Shape;
use crate::pages;
use crate::reclaim::{self, Atomic, Owned};
use crate::stripe::{self, Strategy, barrier, per_core};
use crate::sync::{AtomicU32, Ordering, sized};

mod add;
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
#[cfg(loom)]
pub mod parts;
mod proposal;
mod read;
mod reconfigure;
mod rotate;
mod scan;
mod slab;
mod slots;

pub(crate) use add::Around;
use block::Block;
use cells::cells;
use close::Seat;
use cursor::Cursor;
use generation::Generation;
pub(crate) use geometry::{Geometry, Outside};
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
    /// Who asks for barriers.
    seat: Seat,
    /// The process in which a thread closes buckets that does nothing else; zero if there is none.
    closer: AtomicU32,
    /// A change of geometry that whoever moves on is asked to make.
    proposal: Atomic<Proposal>,
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
        #[cfg(not(any(loom, shuttle)))]
        crate::clock::forks::watch(); // for the seat, and whoever closes
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
            closer: AtomicU32::new(0),
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
            is_forked()
                || of.slots.of(current.start()).load(Ordering::Relaxed)
                    == from_ref(current.header()).cast_mut()
        );
        drop(current);
        debug_assert!(
            is_forked() || self.holds_are_accounted_for(of),
            "a hold was not let go, or twice"
        );
        // SAFETY: as above, and nobody will follow the headers that refer to it.
        drop(unsafe { generation.into_owned() });
        let proposal = self.proposal.load(Ordering::Relaxed, &guard);
        if !proposal.is_null() {
            // SAFETY: as above. (Whoever proposed it has never come back to withdraw it.)
            drop(unsafe { proposal.into_owned() });
        }
    }
}

/// Whether threads may stand still for ever in the middle of something: those of a parent's.
fn is_forked() -> bool {
    #[cfg(not(any(loom, shuttle)))]
    return crate::clock::forks::process() > 1;
    #[cfg(any(loom, shuttle))]
    return false;
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
