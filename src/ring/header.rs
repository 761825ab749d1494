//! A header: one bucket's identity.

use std::slice::from_raw_parts;

use crate::layout::Shape;
use crate::reclaim::{Atomic, Guard, Shared};
use crate::ring::Ring;
use crate::ring::block::Block;
use crate::ring::cells::Pair;
use crate::ring::generation::Generation;
use crate::stripe::live::Live;
use crate::sync::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, Witness, fence,
};

/// The bucket may still be added to through its block.
pub(super) const OPEN: u64 = 0;
/// Its totals are final; its block is another's.
pub(super) const CLOSED: u64 = 1;
/// A thread is writing its totals down.
const CLOSING: u64 = 2;
/// The header is being made into this bucket.
const MAKING: u64 = 4;
/// The bits of an identity that are a state; the others are the version.
const STATE: u64 = 7;

/// In place of the number of a block: it has none.
const UNSTRIPED: u8 = u8::MAX;

/// One bucket: where it begins and how long it is never changes, nor which generation of the ring
/// it belongs to, nor which block it counts in. It is never reset to stand for another bucket while
/// anybody may be counting in it.
///
/// # States
///
/// `MAKING -> OPEN -> CLOSING -> CLOSED`. CLOSING is a claim: its holder alone writes the totals, and
/// does so at once.
///
/// # Whose it is
///
/// A header's memory lives as long as the window (see `slab`), and is used for one bucket after
/// another. `holds` counts who may act on it: the slot that it is in or will be put into, the block
/// that it owns, and each thread that holds it ([`Held`](super::hold::Held)). With none left it is free. Its *version*
/// tells those who only read, and hold nothing, whether it has become another bucket meanwhile.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Header {
    /// What adds follow, without holding anything. First, so that a pointer to the header is one
    /// to it.
    pub(super) live: Live,
    pub(super) holds: AtomicUsize,
    /// Which bucket it is, of all that it ever was, and in which state that is. In one word, because
    /// a read of many buckets asks for both of each.
    identity: AtomicU64,
    /// What it holds at each position, in the slab.
    pairs: *const Pair,
    /// How many positions there are.
    width: u16,
    /// The block's number.
    block: AtomicU8,
    /// The number of the slot.
    slot: AtomicU32,
    /// The number of the generation.
    number: AtomicU64,
    /// The generation itself. To be followed only while, or if afterwards it turns out that, the
    /// header was current under the guard: the generation is retired when a header of the next one
    /// becomes current.
    generation: Atomic<Generation>,
    /// The first grace period or barrier that can silence it; zero until it was seen displaced.
    ticket: AtomicU64,
    witness: Witness,
}

// SAFETY: all of it is atomics, but for what never changes.
unsafe impl Send for Header {}
// SAFETY: as above.
unsafe impl Sync for Header {}

impl Header {
    /// A free header.
    ///
    /// # Safety
    /// `pairs` are as many as the shape has cells; they live as long as the header, and are nobody
    /// else's.
    pub(super) unsafe fn new(pairs: *const Pair, shape: Shape) -> Header {
        Header {
            live: Live::nowhere(),
            holds: AtomicUsize::new(0),
            identity: AtomicU64::new(CLOSED),
            pairs,
            block: AtomicU8::new(UNSTRIPED),
            width: u16::try_from(shape.cells()).expect("no more cells than columns in a row"),
            slot: AtomicU32::new(0),
            number: AtomicU64::new(0),
            generation: Atomic::null(),
            ticket: AtomicU64::new(0),
            witness: Witness::default(),
        }
    }

    /// Begins to make a free header, which the caller has just taken, into the bucket at `start`. It is
    /// not reachable through columns until it [counts in](Self::count_in) a block. The caller ends it by
    /// [`made`](Self::made), before the header is put where adds or readers find it.
    pub(super) fn make(&self, generation: Shared<'_, Generation>, start: u64) {
        // SAFETY: the caller is about to publish a header of this generation, or has loaded one
        // from `current` under its guard.
        let of = unsafe { generation.deref() };
        // Nobody acts on a free header; but somebody who has come across it earlier may be reading.
        // MAKING first: the fence pairs with the one in `identity_after`. Who reads any of the rest
        // then sees that it has changed. (Boehm, "Can seqlocks get along with programming language
        // memory models?", 2012.)
        let version = (self.identity.load(Ordering::Relaxed) & !STATE) + (STATE + 1);
        self.identity.store(version | MAKING, Ordering::Relaxed);
        fence(Ordering::Release);
        self.witness.renew();
        self.live.start.store(start, Ordering::Relaxed);
        self.live.reach.store(0, Ordering::Relaxed);
        self.block.store(UNSTRIPED, Ordering::Relaxed);
        let slot = of.geometry().slot_of(start) as u32; // no ring has more (`Slots::new`)
        self.slot.store(slot, Ordering::Relaxed);
        self.number.store(of.number, Ordering::Relaxed);
        self.generation.store(generation, Ordering::Relaxed);
        self.ticket.store(0, Ordering::Relaxed);
        for pair in self.pairs() {
            pair.total.store(0, Ordering::Relaxed);
            pair.shared.store(0, Ordering::Relaxed);
        }
    }

    /// The header is the bucket that it was being made into. Not before its block is settled: a reader
    /// that has come across this header earlier may find it linked where it was, and goes by the version
    /// alone.
    pub(super) fn made(&self, state: u64) {
        self.is_now(state);
    }

    /// Claims it, to close it; false if it is not open.
    pub(super) fn claim(&self) -> bool {
        self.becomes(CLOSING)
    }

    /// Ends the claim: it is closed, and its totals are written down.
    pub(super) fn close(&self) {
        self.is_now(CLOSED);
    }

    /// The first grace period or barrier that can silence it: the one noted, or else the one that `take`
    /// gives. For who has seen it displaced.
    pub(super) fn ticket_or(&self, take: impl FnOnce() -> u64) -> u64 {
        // Relaxed, all: a ticket is a number, right whoever took it. Who does not see that there is one
        // takes another, which is as right, and later.
        let noted = self.ticket.load(Ordering::Relaxed);
        if noted != 0 {
            return noted;
        }
        let new = take();
        let first = self.ticket.compare_exchange(0, new, Ordering::Relaxed, Ordering::Relaxed);
        first.err().unwrap_or(new)
    }

    /// Closes it without totals, since it never was current; false if it is not open.
    pub(super) fn abandon(&self) -> bool {
        self.becomes(CLOSED)
    }

    /// Takes it from OPEN to another state. For those who hold it: the version stays.
    fn becomes(&self, state: u64) -> bool {
        // Relaxed, all: it decides who does what follows, and publishes nothing.
        let order = Ordering::Relaxed;
        let open = self.identity.load(order);
        open & STATE == OPEN
            && self.identity.compare_exchange(open, open | state, order, order).is_ok()
    }

    /// For the maker, or the claimant: nobody else changes it meanwhile.
    fn is_now(&self, state: u64) {
        let version = self.identity.load(Ordering::Relaxed) & !STATE;
        // Release: publishes what was made, or the totals; pairs with the Acquire in `identity`. Who reads
        // a version reads nothing older than what it was made into.
        self.identity.store(version | state, Ordering::Release);
    }

    /// Makes `block` the one that it counts in, and counts the hold that this will be. For a header
    /// that is about to become the block's owner.
    pub(super) fn count_in(&self, index: usize, block: &Block, length: u64) {
        // Relaxed, all: published with the header.
        self.block.store(index as u8, Ordering::Relaxed);
        self.live.column.store(block.word(), Ordering::Relaxed);
        self.live.reach.store(length, Ordering::Relaxed);
        self.holds.fetch_add(1, Ordering::Relaxed);
    }

    /// Undoes [`count_in`](Self::count_in): somebody else was faster to take the block.
    pub(super) fn count_alone(&self) {
        self.holds.fetch_sub(1, Ordering::Relaxed);
        self.live.reach.store(0, Ordering::Relaxed);
        self.block.store(UNSTRIPED, Ordering::Relaxed);
    }

    /// Where the bucket begins.
    #[inline]
    pub(super) fn start(&self) -> u64 {
        self.live.start()
    }

    /// The number of the slot that it is in, or will be put into.
    #[inline]
    pub(super) fn slot(&self) -> usize {
        self.slot.load(Ordering::Relaxed) as usize
    }

    /// The number of the block that it counts in, or has counted in.
    #[inline]
    pub(super) fn block(&self) -> Option<usize> {
        let index = self.block.load(Ordering::Relaxed); // published with the header
        (index != UNSTRIPED).then_some(index.into())
    }

    /// The generation of a header that was current under the guard.
    #[inline]
    pub(super) fn generation<'g>(&self, guard: &'g Guard) -> Shared<'g, Generation> {
        // Relaxed: written before the header was published.
        self.generation.load(Ordering::Relaxed, guard)
    }

    /// Checks in models that whoever made the header into this bucket has told us of it.
    #[inline]
    pub(super) fn check(&self) {
        self.witness.check();
    }

    /// Its place in the order in which headers become current, which never goes back.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.number.load(Ordering::Relaxed), self.start())
    }

    /// Which bucket this is, of all that it ever was; `None` while it becomes another.
    #[inline]
    pub(super) fn version(&self) -> Option<u64> {
        let identity = self.identity();
        (identity & MAKING == 0).then_some(identity & !STATE)
    }

    /// Whether all that was read since [`version`](Self::version) is of that bucket.
    #[inline]
    pub(super) fn is(&self, version: u64) -> bool {
        self.identity_after() & !STATE == version
    }

    /// Version and state.
    #[inline]
    pub(super) fn identity(&self) -> u64 {
        // Acquire: pairs with the last store in `make`, and with the Release of CLOSED. Whoever sees
        // it sees the totals.
        self.identity.load(Ordering::Acquire)
    }

    /// Version and state, behind all that was read before.
    #[inline]
    pub(super) fn identity_after(&self) -> u64 {
        // Pairs with the fence in `make`.
        fence(Ordering::Acquire);
        self.identity.load(Ordering::Relaxed)
    }

    #[inline]
    pub(super) fn is_closed(&self) -> bool {
        self.identity() & CLOSED != 0
    }

    /// Whether only back-dated adds can change what it holds. For who has seen it displaced.
    ///
    /// One without a block counts in its shared cells, where only those adds are not back-dated whose
    /// threads have found it current.
    pub(super) fn is_final(&self) -> bool {
        self.is_closed() || (self.block().is_none() && !self.has_adders())
    }

    /// What it holds at each position.
    #[inline]
    pub(super) fn pairs(&self) -> &[Pair] {
        // SAFETY: by the contract of `new`.
        unsafe { from_raw_parts(self.pairs, self.width.into()) }
    }

    /// What it holds at a position.
    ///
    /// # Safety
    /// The position is one of the shape's.
    #[inline]
    pub(super) unsafe fn pair(&self, position: usize) -> &Pair {
        // SAFETY: by contract.
        unsafe { &*self.pairs.add(position) }
    }

    /// What the bucket holds in a cell: while it is open a difference, afterwards its total.
    #[inline(always)]
    #[allow(clippy::inline_always)] // a sum of many buckets is a loop around this
    pub(super) fn number(&self, ring: &Ring, position: usize) -> u64 {
        if !ring.shape.is_of_count(position) {
            return self.number_of_value(ring, position);
        }
        let striped = self.striped(ring, position, Block::difference_of_count);
        striped.wrapping_add(self.shared(position))
    }

    #[inline(never)] // what it takes must not be paid for by a `Count`
    fn number_of_value(&self, ring: &Ring, position: usize) -> u64 {
        let striped = self.striped(ring, position, Block::difference);
        ring.shape.join(position, striped, self.shared(position))
    }

    /// What was added other than through its block.
    #[inline]
    fn shared(&self, position: usize) -> u64 {
        // Acquire: pairs with the Release in `Target::add`.
        self.pairs()[position].shared.load(Ordering::Acquire)
    }

    /// What was added through its block, of which `difference` tells while the bucket is open.
    #[inline(always)]
    #[allow(clippy::inline_always)] // as above
    fn striped(
        &self,
        ring: &Ring,
        position: usize,
        difference: impl FnOnce(&Block, usize) -> u64,
    ) -> u64 {
        if !self.is_closed() {
            let Some(block) = self.block().map(|index| &ring.blocks[index]) else {
                return 0;
            };
            let difference = difference(block, position);
            // Whoever has closed us says so before it touches the base or the extremes, and before the
            // next owner adds: if any of that is in the difference, we see CLOSED here.
            if !self.is_closed() {
                return difference;
            }
        }
        self.pairs()[position].total.load(Ordering::Relaxed) // final: CLOSED was seen with Acquire
    }
}

/// A pointer to a header, which other threads follow.
pub(super) type Link = AtomicPtr<Header>;
