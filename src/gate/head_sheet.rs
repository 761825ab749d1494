//! A gate's sheets, one of which is the head: looking at it, and turning to the next.
//!
//! # Theorem
//!
//! For each run of `terms.buckets` consecutive buckets, the sum of the grants in them is never
//! above the limit, whatever threads do and wherever they are suspended.
//!
//! # Why
//!
//! ```text
//!    head = [ version: 48 bits | number of a sheet: 16 bits ]
//!
//!    look    head;  the sheet's constants and word w;  head unchanged?  otherwise again
//!    grant   word: w -> w + n                             if w + n <= top
//!    turn    word: w -> sealed;  fill a free sheet; head -> (version + 1, it); free the last
//! ```
//!
//! - All that a look returns belongs to one bucket: each turn makes a version that was not there
//!   before, and a sheet is filled again only after a turn away from it. (48 bits of versions wrap
//!   after some 2.8 * 10^14 turns. At one turn a microsecond, a thread would have to be suspended
//!   for nine years in the middle of a look or a turn, and resume in the very turn that has its
//!   version.)
//! - A grant succeeds only if the word is still the one that was looked at, and that is so only in
//!   the same bucket, unsealed (see [`sheet`](super::sheet)). So there was no other grant and no
//!   turn between look and grant.
//! - A turn reads final numbers: it seals before it reads the grants. If its exchange of the head
//!   succeeds, the sheet that it read was the head's. If the exchange fails, it has changed nothing
//!   that other threads see.
//! - So the head's numbers for the other buckets of its interval are final. Its top is as far above
//!   its serial as the limit is above the sum of the interval's grants; a grant compares with
//!   exactly what is left at that moment.
//! - A grant that finds a word different from the one it had seen goes on with the new word, if the
//!   head is still the same: that is a look of which everything except the word was taken earlier.
//!
//! A thread that finds the head sealed, and has something to grant, performs the turn itself, if
//! necessary to a new sheet of the same bucket, which continues the count of the sealed one. So no
//! thread waits for another. A change of terms is a turn, too.
//!
//! # Time
//!
//! `reached` is a time in the latest bucket that a clock has shown to any call: its start; or,
//! after a change of the geometry, the time of that change. It only rises, so the gate's time never
//! goes back to an earlier bucket. It is a hint: the bucket of a grant depends on the head alone.

use crossbeam_utils::CachePadded;

use crate::gate::next_sheet::{Change, Next};
use crate::gate::row::Amend;
use crate::gate::sheet::{Glance, Seen};
use crate::gate::sheet_memory::Sheets;
use crate::gate::terms::Terms;
use crate::stripe::ration::Ration;
use crate::sync::{AtomicU64, Ordering, fence, spin_loop};
use crate::turn::vacancies::Vacancies;

/// The number of bits in a head that hold a sheet's number.
const NUMBER: u32 = 16;

/// The grants of a gate, bucket by bucket.
#[derive(Debug)]
pub(super) struct Ledger {
    /// All threads read it; it is written once a bucket.
    shared: CachePadded<Shared>,
}

#[derive(Debug)]
#[repr(C)] // a grant's fields are in one cache line
struct Shared {
    head: AtomicU64,
    reached: AtomicU64,
    sheets: Sheets,
    manner: Manner,
    vacancies: Vacancies,
}

/// The manner in which a gate keeps its limit.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    /// In every span of time: the gate then has one more bucket than its user has asked for.
    pub(super) is_strict: bool,
    /// A grant may be used until its bucket ends: for a
    /// [`RationedGate`](crate::gate::RationedGate).
    pub(super) is_rationed: bool,
}

impl Manner {
    pub(super) const PLAIN: Manner = Manner { is_strict: false, is_rationed: false };
}

/// The head as one thread has seen it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Head<'g> {
    version: u64,
    pub(super) seen: Seen<'g>,
}

impl Ledger {
    /// Makes a ledger that goes on after grants of one each, in the buckets that begin at `starts`.
    /// Its time begins with the latest of them, or at `start`. `None` if there is no memory for it.
    #[inline]
    pub(super) fn new(
        terms: Terms,
        manner: Manner,
        start: u64,
        starts: impl Iterator<Item = u64> + Clone,
    ) -> Option<Ledger> {
        let mut sheets = Sheets::new();
        if !sheets.make(terms.history()) {
            return None;
        }
        let (number, sheet) = sheets.take();
        let start = starts.clone().fold(start, u64::max);
        sheet.begin(start, terms, starts);
        let (head, reached) = (AtomicU64::new(number.into()), AtomicU64::new(start));
        let shared = Shared { head, reached, sheets, manner, vacancies: Vacancies::new() };
        Some(Ledger { shared: CachePadded::new(shared) })
    }

    pub(super) fn is_strict(&self) -> bool {
        self.shared.manner.is_strict
    }

    /// Returns the turns whose callers have given up.
    pub(super) fn vacancies(&self) -> &Vacancies {
        &self.shared.vacancies
    }

    /// Returns a change of the geometry at `now`.
    #[inline]
    pub(super) fn change(&self, now: u64, head: &Head<'_>) -> Change {
        // A ration may be used until its bucket ends, and that is not after the end of the head's.
        let used_by = if self.shared.manner.is_rationed { now.max(head.seen.last()) } else { now };
        Change { now, used_by }
    }

    /// Reads the head's version, and the part of its sheet that a grant reads. All of it belongs to
    /// one bucket if the version [is](Self::is_at) still the head's.
    #[inline]
    pub(super) fn glance(&self) -> (u64, Glance<'_>) {
        let version = self.version();
        (version, self.shared.sheets.at(version as u16).glance())
    }

    #[inline]
    fn version(&self) -> u64 {
        // Acquire: pairs with the Release in `turn`.
        self.shared.head.load(Ordering::Acquire)
    }

    /// Reads the head and its sheet, of one bucket.
    #[inline]
    pub(super) fn look(&self) -> Head<'_> {
        loop {
            let version = self.version();
            let head = Head { version, seen: self.shared.sheets.at(version as u16).read() };
            if self.is(&head) {
                return head;
            }
            spin_loop();
        }
    }

    /// Returns whether the head is still the one that was seen: then all that was read of it
    /// belongs to its bucket.
    #[inline]
    pub(super) fn is(&self, head: &Head<'_>) -> bool {
        self.is_at(head.version)
    }

    /// Returns whether the head still has this version.
    #[inline]
    pub(super) fn is_at(&self, version: u64) -> bool {
        // Acquire: pairs with the Release fence in `Sheet::follow`: a thread that has read anything
        // written behind that fence sees here the turn that came before it.
        fence(Ordering::Acquire);
        self.shared.head.load(Ordering::Relaxed) == version
    }

    /// Turns from a sheet to the next. Returns false if another thread has granted there or turned.
    #[inline]
    pub(super) fn turn(&self, head: &Head<'_>, next: Next) -> bool {
        self.turn_and_amend(head, next, Amend::Nothing)
    }

    /// Turns as [`turn`](Self::turn), under the same terms, and gives a ration back: the unused
    /// grant no longer counts.
    #[inline]
    pub(super) fn turn_and_give_back(&self, head: &Head<'_>, next: Next, back: Ration) -> bool {
        self.turn_and_amend(head, next, Amend::GiveBack(back))
    }

    /// Pays what is owed in all buckets until the one at `start`. Returns false if another thread
    /// has turned, or this one has: the caller looks at the head again.
    #[inline]
    pub(super) fn is_paid_until(&self, head: &Head<'_>, start: u64) -> bool {
        if head.seen.owed == 0 || head.seen.start >= start {
            return true;
        }
        self.record_time(start);
        self.turn(head, Next::at(start, head.seen.terms));
        false
    }

    /// Turns as [`turn`](Self::turn), under the same terms, and amends earlier grants.
    #[inline]
    pub(super) fn turn_and_amend(&self, head: &Head<'_>, next: Next, amend: Amend) -> bool {
        let Some(last) = head.seen.seal() else { return false };
        let (number, sheet) = self.shared.sheets.take();
        sheet.need_room(next.terms.history());
        sheet.follow(&last, next, amend);
        let version = ((head.version >> NUMBER).wrapping_add(1) << NUMBER) | u64::from(number);
        // Release: publishes the sheet; pairs with the Acquire in `version`.
        let (order, failed) = (Ordering::Release, Ordering::Relaxed);
        let turned =
            self.shared.head.compare_exchange(head.version, version, order, failed).is_ok();
        if turned {
            last.free();
        } else {
            sheet.give_back();
        }
        turned
    }

    /// Returns whether there is memory for `history` buckets before that of a sheet.
    #[inline]
    pub(super) fn has_room(&self, history: usize) -> bool {
        let (_, sheet) = self.shared.sheets.take();
        let has_room = sheet.make_room(history);
        sheet.give_back();
        has_room
    }

    /// Returns whether the gate has reached a time: for the start of a bucket, whether a clock has
    /// shown that bucket, or a later one.
    #[inline]
    pub(super) fn has_reached(&self, time: u64) -> bool {
        self.reached() >= time
    }

    /// Returns the time that the gate has reached.
    #[inline]
    pub(super) fn reached(&self) -> u64 {
        self.shared.reached.load(Ordering::Relaxed) // a hint: see Time
    }

    /// Returns the gate's time when the clock shows `now`.
    #[inline]
    pub(super) fn time(&self, now: u64) -> u64 {
        now.max(self.reached())
    }

    /// Records that the gate has reached a time.
    #[inline]
    pub(super) fn record_time(&self, time: u64) {
        if !self.has_reached(time) {
            self.shared.reached.fetch_max(time, Ordering::Relaxed); // a hint: see Time
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;
    use crate::ring::Geometry;
    use std::mem::{align_of, offset_of, size_of};
    use std::time::Duration;

    /// A decision reads these lines, and a turn writes them: they hold nothing else.
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    #[test]
    fn the_head_is_in_lines_of_its_own() {
        assert_eq!(align_of::<Ledger>() % 64, 0);
        assert_eq!(size_of::<Ledger>(), size_of::<CachePadded<Shared>>());
        let first = offset_of!(Shared, sheets) + size_of::<usize>(); // the first segment's address
        assert!(offset_of!(Shared, head) == 0 && first <= 64, "a grant reads one line of it");
    }

    fn ledger(limit: u64) -> (Ledger, Terms) {
        let geometry = Geometry::new(Duration::from_nanos(20), 2).unwrap();
        let terms = Terms::new(geometry, limit).unwrap();
        (Ledger::new(terms, Manner::PLAIN, 0, std::iter::empty()).unwrap(), terms)
    }

    /// Turns to a sheet of the same bucket.
    fn turn(ledger: &Ledger, head: &Head<'_>) -> bool {
        let Seen { start, terms, .. } = head.seen;
        ledger.turn(head, Next::at(start, terms))
    }

    /// Two threads turn away from a sheet. The one that comes too late fills a sheet that was the
    /// head meanwhile, in which a third is about to grant. (Serials that went on from the sheet
    /// before would make the very word that it expects.)
    #[test]
    fn a_sheet_that_is_filled_in_vain_has_no_word_that_was_seen() {
        let (ledger, _) = ledger(3);
        assert!(turn(&ledger, &ledger.look())); // the first sheet is free, and taken next
        ledger.look().seen.seal().unwrap();
        let late = ledger.look();
        assert!(turn(&ledger, &ledger.look()));
        let third = ledger.look().seen;
        assert!(turn(&ledger, &ledger.look()));
        assert!(!turn(&ledger, &late));
        assert!(!third.grant(1));
        assert_eq!(ledger.look().seen.left(), 3);
    }

    /// A sheet's serial begins anew in the middle of a bucket, and nothing is lost.
    #[test]
    fn serials_go_round() {
        const LAST: u64 = u64::MAX >> 1;
        for before in 0..4 {
            let (ledger, terms) = ledger(10);
            ledger.shared.sheets.at(1).wear_out(LAST - before);
            assert!(turn(&ledger, &ledger.look()));
            for used in 0..10 {
                let seen = ledger.look().seen;
                let left = 10 - used;
                assert_eq!((seen.left(), seen.is_open(), seen.fits(left)), (left, true, true));
                assert!(seen.grant(1) && !seen.grant(1));
            }
            assert!(!ledger.look().seen.fits(1));
            assert!(ledger.turn(&ledger.look(), Next::at(10, terms)));
            assert_eq!(ledger.look().seen.left(), 0);
        }
    }

    /// Versions begin anew too.
    #[test]
    fn versions_go_round() {
        let (ledger, _) = ledger(1);
        let number = ledger.look().version & 0xFFFF;
        ledger.shared.head.store((u64::MAX << NUMBER) | number, Ordering::Relaxed);
        let last = ledger.look();
        assert!(turn(&ledger, &last) && !ledger.is(&last));
        assert_eq!(ledger.look().version >> NUMBER, 0);
        assert!(ledger.look().seen.grant(1) && !ledger.look().seen.fits(1));
    }
}
