//! A bucket: one slice of time, its state, and what it counts outside a block.

use std::slice::from_raw_parts;

use crate::event::layout::BucketLayout;
use crate::reclaim::{Atomic, Guard, Shared};
use crate::ring::cells::Unit;
use crate::ring::cells::wide::{self, Wide};
use crate::ring::cells::{BucketCell, Cells};
use crate::ring::order::bucket_ref::RefCount;
use crate::ring::order::generation::Generation;
use crate::ring::order::opening::Opening;
use crate::ring::order::ticket::Ticket;
use crate::stripe::live_bucket::LiveBucket;
use crate::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering, Witness, fence};

/// Adds may still go through its block.
pub(in crate::ring) const OPEN: u64 = 0;
/// Its totals are final, and its block is given back.
pub(in crate::ring) const CLOSED: u64 = 1;
/// A thread is writing its totals.
const CLOSING: u64 = 2;
/// Its memory is being initialised for a new slice of time.
const INIT: u64 = 4;
/// A coarse bucket has no prefix, although one of its finer buckets was retired (see `prefix`).
const MISSED: u64 = 8;
/// A coarse bucket has its prefix (see `prefix`). It shares the bit of `CLOSED`, since no coarse
/// bucket is ever closed.
const HAS_PREFIX: u64 = CLOSED;
/// The bits of an identity that are the state; the others are the version.
const STATE: u64 = 15;

/// In place of the number of a block: the bucket has none.
const NO_BLOCK: u8 = u8::MAX;

/// An open bucket's state of the prefix of its interval's beginning (see `prefix`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(in crate::ring) enum Prefix {
    /// The prefix is not known.
    Unknown,
    /// The totals are the prefix, until the bucket is closed.
    Known,
    /// No prefix is needed: no other bucket of the interval has counted through a block.
    Alone,
}

/// The state of a coarse bucket's prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ring) enum CoarsePrefix {
    /// It has none, and none of its finer buckets was retired.
    Absent,
    /// It has none, and one of its finer buckets was retired.
    Missed,
    /// It has its prefix.
    Published,
}

/// One slice of time. Its start, length, generation and block never change while any thread may be
/// counting in it.
///
/// # States
///
/// `INIT -> OPEN -> CLOSING -> CLOSED`. CLOSING is a claim: its holder alone writes the totals, and
/// does so at once.
///
/// A coarse bucket is never closed. The same bit says that it has its prefix: `OPEN -> HAS_PREFIX`,
/// or `OPEN -> MISSED -> HAS_PREFIX`.
///
/// # Reuse
///
/// A bucket's memory lives as long as the window (see `slab`), and serves one slice of time after
/// another. Its [`RefCount`] says whether it is free. Its *version* tells readers, which hold no
/// reference, whether it was reused while they were reading.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Bucket {
    /// The part that adds follow without a reference. First, so that a pointer to the bucket leads
    /// to it.
    pub(in crate::ring) live: LiveBucket,
    pub(in crate::ring) references: RefCount,
    /// Version and state: one word, because a read of many buckets needs both of each.
    identity: AtomicU64,
    /// The address at which the cell of position zero would stand. (Wide cells stand elsewhere.)
    cells: *const BucketCell,
    /// The number of the block.
    block: AtomicU8,
    /// A [`Prefix`].
    prefix: AtomicU8,
    /// The number of the slot.
    slot: AtomicU32,
    /// The number of the generation; or of the level of a tier.
    pub(super) number: AtomicU64,
    /// The generation. Follow it only if the bucket was current under the guard: the generation is
    /// retired when a bucket of the next one becomes current.
    generation: Atomic<Generation>,
    /// The first grace period or barrier after which no thread adds through the block.
    ticket: Ticket,
    witness: Witness,
}

// SAFETY: all fields are atomics, or never change.
unsafe impl Send for Bucket {}
// SAFETY: as above.
unsafe impl Sync for Bucket {}

impl Bucket {
    /// Makes a free bucket.
    ///
    /// # Safety
    /// `units` are those of a bucket of this layout. They live as long as the bucket, and belong
    /// to it alone.
    pub(in crate::ring) unsafe fn new(units: *const Unit, layout: BucketLayout) -> Bucket {
        // SAFETY: the groups come first.
        let dense = unsafe { units.add(wide::groups(layout)) };
        let cells = dense.cast::<BucketCell>().wrapping_sub(layout.wide());
        Bucket {
            live: LiveBucket::empty(),
            references: RefCount::free(),
            identity: AtomicU64::new(CLOSED),
            cells,
            block: AtomicU8::new(NO_BLOCK),
            prefix: AtomicU8::new(Prefix::Unknown as u8),
            slot: AtomicU32::new(0),
            number: AtomicU64::new(0),
            generation: Atomic::null(),
            ticket: Ticket::default(),
            witness: Witness::new(),
        }
    }

    /// Begins to initialise a free bucket, which the caller has just taken. Adds do not reach it
    /// before it has a [block](Self::attach_block). The caller calls [`end_init`](Self::end_init)
    /// before it publishes the bucket.
    ///
    /// # Safety
    /// The layout is the bucket's.
    pub(in crate::ring) unsafe fn begin_init(&self, layout: BucketLayout, opening: &Opening<'_>) {
        // No thread acts on a free bucket; but a thread that came across it earlier may be reading
        // it. INIT first: the fence pairs with the one in `identity_after`. A reader that sees any
        // of the later stores then sees that the version has changed. (Boehm, "Can seqlocks get
        // along with programming language memory models?", 2012.)
        let version = (self.identity.load(Ordering::Relaxed) & !STATE) + (STATE + 1);
        // Release: a reader that finds the bucket here sees what became of it before: pairs with
        // the fence in `open_extreme`.
        self.identity.store(version | INIT, Ordering::Release);
        fence(Ordering::Release);
        self.witness.renew();
        self.live.start.store(opening.start, Ordering::Relaxed);
        self.live.span.store(0, Ordering::Relaxed);
        self.block.store(NO_BLOCK, Ordering::Relaxed);
        self.prefix.store(Prefix::Unknown as u8, Ordering::Relaxed);
        let slot = opening.slots.geometry.slot_of(opening.start);
        self.slot.store(slot as u32, Ordering::Relaxed); // no ring has more (`Slots::new`)
        self.number.store(opening.number, Ordering::Relaxed);
        self.generation.store(opening.generation, Ordering::Relaxed);
        self.ticket.clear();
        // SAFETY: by contract.
        let cells = unsafe { self.cells(layout) };
        for cell in cells.dense {
            cell.clear();
        }
        // The groups that exist: a thread that attached one had a reference, and released it since.
        cells.wide.iter().for_each(Wide::clear);
    }

    /// Ends the initialisation. The block must be certain by then: a reader that came across this
    /// bucket earlier may find a pointer to it where it was, and then relies on the version alone.
    pub(in crate::ring) fn end_init(&self, state: u64) {
        self.set_state(state);
    }

    /// Claims the bucket for closing. Returns false if it is not open.
    pub(in crate::ring) fn claim(&self) -> bool {
        // Acquire: pairs with the Release in `end_init`. The totals stand where the thread that has
        // opened the bucket has written its prefix; and no pointer has published a bucket that was
        // given up.
        self.try_set_state(CLOSING, Ordering::Acquire)
    }

    /// Ends the claim: the totals are written.
    pub(in crate::ring) fn close(&self) {
        self.set_state(CLOSED);
    }

    /// Closes a bucket that never was current, without totals. Returns false if it is not open.
    pub(in crate::ring) fn cancel(&self) -> bool {
        self.try_set_state(CLOSED, Ordering::Relaxed) // this thread has opened it
    }

    /// Publishes the prefix of a coarse bucket, which is written (see `prefix`). Idempotent: all
    /// threads write the same prefix.
    pub(in crate::ring) fn publish_prefix(&self) {
        let version = self.identity.load(Ordering::Relaxed) & !STATE;
        // Release: publishes the prefix; pairs with the Acquire in `identity`. Relaxed on failure:
        // another thread was faster, or has missed it.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        for state in [OPEN, MISSED] {
            let _ = self.identity.compare_exchange(
                version | state,
                version | HAS_PREFIX,
                order,
                failed,
            );
        }
    }

    /// Says that a finer bucket of this coarse one is about to be retired, and that this one has no
    /// prefix. Idempotent.
    pub(in crate::ring) fn miss_prefix(&self) {
        // Relaxed: published with the bucket that replaces the retired one.
        let _ = self.try_set_state(MISSED, Ordering::Relaxed);
    }

    /// Returns what a coarse bucket says of its prefix, by one load: it could change between two.
    pub(in crate::ring) fn coarse_prefix(&self) -> CoarsePrefix {
        match self.identity() & (HAS_PREFIX | MISSED) {
            0 => CoarsePrefix::Absent,
            HAS_PREFIX => CoarsePrefix::Published,
            _ => CoarsePrefix::Missed,
        }
    }

    /// Returns whether a coarse bucket has its prefix.
    pub(in crate::ring) fn has_prefix(&self) -> bool {
        self.identity() & HAS_PREFIX != 0
    }

    /// Changes the state from OPEN to another. The caller holds a reference: the version stays.
    fn try_set_state(&self, state: u64, order: Ordering) -> bool {
        // Relaxed, both: the exchange decides. It publishes nothing.
        let (open, failed) = (self.identity.load(Ordering::Relaxed), Ordering::Relaxed);
        open & STATE == OPEN
            && self.identity.compare_exchange(open, open | state, order, failed).is_ok()
    }

    /// Changes the state. The caller initialises the bucket, or holds the CLOSING claim: no other
    /// thread changes the state.
    fn set_state(&self, state: u64) {
        let version = self.identity.load(Ordering::Relaxed) & !STATE;
        // Release: publishes the initialisation, or the totals; pairs with the Acquire in
        // `identity`. A reader of a version reads nothing older than that version.
        self.identity.store(version | state, Ordering::Release);
    }

    /// Returns the first grace period or barrier after which no thread adds through the block. The
    /// caller has seen the bucket retired.
    pub(in crate::ring) fn ticket_or(&self, take: impl FnOnce() -> u64) -> u64 {
        self.ticket.get_or(take)
    }

    /// Attaches a block whose first column is `word`, and counts the reference that the block will
    /// be. The caller is about to make the bucket the owner of the block.
    pub(in crate::ring) fn attach_block(&self, index: usize, word: *mut AtomicU64, length: u64) {
        // Relaxed, all: published with the bucket.
        self.block.store(index as u8, Ordering::Relaxed);
        self.live.column.store(word, Ordering::Relaxed);
        self.live.span.store(length, Ordering::Relaxed);
        self.references.retain();
    }

    /// Undoes [`attach_block`](Self::attach_block): another bucket has taken the block first.
    pub(in crate::ring) fn detach_block(&self) {
        self.references.forget();
        self.live.span.store(0, Ordering::Relaxed);
        self.block.store(NO_BLOCK, Ordering::Relaxed);
    }

    /// Returns the start of the slice.
    #[inline]
    pub(in crate::ring) fn start(&self) -> u64 {
        self.live.start()
    }

    /// Returns the number of the slot that the bucket is in, or will be put into.
    #[inline]
    pub(in crate::ring) fn slot(&self) -> usize {
        self.slot.load(Ordering::Relaxed) as usize
    }

    /// Returns the number of the block that the bucket counts in, or has counted in.
    #[inline]
    pub(in crate::ring) fn block(&self) -> Option<usize> {
        let index = self.block.load(Ordering::Relaxed); // published with the bucket
        (index != NO_BLOCK).then_some(index.into())
    }

    /// Returns what the bucket says of its prefix while it is open.
    #[inline]
    pub(in crate::ring) fn prefix(&self) -> Prefix {
        // Relaxed: written before the version was published, which the caller has seen.
        match self.prefix.load(Ordering::Relaxed) {
            known if known == Prefix::Known as u8 => Prefix::Known,
            alone if alone == Prefix::Alone as u8 => Prefix::Alone,
            _ => Prefix::Unknown,
        }
    }

    /// Says what is known of the prefix. Called by the thread that initialises the bucket, which
    /// has written the prefix if there is one.
    pub(in crate::ring) fn set_prefix(&self, prefix: Prefix) {
        self.prefix.store(prefix as u8, Ordering::Relaxed); // published with the bucket
    }

    /// Returns the generation of a bucket that was current under the guard.
    #[inline]
    pub(in crate::ring) fn generation<'g>(&self, guard: &'g Guard) -> Shared<'g, Generation> {
        // Relaxed: written before the bucket was published.
        self.generation.load(Ordering::Relaxed, guard)
    }

    /// Checks, in models, that the initialisation happened before.
    #[inline]
    pub(in crate::ring) fn check(&self) {
        self.witness.check();
    }

    /// Returns the rank: generation, then start. Buckets become current in the order of their
    /// ranks.
    pub(in crate::ring) fn rank(&self) -> (u64, u64) {
        (self.number.load(Ordering::Relaxed), self.start())
    }

    /// Returns the version; `None` while the bucket is being initialised.
    #[inline]
    pub(super) fn version(&self) -> Option<u64> {
        let identity = self.identity();
        (identity & INIT == 0).then_some(identity & !STATE)
    }

    /// Returns whether all that was read since [`version`](Self::version) belongs to that version.
    #[inline]
    pub(super) fn has_version(&self, version: u64) -> bool {
        self.identity_after() & !STATE == version
    }

    /// Returns version and state.
    #[inline]
    pub(in crate::ring) fn identity(&self) -> u64 {
        // Acquire: pairs with the Release in `set_state`. A reader that sees CLOSED sees the
        // totals.
        self.identity.load(Ordering::Acquire)
    }

    /// Returns version and state, behind all that was read before.
    #[inline]
    pub(in crate::ring) fn identity_after(&self) -> u64 {
        // Pairs with the fence in `begin_init`.
        fence(Ordering::Acquire);
        self.identity.load(Ordering::Relaxed)
    }

    #[inline]
    pub(in crate::ring) fn is_closed(&self) -> bool {
        self.identity() & CLOSED != 0
    }

    /// Returns whether only back-dated adds can change the bucket's numbers. The caller has seen it
    /// retired.
    ///
    /// A bucket without a block counts in its shared cells. There, an add that is not back-dated
    /// comes from a thread that has found the bucket current, and has registered as its adder.
    pub(in crate::ring) fn is_final(&self) -> bool {
        self.is_closed() || (self.block().is_none() && !self.references.has_adders())
    }

    /// Returns the cells, by position.
    ///
    /// # Safety
    /// The layout is the bucket's.
    #[inline]
    pub(in crate::ring) unsafe fn cells(&self, layout: BucketLayout) -> Cells<'_> {
        let (first, groups) = (self.cells.wrapping_add(layout.wide()), wide::groups(layout));
        // SAFETY: by contract, and that of `new`: the groups stand before the first cell that is
        // not wide.
        unsafe {
            let wide = from_raw_parts(first.cast::<Unit>().sub(groups).cast::<Wide>(), groups);
            let dense = from_raw_parts(first, layout.cells() - layout.wide());
            Cells { wide, dense, first: layout.wide() }
        }
    }

    /// Returns the cell at a position.
    ///
    /// # Safety
    /// The position is one of the layout's, and not wide.
    #[inline]
    pub(in crate::ring) unsafe fn cell(&self, position: usize) -> &BucketCell {
        // SAFETY: by contract.
        unsafe { &*self.cells.wrapping_add(position) }
    }
}
