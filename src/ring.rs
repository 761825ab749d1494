//! A window's ring of buckets: what it is made of, and the rules that its parts keep.
//!
//! `docs/design.md` ("A window") has a drawing of it, and explains it.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | bucket | one slice of time. Its memory is *reused* for a later slice; its *version* tells which |
//! | live | the bucket that `current` leads to: the newest |
//! | block | a set of columns, a cell for each core, through which the live bucket's adds go |
//! | shared cells | a bucket's own cells, one set for all cores, for adds that cannot go through a block |
//! | retired | no longer current, for ever |
//! | quiescent | retired, and no thread can be adding through its block any more |
//! | closed | quiescent, and its totals are written: final, but for back-dated adds |
//! | back-dated | of an add: its time lies in a bucket older than the live one |
//! | late | of an add: its bucket has left the ring |
//! | slot | the place in the ring of all starts that are a whole number of rounds apart |
//! | generation | the ring from one change of geometry to the next: a geometry and its slots |
//! | inherited | slots of an earlier generation, whose buckets still count |
//! | prefix | what all buckets before a bucket's interval have counted through blocks |
//! | touched | of an interval: it has a bucket whose shared cells were added to |
//! | tier, coarse | a ring of longer buckets that reaches further back; of it |
//! | note | what all buckets before a coarse bucket have counted through blocks |
//! | missed | of a coarse bucket: it has no note, and a bucket that lies in it is retired |
//! | carried | numbers of earlier generations, added up when no thread could change them any more |
//!
//! # The rules
//!
//! 1. *A block is reached only through `current`*, loaded in the sequence, behind the announcement or under the pin
//!    with which it is written. A thread that finds a bucket anywhere else adds to its shared cells. So a bucket becomes
//!    quiescent some time after it was retired: see `close`.
//! 2. *Current first, slot second, and into the slot before it is retired*: a thread that retires a
//!    bucket first makes sure that it is in its slot. So a start older than `current` that is not in
//!    its slot was never current, and never will be.
//! 3. *Numbers never move.* What was added stays in its block, or in its bucket's shared cells and
//!    `shared_total`, or in `late`, each of which only grows; totals are differences. So a read that sums
//!    them can neither miss a number on the move nor see it twice.
//! 4. *No thread waits.* A bucket that finds no free block counts in its shared cells: exact, slower.

use std::ptr::from_ref;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::clock::forks;
use crate::error::BuildError;
use crate::event::layout::BucketLayout;
use crate::reclaim::{self, Owned};
use crate::stripe::numbered::Numbered;
use crate::stripe::{self, Strategy, per_core};
use crate::sync::{AtomicU64, Ordering};

// From the ground up: each room uses those before it.
mod cells;
mod order;
mod store;

mod coordination;

mod turn;
mod write;

mod read;

#[cfg(loom)]
#[allow(clippy::missing_panics_doc)] // its callers are models
pub mod parts;

use cells::zeroed;
use coordination::closer::{Closer, MembarrierLock};
use coordination::cursor::Cursor;
use coordination::proposal::Proposal;
use order::bucket::{Bucket, Opening, Prefix};
use order::bucket_ref::{BucketPtr, BucketRef};
use order::generation::Generation;
pub(crate) use order::geometry::{Geometry, OutOfRing};
use order::slots::Slots;
use order::slots::Touched;
pub(crate) use read::span::Span;
pub(crate) use read::tier_view::{Coarse, TierSpan};
pub(crate) use read::view::{BucketData, View};
use store::Store;
use store::block::Block;
pub(crate) use write::add::RingAndClock;

/// The buckets of a window.
#[derive(Debug)]
pub(crate) struct Ring {
    /// The newest bucket; never null. Padded, because every add reads it.
    current: CachePadded<BucketPtr>,
    /// How this window's adds are kept from meeting.
    strategy: Strategy,
    /// Whether they are per core, by concurrency id.
    is_by_id: bool,
    store: Store,
    /// What no block has: a copy of every add to a bucket's shared cells, and the extremes of
    /// closed buckets, which their blocks have forgotten.
    shared_total: Box<[AtomicU64]>,
    /// Adds whose bucket had left the ring.
    late: Box<[AtomicU64]>,
    /// Whether the interval has a bucket whose shared cells were added to.
    touched: Touched,
    /// The tiers: rings of coarser buckets, each with longer ones than the one before.
    coarse: Box<[Geometry]>,
    /// How far ahead of the newest bucket an add may open one, in nanoseconds.
    max_lead: u64,
    /// Which closed buckets were handed out.
    cursor: Cursor,
    membarrier_lock: MembarrierLock,
    closer: Closer,
    proposal: Proposal,
}

impl Ring {
    /// A ring whose newest bucket is the one that contains `now`, and its tiers, which
    /// [fit](Geometry::check_tier).
    pub(crate) fn new(
        geometry: Geometry,
        tiers: Vec<Geometry>,
        layout: BucketLayout,
        now: u64,
    ) -> Result<Ring, BuildError> {
        let strategy = stripe::of_windows(); // columns are claimed below, which needs a decision
        forks::watch(); // for the lock, and the closer
        let generation = Generation::first(geometry, &tiers)?;
        let slots = Arc::clone(&generation.slots);
        let coarse = tiers.iter().map(|tier| tier.buckets().saturating_add(2));
        let coarse = coarse.fold(0, usize::saturating_add);
        let store = Store::new(layout, strategy, geometry.buckets(), coarse);
        let guard = reclaim::pin();
        let generation = Owned::new(generation).into_shared(&guard);
        let of_nothing = |first: &Bucket, _: &Block| first.set_prefix(Prefix::Known); // zeros
        let start = geometry.start_of(now);
        let first = store.open(&Opening::first(generation, start), of_nothing);
        slots.install(first);
        let current = CachePadded::new(BucketPtr::new(from_ref(first).cast_mut()));
        drop(guard);
        Ok(Ring {
            current,
            strategy,
            is_by_id: strategy == Strategy::PerCore && per_core::numbered() == Numbered::ById,
            store,
            shared_total: zeroed(layout.cells()),
            late: zeroed(layout.cells()),
            touched: Touched::default(),
            coarse: tiers.into_boxed_slice(),
            max_lead: u64::MAX,
            cursor: Cursor::default(),
            membarrier_lock: MembarrierLock::new(),
            closer: Closer::default(),
            proposal: Proposal::none(),
        })
    }

    /// The same, which follows an add so far ahead of its newest bucket.
    pub(crate) fn with_max_lead(mut self, max_lead: u64) -> Ring {
        self.max_lead = max_lead;
        self
    }

    /// How adds are kept from meeting.
    pub(crate) fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Whether adds are per core, by concurrency id.
    pub(crate) fn is_by_id(&self) -> bool {
        self.is_by_id
    }

    /// Whether the newest bucket counts in a block.
    pub(crate) fn is_striped(&self) -> bool {
        self.acquire_current().block().is_some()
    }

    /// What leads to the newest bucket.
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address
    fn current(&self) -> &BucketPtr {
        &self.current
    }

    /// A reference to the newest bucket.
    fn acquire_current(&self) -> BucketRef<'_> {
        // SAFETY: buckets live as long as the window. (The first load pairs with the Release that
        // made it current: we see the bucket, and the slot of every one before it.)
        unsafe { BucketRef::acquire(self.current()) }.expect("there is always a newest bucket")
    }

    /// Makes `new` current in place of `old`, which is in its slot. False if `old` is no longer
    /// current: then `new` is given up.
    fn replace_current(&self, old: &BucketRef<'_>, new: &Bucket, slots: &Slots) -> bool {
        // We need a reference too: once it is current, others may put it into its slot, and move
        // on.
        let new = BucketRef::to(new);
        let (from, to) = (from_ref(old.bucket()).cast_mut(), from_ref(new.bucket()).cast_mut());
        // Release: publishes the bucket, and that the one before is in its slot. On failure,
        // Relaxed: the caller loads `current` again.
        let moved =
            self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();
        if moved {
            slots.install(&new);
        } else {
            self.store.discard(&new);
        }
        moved
    }
}

/// Frees the generation; the store frees the buckets and the columns.
impl Drop for Ring {
    fn drop(&mut self) {
        let guard = reclaim::pin();
        let current = self.acquire_current();
        let generation = current.generation(&guard);
        // SAFETY: of the bucket that is current; `&mut self`: no other thread is in the window.
        let of = unsafe { generation.deref() };
        // In a forked child, threads of the parent's may have stopped in the middle of anything.
        let is_forked = forks::process() > 1;
        // Only in the middle of a rotation is a bucket current and not yet in its slot.
        debug_assert!(is_forked || of.slots.has(&current));
        drop(current);
        debug_assert!(
            is_forked || self.references_are_accounted_for(of),
            "a reference was not released, or twice"
        );
        // SAFETY: as above, and no thread follows the buckets that refer to it.
        drop(unsafe { generation.into_owned() });
    }
}

impl Ring {
    /// Whether each bucket is referred to by the slots and blocks that lead to it, and by nothing
    /// else.
    fn references_are_accounted_for(&self, generation: &Generation) -> bool {
        let tiers = generation.tiers.iter().map(|tier| &tier.slots);
        let slots = generation.all_slots().chain(tiers);
        self.store.references_are_accounted_for(slots.flat_map(|slots| self.buckets(slots)))
    }
}
