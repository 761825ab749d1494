//! A window's ring of buckets: its parts, and the rules that they keep.
//!
//! `docs/design/windows.md` ("A window") draws and explains it.
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | bucket | one slice of time |
//! | reused | of a bucket's memory: for a later slice, which its *version* tells |
//! | start | the time at which a bucket begins: a whole multiple of the bucket's length |
//! | current | the pointer to the newest bucket, and that bucket |
//! | live | the same bucket, as a read or an add has found it |
//! | block | a set of columns (a cell for each core) through which adds to the live bucket go |
//! | shared cells | a bucket's own cells, one set for all cores, for adds that use no block |
//! | retired | no longer current; a retired bucket never becomes current again |
//! | quiescent | retired, and no thread can be adding through its block any more |
//! | closed | quiescent, with its totals written: only back-dated adds can still change it |
//! | back-dated | of an add: its time lies in a bucket older than the live one |
//! | late | of an add: its bucket has left the ring |
//! | slot | the place of all starts that are a whole number of rounds of the ring apart |
//! | generation | the ring from one change of geometry to the next: a geometry and its slots |
//! | inherited | slots of an earlier generation whose buckets still count |
//! | carried | numbers of earlier generations, added up once no thread could change them |
//! | boundary | the beginning of an interval, or of a coarse bucket |
//! | prefix | of a boundary: what all buckets before it have counted through blocks |
//! | touched | of an interval: shared cells of one of its buckets were added to |
//! | tier | a ring of longer, *coarse* buckets, which reaches further back |
//! | level | of a tier: a ring of slices of one length, its coarse buckets or longer ones |
//! | missed | of a coarse bucket: one of its finer buckets was retired before its prefix was written |
//!
//! # The rules
//!
//! 1. *A block is reached only through `current`*, loaded in the sequence, behind the announcement
//!    or under the pin with which the block is written. A thread that finds a bucket anywhere else
//!    adds to its shared cells. So a bucket becomes quiescent some time after it was retired: see
//!    `close`.
//! 2. *Current first, slot second, and into the slot before it is retired*: a thread that retires a
//!    bucket first makes sure that the bucket is in its slot. So a start that is older than
//!    `current` and not in its slot was never current, and never will be.
//! 3. *Numbers never move.* What was added stays in its block, or in its bucket's shared cells and
//!    `shared_total`, or in `late`. Each of these only grows; totals are differences. So a read
//!    that sums them can neither miss a number on the move nor see it twice.
//! 4. *No thread waits.* A bucket that finds no free block counts in its shared cells, which is
//!    exact and slower.

use std::mem::ManuallyDrop;
use std::ptr::from_ref;
use std::sync::Arc;

use crate::clock::forks;
use crate::error::BuildError;
use crate::event::layout::BucketLayout;
use crate::reclaim::{self, Guard, Owned};
use crate::stripe::live_bucket::Guess;
use crate::stripe::misses::MissCell;
use crate::stripe::{self, Strategy, per_core};
use crate::sync::Ordering;

// From the ground up: a room may use those above it. (`Ring` stands before `read`.)
mod cells;
mod order;
mod store;

mod coordination;

mod read;
mod turn;
mod write;

mod drain;

#[cfg(loom)]
#[allow(clippy::missing_panics_doc)] // its callers are models
pub mod parts;

use cells::Update;
use cells::side_numbers::Beside;
use coordination::closer::{Closer, MembarrierLock};
use coordination::cursor::Cursor;
use coordination::proposal::Proposal;
use coordination::shared_prefix::SharedPrefix;
use order::bucket::{Bucket, Prefix};
use order::bucket_ref::{BucketPtr, BucketRef};
use order::generation::Generation;
pub(crate) use order::geometry::{Geometry, OutOfRing};
use order::opening::Opening;
use order::slots::Slots;
use order::slots::Touched;
use order::tier::{Tier, Tiers};
pub(crate) use read::span::Span;
pub(crate) use read::tier_view::{Coarse, TierSpan};
pub(crate) use read::view::{BucketData, View};
use store::block::Block;
use store::{OfTier, Store};
pub(crate) use write::add::RingAndClock;

/// The buckets of a window. The fields stand in this order: `current`, which every add reads, among
/// those that never change, and after these those that threads write now and then. (`current` is
/// not the first: a sum would keep the ring's address in a register for it, five instructions.)
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Ring {
    /// The distance in nanoseconds that an add may open a bucket ahead of the newest one.
    max_lead: u64,
    /// The newest bucket; never null.
    current: BucketPtr,
    /// For adds in line, which alone use it.
    guess: Guess,
    /// The strategy by which adds of different cores avoid contention.
    strategy: Strategy,
    /// True if adds are per core, in line.
    is_in_line: bool,
    /// The numbers that no block holds: `shared_total`, and late adds.
    beside: Beside,
    /// The count of the shared cells of all buckets before the interval.
    shared_prefix: Box<SharedPrefix>,
    store: Store,
    /// The newest interval with a touched bucket.
    touched: Touched,
    /// The closed buckets that drains have handed out.
    cursor: Cursor,
    membarrier_lock: MembarrierLock,
    closer: Closer,
    proposal: Proposal<MakeChange>,
    /// The code for tiers, if the window has any.
    for_tiers: Option<&'static ForTiers>,
    /// The code for records, if the window has events of such kinds.
    for_records: Option<&'static ForRecords>,
}

/// The work of closing, and of adds that have missed, at the cells of all events but counts. A
/// window of counts alone does not lead to it.
#[derive(Debug)]
struct ForRecords {
    /// See [`View::scan_record`].
    scan: fn(&View<'_>, u64, usize, usize) -> u64,
    /// See [`Ring::write_wide_totals`].
    write_wide: fn(&Ring, &Block, &Bucket) -> bool,
    /// See [`Ring::write_extremes`].
    write_extremes: fn(&Ring, &Block, &Bucket, bool),
    /// See [`Ring::rebase_wide`].
    rebase_wide: fn(&Ring, &Block, &Bucket, bool),
    /// See [`Ring::add_any_per_core`].
    add_per_core: fn(&Ring, u64, Update, &MissCell),
}

static FOR_RECORDS: ForRecords = ForRecords {
    scan: |view, start, count, position| view.scan_record(start, count, position),
    write_wide: Ring::write_wide_totals,
    write_extremes: Ring::write_extremes,
    rebase_wide: Ring::rebase_wide,
    add_per_core: Ring::add_any_per_core,
};

/// The work of adds, rotations and closing in tiers. A window without tiers does not lead to it.
#[derive(Debug)]
struct ForTiers {
    /// Counts an add in each tier that reaches back to its time.
    put: fn(&Store, &[Tier], u64, u64, Update),
    /// See [`Ring::write_each_tier_prefix`].
    write_prefixes: fn(&Ring, &BucketRef<'_>, &Generation, bool),
    /// See [`Ring::raise_in_tiers`].
    raise: fn(&Ring, &[Tier], &Bucket),
}

static FOR_TIERS: ForTiers = ForTiers {
    put: Store::put_in_tiers,
    write_prefixes: Ring::write_each_tier_prefix,
    raise: Ring::raise_in_tiers,
};

/// Makes a change of geometry that was proposed: moves on from the current bucket to another
/// generation, with these slots. Returns false if another thread has moved on.
type MakeChange = fn(&Ring, &BucketRef<'_>, &Arc<Slots>, &Guard) -> bool;

impl Ring {
    /// Makes a ring whose newest bucket contains `now`, with tiers that
    /// [fit](Geometry::check_tier).
    #[inline]
    pub(crate) fn new(
        geometry: Geometry,
        tiers: Vec<Geometry>,
        layout: BucketLayout,
        now: u64,
    ) -> Result<Ring, BuildError> {
        if tiers.is_empty() {
            return Ring::without_tiers(geometry, layout, now);
        }
        let of_tiers = tiers.iter().copied().map(OfTier::new).collect();
        let tiers = Tiers::new(tiers.into_iter(), 0)?;
        let generation = Generation::first(Slots::new(geometry)?, tiers);
        let ring = Ring::of(generation, (of_tiers, Some(&FOR_TIERS)), layout, now);
        Ok(ring.with_records())
    }

    /// Makes a ring as [`new`](Self::new) does, without tiers. (A program whose windows are all
    /// made here does not contain the code for tiers.)
    pub(crate) fn without_tiers(
        geometry: Geometry,
        layout: BucketLayout,
        now: u64,
    ) -> Result<Ring, BuildError> {
        Ring::of_counts(geometry, layout, now).map(Ring::with_records)
    }

    /// Makes a ring as [`without_tiers`](Self::without_tiers) does, for a layout that
    /// [has counts alone](BucketLayout::has_counts_alone). (A program whose windows are all made
    /// here does not contain the code for the cells of other events.)
    pub(crate) fn of_counts(
        geometry: Geometry,
        layout: BucketLayout,
        now: u64,
    ) -> Result<Ring, BuildError> {
        let generation = Generation::first(Slots::new(geometry)?, Tiers::none());
        Ok(Ring::of(generation, (Box::default(), None), layout, now))
    }

    /// Lets the ring have cells of all events.
    fn with_records(mut self) -> Ring {
        self.for_records = Some(&FOR_RECORDS);
        self.store.number_of_value = Some(Store::number_of_value);
        self
    }

    /// Makes the ring of a first generation.
    ///
    /// A panic in here would leak what is made. So a program whose windows are all in statics,
    /// which are never dropped, does not contain the code that drops one.
    fn of(
        generation: Generation,
        (of_tiers, for_tiers): (Box<[OfTier]>, Option<&'static ForTiers>),
        layout: BucketLayout,
        now: u64,
    ) -> Ring {
        let (generation, of_tiers) = (ManuallyDrop::new(generation), ManuallyDrop::new(of_tiers));
        let strategy = stripe::of_windows(); // columns are claimed below, which needs a decision
        forks::watch(); // for the lock, and the closer
        let (geometry, slots) = (generation.geometry(), Arc::clone(&generation.slots));
        let of_tiers = ManuallyDrop::into_inner(of_tiers);
        let store = Store::new(layout, strategy, geometry.buckets(), of_tiers);
        let (store, slots) = (ManuallyDrop::new(store), ManuallyDrop::new(slots));
        let guard = reclaim::pin_apart();
        let generation = Box::write(Box::new_uninit(), ManuallyDrop::into_inner(generation));
        let generation = Owned::<Generation>::from(generation).into_shared(&guard);
        let of_nothing = |first: &Bucket, _: &Block| first.set_prefix(Prefix::Known); // zeros
        let start = geometry.start_of(now);
        let first = store.open(&Opening::first(generation, start), &of_nothing);
        slots.install(first);
        let current = BucketPtr::new(from_ref(first).cast_mut());
        drop(guard);
        drop(ManuallyDrop::into_inner(slots));
        let beside = ManuallyDrop::new(Beside::new(layout));
        let dense = layout.additive() - layout.wide();
        let shared_prefix = Box::new(SharedPrefix::new(dense));
        Ring {
            current,
            guess: Guess::default(),
            strategy,
            is_in_line: strategy == Strategy::PerCore && per_core::is_in_line(),
            touched: Touched::default(),
            shared_prefix,
            max_lead: u64::MAX,
            cursor: Cursor::default(),
            membarrier_lock: MembarrierLock::new(),
            closer: Closer::default(),
            proposal: Proposal::none(),
            for_tiers,
            for_records: None,
            // Last: nothing that may panic comes after these.
            store: ManuallyDrop::into_inner(store),
            beside: ManuallyDrop::into_inner(beside),
        }
    }

    /// Sets the greatest distance ahead of the newest bucket at which an add may open a bucket.
    pub(crate) fn with_max_lead(mut self, max_lead: u64) -> Ring {
        self.max_lead = max_lead;
        self
    }

    /// Returns the strategy by which adds of different cores avoid contention.
    pub(crate) fn strategy(&self) -> Strategy {
        self.strategy
    }

    /// Returns whether adds are per core, in line.
    pub(crate) fn is_in_line(&self) -> bool {
        self.is_in_line
    }

    /// Returns the pointer to the newest bucket.
    #[inline(always)]
    #[allow(clippy::inline_always)] // an address
    fn current(&self) -> &BucketPtr {
        &self.current
    }

    /// Returns a reference to the newest bucket.
    #[inline(never)] // its code once
    fn acquire_current(&self) -> BucketRef<'_> {
        // SAFETY: buckets live as long as the window. (`acquire` loads `current` by Acquire, which
        // pairs with the Release in `replace_current`. So this thread sees the bucket, and that
        // each earlier bucket was put into its slot.)
        unsafe { BucketRef::acquire(self.current()) }.expect("there is always a newest bucket")
    }

    /// Makes `new` current in place of `old`, which is in its slot. Returns false, and gives `new`
    /// up, if `old` is no longer current.
    #[inline]
    fn replace_current(&self, old: &BucketRef<'_>, new: &Bucket, slots: &Slots) -> bool {
        // This thread needs a reference too: once the bucket is current, others may put it into its
        // slot and move on.
        let new = BucketRef::to(new);
        let (from, to) = (from_ref(old.bucket()).cast_mut(), from_ref(new.bucket()).cast_mut());
        // Release: publishes the bucket, and that the one before is in its slot. On failure,
        // Relaxed: the caller loads `current` again.
        let moved =
            self.current.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed).is_ok();
        if moved {
            slots.install(&new);
            self.settle();
        } else {
            self.store.discard(&new);
        }
        moved
    }
}

/// Frees the generation; the store frees the buckets and the columns.
impl Drop for Ring {
    #[inline]
    fn drop(&mut self) {
        let guard = reclaim::pin_apart();
        let current = self.acquire_current();
        let generation = current.generation(&guard);
        // SAFETY: the generation is the current bucket's; `&mut self`: no other thread is in the
        // window.
        let of = unsafe { generation.deref() };
        // In a forked child, threads of the parent may have stopped in the middle of anything.
        let is_forked = forks::process() > 1;
        // A bucket is current and not yet in its slot only in the middle of a rotation.
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
    /// Returns whether each bucket has exactly the references of the slots and blocks that lead to
    /// it.
    #[inline]
    fn references_are_accounted_for(&self, generation: &Generation) -> bool {
        let slots = generation.all_slots().chain(generation.tiers.each_slots());
        self.store.references_are_accounted_for(slots.flat_map(|slots| self.buckets(slots)))
    }
}
