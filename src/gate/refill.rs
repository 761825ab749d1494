//! Refilling a row's ration: the gate grants more than is asked for, and the rest is for whoever
//! comes next on the row.
//!
//! # Theorem
//!
//! For each run of as many buckets as the terms say, what is taken of rations of these buckets, and
//! what the gate grants in them beside rations, is together never more than the limit.
//!
//! # Why
//!
//! ```text
//!   out    the row's ration, swapped for nothing          the caller's from here on
//!   back   if it is of another bucket: a turn of the gate that takes it off where it was granted
//!   grant  k of the head's bucket, which is that of now   by the compare-exchange of every grant
//!   in     what the caller does not need, swapped for what is there; what that was goes back
//! ```
//!
//! - What is in a ration was granted before: *grant* comes before *in*. So all that is taken of a bucket's rations was granted in
//!   that bucket, and is in the gate's sum until it is given back.
//! - What is given back was not taken, and never will be. One swap has found it, and it is no longer in a row
//!   ([`take`](crate::stripe::take)). A thread that read an old clock takes of what is in the row then, and of nothing else.
//! - It is taken off the bucket in which it is counted, and once: by the turn that the gate has
//!   made. If that bucket has left, or the geometry has changed since ([`Next`]), it stays counted,
//!   which is too much and never too little.
//!
//! So at each moment what a bucket counts is what was taken of it, and what lies in rows or is in
//! threads' hands. The first is never more than the sum, and the sum never more than the limit
//! ([`ledger`](super::ledger)).
//!
//! # How short
//!
//! What others hold is granted and not used, so the gate may refuse before all was used. `k` is
//! never more than `most`, nor, if the caller needs no more, than an equal share of half of what is
//! left. So others hold `most` in each of the other open rows at most, and each thread in the
//! middle of a refill as much.

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::next::Next;
use crate::stripe::open::open_rows;
use crate::stripe::ration::Ration;

impl<C: Clock> Gate<C> {
    /// Grants `n` out of a ration that the caller has, and of the gate in the current bucket.
    /// Returns whether it did, and the ration that the caller then has, of which no more than
    /// `most` is new.
    pub(super) fn refill(&self, n: u64, most: u64, mut ration: Ration) -> (bool, Ration) {
        // Once: a clock may be faster than a turn.
        let read = self.clock.now().as_nanos();
        loop {
            let head = self.ledger.look();
            let (seen, terms) = (head.seen, head.seen.terms);
            let now = self.ledger.time(read);
            if let Ok(rest) = ration.less(n, now) {
                return (true, rest);
            }
            let start = terms.start_of(now);
            self.ledger.note(start);
            let last = start.saturating_add(terms.length - 1);
            let is_of_now = ration.last == last;
            if seen.start < start || !seen.is_open() || !(is_of_now || ration.is_none()) {
                let next = Next::at(start.max(seen.start), terms);
                let back = if is_of_now { Ration::NONE } else { ration };
                if self.ledger.turn_and_give_back(&head, next, back) && !is_of_now {
                    ration = Ration::NONE;
                }
                continue;
            }
            let need = n - ration.left.min(n);
            if seen.start > start || !seen.fits(need) {
                return (false, ration); // others wait, or there is no more
            }
            let share = seen.left() / (2 * open_rows().first as u64);
            let granted = share.clamp(need, most.max(need));
            if seen.grant(granted) {
                return (true, Ration { last, left: ration.left + granted - n });
            }
        }
    }

    /// Whether the current bucket has no more than the limit less `n`, as far as can be told by one
    /// look: that of [`quick`](Self::quick).
    pub(super) fn refuses(&self, n: u64) -> bool {
        let now = self.clock.quick().as_nanos();
        let (version, seen) = self.ledger.glance();
        let is_now = seen.contains(now) && self.ledger.has_reached(seen.start);
        is_now && self.ledger.is_at(version) && !seen.fits(n)
    }

    /// Gives back what was granted and will never be used.
    pub(super) fn give_back(&self, ration: Ration) {
        while !ration.is_none() {
            let head = self.ledger.look();
            let (start, terms) = (head.seen.start, head.seen.terms);
            if self.ledger.turn_and_give_back(&head, Next::at(start, terms), ration) {
                return;
            }
        }
    }
}
