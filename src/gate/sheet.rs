//! A sheet: one bucket of a gate, with all that is needed to decide in it.
//!
//! # Promise
//!
//! While a sheet is open, its word alone changes, and each change of the word is a grant. Once the
//! sheet is sealed, the sum of the grants in its bucket is final.
//!
//! # The word
//!
//! ```text
//!    [ sealed: 1 bit | serial: 63 bits ]       granted in this bucket = serial - base
//! ```
//!
//! A grant of `n` adds `n` to the serial, by a compare-exchange, if the sum is not above the
//! sheet's *top*. Sealing sets the bit: no compare-exchange expects a sealed word. A sheet that is
//! filled again begins above its previous serial. **So no open word occurs twice in a sheet**: a
//! thread that was suspended before its compare-exchange, and finds the sheet filled again, fails.
//! No reference is counted, and nothing needs to know of that thread. (It must be the sheet's own
//! serial. A serial that continued from the last sheet's would occur again where two threads turn
//! away from that sheet: one of them late, in vain, and into a sheet that a third has looked at.)
//!
//! (A serial wraps after 2^63 units. A limit is at most 2^40, so that takes more than eight million
//! intervals, each granted to the last unit; and only a thread that was suspended through all of
//! them, and finds the very same word, is deceived. With a billion units an interval it takes nine
//! billion intervals.)
//!
//! Operations on the word are Relaxed. A grant orders no other memory; and each is a
//! read-modify-write of one word, which finds the latest value, independently of other memory that
//! a thread has seen.
//!
//! # The constants
//!
//! The constants of a sheet (its start, the terms, the grants of the buckets before it, what is
//! owed) are written while no thread finds the sheet as the head. They are read as under a seqlock,
//! whose version is the head's: see [`head_sheet`](super::head_sheet). A read that fails may have
//! mixed the constants of two buckets, so nothing here may panic on any values.

use std::alloc::{Layout, handle_alloc_error};
use std::ptr::null_mut;

use crate::gate::cells::{Cells, load};
use crate::gate::next_sheet::{Last, Next};
use crate::gate::row::{Amend, Row};
use crate::gate::terms::Terms;
use crate::stripe::ration::Ration;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, Witness, fence};

mod glance;
#[cfg(all(test, any(target_arch = "x86_64", target_arch = "aarch64"), not(any(loom, shuttle))))]
mod lines;

/// The bit of a sealed word: nothing more is granted in the bucket.
const SEALED: u64 = 1 << 63;
/// All other bits of a word.
const SERIAL: u64 = SEALED - 1;

/// The memory of one bucket after another.
#[derive(Debug)]
#[repr(C)] // a grant's fields are in two cache lines, of which it writes one
pub(super) struct Sheet {
    word: AtomicU64,
    /// The serial before the bucket's first grant.
    base: AtomicU64,
    buckets: AtomicUsize,
    limit: AtomicU64,
    /// The end of the last wait that was granted under an earlier geometry. It may lie within a
    /// bucket of this one.
    waits_until: AtomicU64,
    /// The time at which all grants from before the last change of the geometry were used: a ration
    /// that ended earlier is not given back.
    used_by: AtomicU64,
    /// The grants in each bucket before this one, the latest first.
    before: AtomicPtr<Cells>,
    /// True if it is the head, or a thread is filling it.
    taken: AtomicBool,
    made: Witness,
    fixed: Fixed,
}

/// The constants of a sheet, which a grant reads and never writes.
#[derive(Debug)]
#[repr(align(64))]
struct Fixed {
    /// The serial at which the interval that ends with the bucket has reached the limit.
    top: AtomicU64,
    start: AtomicU64,
    length: AtomicU64,
    /// The number of changes of the terms.
    changes: AtomicU64,
    /// The number of the last one that has changed the geometry.
    moved: AtomicU64,
    /// The weight that was charged and is not paid yet: none, if a weight above zero fits.
    owed: AtomicU64,
}

/// A sheet as one thread has read it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'g> {
    sheet: &'g Sheet,
    word: u64,
    top: u64,
    base: u64,
    /// The first nanosecond of its bucket.
    pub(super) start: u64,
    pub(super) terms: Terms,
    /// The number of changes of the terms until now.
    pub(super) changes: u64,
    /// The number of the last change of the geometry.
    pub(super) moved: u64,
    /// The weight that was charged and is not paid yet.
    pub(super) owed: u64,
}

/// The part of a sheet that a grant in its bucket reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Glance<'g> {
    sheet: &'g Sheet,
    word: u64,
    top: u64,
    /// The first nanosecond of its bucket.
    pub(super) start: u64,
    length: u64,
}

impl Sheet {
    /// Makes a free sheet, in which nothing can be granted.
    pub(super) fn free() -> Sheet {
        Sheet {
            word: AtomicU64::new(SEALED),
            base: AtomicU64::new(0),
            buckets: AtomicUsize::new(1),
            limit: AtomicU64::new(0),
            waits_until: AtomicU64::new(0),
            used_by: AtomicU64::new(0),
            before: AtomicPtr::new(null_mut()),
            taken: AtomicBool::new(false),
            made: Witness::new(),
            fixed: Fixed {
                top: AtomicU64::new(0),
                start: AtomicU64::new(0),
                length: AtomicU64::new(1),
                changes: AtomicU64::new(0),
                moved: AtomicU64::new(0),
                owed: AtomicU64::new(0),
            },
        }
    }

    /// Takes a free sheet; false if it is not free.
    #[inline]
    pub(super) fn try_take(&self) -> bool {
        self.made.check();
        // Relaxed: a hint that saves a write to the cache line.
        !self.taken.load(Ordering::Relaxed)
            // Acquire: pairs with the Release in `give_back`: all earlier uses of the sheet come
            // before.
            && self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Frees a sheet that the caller has taken, or has displaced.
    #[inline]
    pub(super) fn give_back(&self) {
        // Release: pairs with the Acquire in `try_take`.
        self.taken.store(false, Ordering::Release);
    }

    /// Reads the sheet. The caller looks at the head before and after.
    #[inline]
    pub(super) fn read(&self) -> Seen<'_> {
        self.made.check();
        // Relaxed, all: the head's version tells whether they belong together.
        let terms = Terms {
            length: self.fixed.length.load(Ordering::Relaxed),
            buckets: self.buckets.load(Ordering::Relaxed),
            limit: self.limit.load(Ordering::Relaxed),
        };
        Seen {
            sheet: self,
            word: self.word.load(Ordering::Relaxed),
            top: self.fixed.top.load(Ordering::Relaxed),
            base: self.base.load(Ordering::Relaxed),
            start: self.fixed.start.load(Ordering::Relaxed),
            terms,
            changes: self.fixed.changes.load(Ordering::Relaxed),
            moved: self.fixed.moved.load(Ordering::Relaxed),
            owed: self.fixed.owed.load(Ordering::Relaxed),
        }
    }

    /// Reads the part that a grant needs. The caller looks at the head before and after.
    #[inline]
    pub(super) fn glance(&self) -> Glance<'_> {
        self.made.check();
        // Relaxed, all: as in `read`.
        Glance {
            sheet: self,
            top: self.fixed.top.load(Ordering::Relaxed),
            start: self.fixed.start.load(Ordering::Relaxed),
            length: self.fixed.length.load(Ordering::Relaxed),
            word: self.word.load(Ordering::Relaxed),
        }
    }

    /// Changes the word by a grant, or returns the present word.
    #[inline]
    fn grant(&self, word: u64, n: u64) -> Result<u64, u64> {
        let more = word.wrapping_add(n) & SERIAL;
        // Relaxed, both: see the word, above.
        self.word.compare_exchange(word, more, Ordering::Relaxed, Ordering::Relaxed)
    }

    #[inline]
    fn before(&self) -> &[AtomicU64] {
        // Acquire: pairs with the Release in `make_room`.
        let cells = self.before.load(Ordering::Acquire);
        // SAFETY: null, or made by `make_room`. They are kept as long as the sheet.
        unsafe { cells.as_ref() }.map_or(&[], Cells::all)
    }

    /// Makes room for `count` buckets before this one, in the caller's sheet; returns false if
    /// there is no memory for that.
    #[inline]
    pub(super) fn make_room(&self, count: usize) -> bool {
        let has = self.before().len();
        if has >= count {
            return true;
        }
        let Some(cells) = Cells::new(count.max(2 * has)) else { return false };
        let older = self.before.load(Ordering::Relaxed); // the caller's sheet
        // SAFETY: null, or made here; the new cells take its place.
        unsafe { cells.keep(older) };
        // Release: publishes the cells to a thread whose read of this sheet will fail; pairs with
        // the Acquire in `before`.
        self.before.store(Box::into_raw(Box::new(cells)), Ordering::Release);
        true
    }

    /// Makes room as `make_room`; ends the process if there is no memory, as any allocation does.
    #[inline]
    pub(super) fn need_room(&self, count: usize) {
        if !self.make_room(count) {
            handle_alloc_error(Layout::new::<Cells>());
        }
    }

    /// Puts a free sheet into the state that it has after `serial` units.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn wear_out(&self, serial: u64) {
        self.word.store(SEALED | serial, Ordering::Relaxed);
    }

    /// Fills the caller's sheet with a gate's first bucket, which follows grants of one each.
    #[inline]
    pub(super) fn begin(&self, start: u64, terms: Terms, starts: impl Iterator<Item = u64>) {
        let (before, mut own) = (&self.before()[..terms.history()], 0);
        for at in starts {
            match terms.steps(at, start) {
                0 => own += 1,
                age => {
                    if let Some(cell) = before.get(age - 1) {
                        cell.store(load(cell) + 1, Ordering::Relaxed); // the caller's sheet
                    }
                }
            }
        }
        self.write(Next::at(start, terms), Row { own, before }, 0);
    }

    /// Fills the caller's sheet with the bucket that follows a sealed sheet, and amends what was
    /// granted.
    #[inline]
    pub(super) fn follow(&self, last: &Seen<'_>, next: Next, amend: Amend) {
        // Release: pairs with the Acquire fence in `Ledger::is_at`. A thread that reads anything
        // written below finds that the sheet is no longer the head that it was.
        fence(Ordering::Release);
        let before = &self.before()[..next.terms.history()];
        let Seen { start, terms, .. } = *last;
        let from = Last { start, terms, waits_until: last.waits_until() };
        let (mut row, mut owed) = (Row { own: 0, before }, last.owed);
        if owed == 0 || next.change.is_some() {
            row.own = next.take_over(from, last.each(), before);
        } else {
            row.own = Next::at(start, terms).take_over(from, last.each(), before);
            owed = row.open(terms.steps(start, next.start), terms, owed);
        }
        let (used_by, waits_until) = match next.change {
            None => (last.used_by(), last.waits_until()),
            Some(change) => (change.used_by, last.latest()),
        };
        self.used_by.store(used_by, Ordering::Relaxed);
        self.waits_until.store(waits_until, Ordering::Relaxed);
        let changes = last.changes.wrapping_add(next.is_change.into());
        let moved = if next.change.is_some() { changes } else { last.moved };
        self.fixed.changes.store(changes, Ordering::Relaxed);
        self.fixed.moved.store(moved, Ordering::Relaxed);
        match amend {
            Amend::Nothing => {}
            Amend::GiveBack(back) => {
                row.own = row.own.wrapping_sub(next.give_back(back, used_by, before));
            }
            Amend::Charge { weight, start } => {
                let age = start.map(|start| next.terms.steps(start, next.start));
                let rest = age.map_or(weight, |age| row.charge(age, weight, next.terms));
                owed = owed.saturating_add(rest);
            }
        }
        self.write(next, row, owed);
    }

    /// Writes everything except the buckets before: the sheet's own bucket, which begins with all
    /// that it has room for of what is `owed`.
    #[inline]
    fn write(&self, next: Next, row: Row<'_>, owed: u64) {
        let Next { start, terms, grant, .. } = next;
        let (own, owed) = row.pay(terms, owed);
        let row = Row { own, ..row };
        // The caller's sheet: sealed, or filled in vain. No thread that has looked at it can grant.
        let serial = (self.word.load(Ordering::Relaxed) & SERIAL) + 1;
        let left = row.room(terms);
        self.fixed.top.store(serial.wrapping_add(left) & SERIAL, Ordering::Relaxed);
        self.fixed.start.store(start, Ordering::Relaxed);
        self.fixed.length.store(terms.length, Ordering::Relaxed);
        self.fixed.owed.store(owed, Ordering::Relaxed);
        self.buckets.store(terms.buckets, Ordering::Relaxed);
        self.limit.store(terms.limit, Ordering::Relaxed);
        self.base.store(serial.wrapping_sub(own) & SERIAL, Ordering::Relaxed);
        self.word.store(serial.wrapping_add(grant) & SERIAL, Ordering::Relaxed);
    }
}

/// Returns the rest of the limit, from a word and the top of its bucket.
#[inline]
fn left(word: u64, top: u64) -> u64 {
    top.wrapping_sub(word) & SERIAL
}

impl<'g> Seen<'g> {
    /// Returns whether the bucket is not sealed.
    pub(super) fn is_open(&self) -> bool {
        self.word & SEALED == 0
    }

    /// Returns the latest end of a wait among all grants so far.
    #[inline]
    pub(super) fn latest(&self) -> u64 {
        self.start.max(self.waits_until())
    }

    /// Returns the end of the last wait that was granted under an earlier geometry.
    #[inline]
    fn waits_until(&self) -> u64 {
        load(&self.sheet.waits_until)
    }

    /// Returns when all grants from before the last change of the geometry were used.
    #[inline]
    fn used_by(&self) -> u64 {
        load(&self.sheet.used_by)
    }

    /// Returns the last nanosecond of the bucket.
    pub(super) fn last(&self) -> u64 {
        self.terms.end_of(self.start)
    }

    /// Returns the sum of the grants in the bucket.
    fn own(&self) -> u64 {
        self.word.wrapping_sub(self.base) & SERIAL
    }

    /// Returns a grant that was not used as a ration to be given back, if the sheet knows where it
    /// counts: see [`unused`](crate::gate::unused).
    #[inline]
    pub(super) fn unused(&self, n: u64, start: u64) -> Option<Ration> {
        let is_unmoved = self.moved == 0 || start > self.used_by().max(self.waits_until());
        let is_of_this = start == self.start && self.own() >= n;
        let is_known = is_unmoved && (start < self.start || is_of_this);
        let last = start.saturating_add(self.terms.length - 1);
        is_known.then_some(Ration { last, left: n })
    }

    /// Returns the rest of the limit.
    pub(super) fn left(&self) -> u64 {
        left(self.word, self.top)
    }

    /// Returns whether `n` more is within the limit. A weight of zero always is.
    pub(super) fn fits(&self, n: u64) -> bool {
        n <= self.left()
    }

    /// Grants `n`, which fits; returns false if there was another grant since this was read, or the
    /// bucket was sealed.
    #[inline]
    pub(super) fn grant(&self, n: u64) -> bool {
        self.sheet.grant(self.word, n).is_ok()
    }

    /// Grants as [`grant`](Self::grant); otherwise takes over the present word. The caller looks at
    /// the head again.
    #[inline]
    pub(super) fn grant_or_see(&mut self, n: u64) -> bool {
        let granted = self.sheet.grant(self.word, n);
        granted.map_err(|word| self.word = word).is_ok()
    }

    /// Seals the sheet: the returned copy has all that is ever granted in the bucket. `None` if
    /// there was another grant since this was read.
    #[inline]
    pub(super) fn seal(self) -> Option<Seen<'g>> {
        let sealed = self.word | SEALED;
        // Relaxed, both: see the word, above.
        let seal = || {
            self.sheet.word.compare_exchange(
                self.word,
                sealed,
                Ordering::Relaxed,
                Ordering::Relaxed,
            )
        };
        (!self.is_open() || seal().is_ok()).then_some(Seen { word: sealed, ..self })
    }

    /// Returns the grants in the bucket and in each bucket before it, the latest first. They belong
    /// to other buckets if a turn came before the end of the iteration.
    #[inline]
    pub(super) fn each(&self) -> impl Iterator<Item = u64> + use<'g> {
        let before = self.sheet.before().iter().take(self.terms.history()).map(load);
        std::iter::once(self.own()).chain(before)
    }

    /// Frees the sheet, which the caller has displaced.
    #[inline]
    pub(super) fn free(&self) {
        self.sheet.give_back();
    }
}

impl Drop for Sheet {
    #[inline]
    fn drop(&mut self) {
        let cells = self.before.load(Ordering::Relaxed); // `&mut self`: no other thread is there
        if !cells.is_null() {
            // SAFETY: made by `make_room`, and kept by no other cells.
            drop(unsafe { Box::from_raw(cells) });
        }
    }
}
