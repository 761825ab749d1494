//! Refilling a row's ration: the gate grants more than the call needs, and the rest is for the next
//! calls on the row.
//!
//! # Theorem
//!
//! For each run of `terms.buckets` consecutive buckets, the sum of all that is taken from rations
//! of these buckets, and of all that the gate grants in them beside rations, is never above the
//! limit.
//!
//! # Why
//!
//! ```text
//!   out    swap the row's ration for an empty one         it is the caller's from here on
//!   back   a ration of another bucket is subtracted where it was granted, by a turn of the gate
//!   grant  k in the head's bucket, the current one        by the compare-exchange of every grant
//!   in     swap the unused rest for the row's ration      that one is given back
//! ```
//!
//! - The content of a ration was granted earlier: *grant* comes before *in*. So all that is taken
//!   from a bucket's rations was granted in that bucket, and is in the gate's sum until it is given
//!   back.
//! - A ration that is given back was not taken, and never will be. One swap has found it, and it is
//!   no longer in a row ([`ration_use`](crate::stripe::ration_use)). A thread that read an old
//!   clock takes from the row's content at that time, and from nothing else.
//! - It is subtracted once, from the bucket in which it counts: by the turn that the gate has made.
//!   If that bucket has left, or the geometry has changed since ([`Next`]), it stays counted, which
//!   is too much and never too little.
//!
//! So at each moment a bucket's count is the sum of what was taken from it, what lies in rows and
//! what threads hold. The taken part is never above the sum, and the sum never above the limit
//! ([`head_sheet`](super::head_sheet)).
//!
//! # How short
//!
//! What other threads hold is granted and unused, so the gate may refuse before the limit is used
//! up. `k` is never above `max_ration`, nor, if the caller needs no more, above an equal share of
//! half of what is left. So each of the other open rows, and each thread in the middle of a refill,
//! holds at most `max_ration`.

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::next_sheet::Next;
use crate::stripe::open_rows::open_rows;
use crate::stripe::ration::Ration;

impl<C: Clock> Gate<C> {
    /// Grants `n` from a ration that the caller holds and from the gate, in the current bucket.
    /// Returns whether it did, and the ration that the caller then holds, of which at most
    /// `max_ration` is new.
    pub(super) fn refill(&self, n: u64, max_ration: u64, mut ration: Ration) -> (bool, Ration) {
        // Once: a clock may be faster than a turn.
        let read = self.clock.now().as_nanos();
        let ledger = self.ledger();
        let mut head = ledger.look();
        loop {
            let (seen, terms) = (head.seen, head.seen.terms);
            let now = ledger.time(read);
            if let Ok(rest) = ration.less(n, now) {
                return (true, rest);
            }
            let start = terms.start_of(now);
            ledger.record_time(start);
            let last = terms.end_of(now);
            let is_of_now = ration.last == last;
            if seen.start < start || !seen.is_open() || !(is_of_now || ration.is_none()) {
                let next = Next::at(start.max(seen.start), terms);
                let back = if is_of_now { Ration::NONE } else { ration };
                if ledger.turn_and_give_back(&head, next, back) && !is_of_now {
                    ration = Ration::NONE;
                }
                head = ledger.look();
                continue;
            }
            let need = n - ration.left.min(n);
            if seen.start > start || !seen.fits(need) {
                return (false, ration); // others wait, or nothing is left
            }
            let share = seen.left() / (2 * open_rows().first as u64);
            let granted = share.clamp(need, max_ration.max(need));
            if head.seen.grant_or_see(granted) {
                return (true, Ration { last, left: ration.left + granted - n });
            }
            // The exchange has brought the word's line, and its present content: where the head is
            // still the same, the next exchange needs no other look at it.
            if !ledger.is(&head) {
                head = ledger.look();
            }
        }
    }

    /// Returns whether `n` does not fit into the current bucket, if one look can tell: that of
    /// [`quick`](Self::quick).
    pub(super) fn refuses(&self, n: u64) -> bool {
        let now = self.clock.quick().as_nanos();
        let ledger = self.ledger();
        let (version, seen) = ledger.glance();
        let is_now = seen.contains(now) && ledger.has_reached(seen.start);
        let is_vacant = || !ledger.vacancies().are_before(seen.start);
        is_now && ledger.is_at(version) && !seen.fits(n) && !is_vacant()
    }

    /// Gives back a ration that will never be used.
    pub(super) fn give_back(&self, ration: Ration) {
        while !ration.is_none() {
            let ledger = self.ledger();
            let head = ledger.look();
            let (start, terms) = (head.seen.start, head.seen.terms);
            if ledger.turn_and_give_back(&head, Next::at(start, terms), ration) {
                return;
            }
        }
    }
}
