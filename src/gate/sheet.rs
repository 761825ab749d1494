//! A sheet: one bucket of a gate, with all that is needed to decide in it.
//!
//! # Promise
//!
//! While a sheet is open, its word alone changes, and each change of it is a grant. What is granted in its bucket is final once
//! it is sealed.
//!
//! # The word
//!
//! ```text
//!    [ sealed: 1 bit | serial: 63 bits ]       granted in this bucket = serial - base
//! ```
//!
//! A grant of `n` adds `n` to the serial, by a compare-exchange. Sealing sets the bit: no compare-exchange expects a sealed
//! word. Who fills a sheet again begins above the serial that it had. **So no open word comes twice in a sheet**: a thread
//! that stood still before its compare-exchange, and finds the sheet filled again, fails. No reference is counted, and
//! nothing needs to know of that thread. (It must be the sheet's own serial. One that went on from the last sheet's would come
//! again where two threads turn away from that: one of them in vain, late, and in a sheet that another has looked at.)
//!
//! (A serial begins anew after 2^63 units. A limit is at most 2^40, so that takes more than eight million intervals, each granted to
//! the last unit; and only a thread that stood still through all of them, and finds the very same word, is deceived. With a
//! billion units an interval it takes nine billion intervals.)
//!
//! Its operations are Relaxed. A grant orders no other memory; and each is a read-modify-write of one word, which
//! finds the last value that there is, whatever else a thread has seen.
//!
//! # What else stands there
//!
//! The constants of a sheet (its start, the terms, what the buckets before it have granted) are written while no thread finds it as
//! the head, and are read as under a seqlock, whose version is the head's: see [`ledger`](super::ledger). What was read in
//! vain may be a mixture of two buckets', so nothing here may panic on any values.

use std::alloc::{Layout, handle_alloc_error};

use crate::gate::cells::Cells;
use crate::gate::terms::Terms;
use crate::stripe::ration::Ration;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering, Witness, fence};

/// Nothing more is granted in the bucket.
const SEALED: u64 = 1 << 63;
/// All other bits of a word.
const SERIAL: u64 = SEALED - 1;

/// The memory of one bucket after the other.
#[derive(Debug)]
pub(super) struct Sheet {
    word: AtomicU64,
    /// What the serial was before the bucket's first grant.
    base: AtomicU64,
    start: AtomicU64,
    length: AtomicU64,
    buckets: AtomicUsize,
    limit: AtomicU64,
    /// What was granted in the other buckets of the interval that ends with this one.
    carried: AtomicU64,
    /// As of when the length is what it is: what was granted before counts in buckets that only the changes since knew.
    since: AtomicU64,
    /// The last end of a wait that was granted under another geometry. It may lie within a bucket of this one.
    until: AtomicU64,
    /// What was granted in each bucket before this one, the latest first.
    before: AtomicPtr<Cells>,
    /// Whether it is the head, or a thread's that fills it.
    taken: AtomicBool,
    made: Witness,
}

/// What a sheet has said.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen<'g> {
    sheet: &'g Sheet,
    word: u64,
    base: u64,
    carried: u64,
    /// The first nanosecond of its bucket.
    pub(super) start: u64,
    pub(super) terms: Terms,
}

/// What the next sheet is to say.
#[derive(Clone, Copy, Debug)]
pub(super) struct Next {
    /// Where its bucket begins: not before that of the last sheet.
    pub(super) start: u64,
    pub(super) terms: Terms,
    /// The time, if the geometry changes.
    pub(super) now: u64,
    /// Until when what was granted before may be used, if the geometry changes: now, or later.
    pub(super) until: u64,
    /// What is granted in it at once.
    pub(super) grant: u64,
}

impl Sheet {
    /// A free sheet.
    pub(super) fn free() -> Sheet {
        Sheet {
            word: AtomicU64::new(SEALED),
            base: AtomicU64::new(0),
            start: AtomicU64::new(0),
            length: AtomicU64::new(1),
            buckets: AtomicUsize::new(1),
            limit: AtomicU64::new(0),
            carried: AtomicU64::new(0),
            since: AtomicU64::new(0),
            until: AtomicU64::new(0),
            before: AtomicPtr::default(),
            taken: AtomicBool::new(false),
            made: Witness::default(),
        }
    }

    /// Takes a free sheet; false if it is not free.
    pub(super) fn try_take(&self) -> bool {
        self.made.check();
        // Relaxed: only a hint, which keeps the line unwritten.
        !self.taken.load(Ordering::Relaxed)
            // Acquire: pairs with the Release in `give_back`. All that was done with the sheet comes before.
            && self.taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Frees a sheet that the caller has taken, or has displaced.
    pub(super) fn give_back(&self) {
        // Release: pairs with the Acquire in `try_take`.
        self.taken.store(false, Ordering::Release);
    }

    /// What it says. The caller looks at the head before and after.
    #[inline]
    pub(super) fn read(&self) -> Seen<'_> {
        self.made.check();
        // Relaxed, all: the head tells whether they belong together.
        let terms = Terms {
            length: self.length.load(Ordering::Relaxed),
            buckets: self.buckets.load(Ordering::Relaxed),
            limit: self.limit.load(Ordering::Relaxed),
        };
        Seen {
            sheet: self,
            word: self.word.load(Ordering::Relaxed),
            base: self.base.load(Ordering::Relaxed),
            carried: self.carried.load(Ordering::Relaxed),
            start: self.start.load(Ordering::Relaxed),
            terms,
        }
    }

    fn before(&self) -> &[AtomicU64] {
        // Acquire: pairs with the Release in `make_room`.
        let cells = self.before.load(Ordering::Acquire);
        // SAFETY: null, or made by `make_room`. They are kept as long as the sheet.
        unsafe { cells.as_ref() }.map_or(&[], Cells::all)
    }

    /// Makes room for so many buckets before this one, in the caller's sheet; false if there is no memory for that.
    pub(super) fn make_room(&self, count: usize) -> bool {
        let has = self.before().len();
        if has >= count {
            return true;
        }
        let Some(cells) = Cells::new(count.max(2 * has)) else { return false };
        let older = self.before.load(Ordering::Relaxed); // the caller's sheet
        // SAFETY: null, or made here; the new cells take its place.
        unsafe { cells.keep(older) };
        // Release: publishes the cells to a thread that reads this sheet in vain; pairs with the Acquire in `before`.
        self.before.store(Box::into_raw(Box::new(cells)), Ordering::Release);
        true
    }

    /// As `make_room`; ends the process if there is no memory, as any allocation does.
    pub(super) fn need_room(&self, count: usize) {
        if !self.make_room(count) {
            handle_alloc_error(Layout::new::<Cells>());
        }
    }

    /// Makes a free sheet as it is after so many grants.
    #[cfg(all(test, not(any(loom, shuttle))))]
    pub(super) fn wear_out(&self, serial: u64) {
        self.word.store(SEALED | serial, Ordering::Relaxed);
    }

    /// Fills the caller's sheet with a gate's first bucket.
    pub(super) fn begin(&self, start: u64, terms: Terms) {
        self.write(Next { start, terms, now: start, until: start, grant: 0 }, 0, 0);
    }

    /// Fills the caller's sheet with what follows on a sealed one, less what is given back of a ration.
    pub(super) fn follow(&self, last: &Seen<'_>, next: Next, back: Ration) {
        // Release: pairs with the Acquire fence in `Ledger::is_head`. A thread that reads any of what is written below
        // finds that the sheet is no longer the head that it was.
        fence(Ordering::Release);
        let before = &self.before()[..next.terms.history()];
        for cell in before {
            cell.store(0, Ordering::Relaxed);
        }
        let mut own = 0_u64;
        for (index, granted) in last.each().enumerate().filter(|(_, granted)| *granted > 0) {
            let age = next.age(last, index);
            if age == 0 {
                own = own.wrapping_add(granted);
            } else if let Some(cell) = before.get(age - 1) {
                let all = cell.load(Ordering::Relaxed).wrapping_add(granted);
                cell.store(all, Ordering::Relaxed);
            }
        }
        let geometry_stays = next.terms.length == last.terms.length;
        let (since, until) = if geometry_stays {
            (load(&last.sheet.since), load(&last.sheet.until))
        } else {
            (next.until, last.latest())
        };
        self.since.store(since, Ordering::Relaxed);
        self.until.store(until, Ordering::Relaxed);
        if let Some(age) = next.age_of(back, since) {
            if age == 0 {
                own = own.wrapping_sub(back.left);
            } else if let Some(cell) = before.get(age - 1) {
                cell.store(load(cell).wrapping_sub(back.left), Ordering::Relaxed);
            }
        }
        let others = before[..next.terms.buckets - 1].iter().map(load);
        self.write(next, others.fold(0, u64::wrapping_add), own);
    }

    /// Writes all but the buckets before; `own` was granted in its own one, by the sheet before.
    fn write(&self, next: Next, carried: u64, own: u64) {
        let Next { start, terms, grant, .. } = next;
        // The caller's sheet: sealed, or filled in vain. Nobody who has looked at it can grant.
        let serial = (self.word.load(Ordering::Relaxed) & SERIAL) + 1;
        self.start.store(start, Ordering::Relaxed);
        self.length.store(terms.length, Ordering::Relaxed);
        self.buckets.store(terms.buckets, Ordering::Relaxed);
        self.limit.store(terms.limit, Ordering::Relaxed);
        self.carried.store(carried, Ordering::Relaxed);
        self.base.store(serial.wrapping_sub(own) & SERIAL, Ordering::Relaxed);
        self.word.store(serial.wrapping_add(grant) & SERIAL, Ordering::Relaxed);
    }
}

fn load(cell: &AtomicU64) -> u64 {
    cell.load(Ordering::Relaxed)
}

impl Next {
    /// How many buckets before the next one that counts which has stood `index` buckets before the last.
    fn age(&self, last: &Seen<'_>, index: usize) -> usize {
        let Next { start, terms, now, until, .. } = *self;
        if terms.length == last.terms.length {
            return terms.steps(last.start, start).saturating_add(index);
        }
        // The geometry changes. What was granted is taken to be as late as it can have been, or can be if it is waited for: so it is
        // forgotten a little later than it might, and not earlier.
        let Some(old) = last.start.checked_sub(last.terms.length.saturating_mul(index as u64))
        else {
            return usize::MAX;
        };
        let until = until.max(load(&last.sheet.until));
        let end = old.saturating_add(last.terms.length - 1);
        let latest = old.max(until.min(end));
        let age = terms.steps(terms.start_of(latest), start);
        // What may be used from now on is not forgotten, also if the last wait ends far behind it: another change may have a longer
        // interval.
        if latest > now { age.min(terms.history()) } else { age }
    }

    /// How many buckets before the next one a ration counts; `None` if there is none, or if that is not known any more.
    ///
    /// A ration's bucket is the one that contains its last nanosecond. So it is still after the first change of the length that
    /// it has seen, if that was as of this nanosecond; any other change has moved it to where only the change knew.
    fn age_of(&self, back: Ration, since: u64) -> Option<usize> {
        let start = self.terms.start_of(back.last);
        let is_known = !back.is_none() && back.last >= since && start <= self.start;
        is_known.then(|| self.terms.steps(start, self.start))
    }
}

impl<'g> Seen<'g> {
    /// Whether there may be more grants in its bucket.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        self.word & SEALED == 0
    }

    /// Whether a time lies in its bucket.
    #[inline]
    pub(super) fn contains(&self, at: u64) -> bool {
        at.wrapping_sub(self.start) < self.terms.length
    }

    /// The last nanosecond of its bucket.
    pub(super) fn last(&self) -> u64 {
        self.start.saturating_add(self.terms.length - 1)
    }

    /// The last time at which a wait may end that was granted so far.
    pub(super) fn latest(&self) -> u64 {
        self.start.max(load(&self.sheet.until))
    }

    /// What was granted in its bucket.
    fn own(&self) -> u64 {
        self.word.wrapping_sub(self.base) & SERIAL
    }

    /// What was granted in the interval that ends with its bucket.
    #[inline]
    pub(super) fn used(&self) -> u64 {
        self.carried.wrapping_add(self.own())
    }

    /// How much more is within the limit.
    #[inline]
    pub(super) fn left(&self) -> u64 {
        self.terms.limit.saturating_sub(self.used())
    }

    /// Whether so much more is within the limit. A weight of zero always is.
    #[inline]
    pub(super) fn fits(&self, n: u64) -> bool {
        n <= self.left()
    }

    /// Grants what fits; false if anything was granted since this was seen, or the bucket was sealed.
    #[inline]
    pub(super) fn grant(&self, n: u64) -> bool {
        let more = self.word.wrapping_add(n) & SERIAL;
        // Relaxed, both: see the word, above.
        self.sheet
            .word
            .compare_exchange(self.word, more, Ordering::Relaxed, Ordering::Relaxed)
            .is_ok()
    }

    /// The same, sealed: it has all that is ever granted in its bucket. `None` if anything was granted since this was seen.
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

    /// What was granted in its bucket and in each before it, the latest first. They are of other buckets if the head was
    /// another one before the end.
    pub(super) fn each(&self) -> impl Iterator<Item = u64> + use<'g> {
        let before = self.sheet.before().iter().take(self.terms.history()).map(load);
        std::iter::once(self.own()).chain(before)
    }

    /// Frees its sheet, which the caller has displaced.
    pub(super) fn free(&self) {
        self.sheet.give_back();
    }
}

impl Drop for Sheet {
    fn drop(&mut self) {
        let cells = self.before.load(Ordering::Relaxed); // `&mut self`: no other thread is there
        if !cells.is_null() {
            // SAFETY: made by `make_room`, and kept by no other cells.
            drop(unsafe { Box::from_raw(cells) });
        }
    }
}
