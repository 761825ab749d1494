//! Settling what was granted at what it has really cost.
//!
//! # Promise
//!
//! For each run of consecutive buckets as long as the interval, the sum of the grants in it, each
//! as it was settled or else as it was granted, is at most the limit. Each unit is given back at
//! most once, in the bucket where it counts.
//!
//! # Why
//!
//! - A reservation knows the start of its bucket, and the number of changes of the terms before its
//!   grant: the number that its sheet had ([`decide`](super::decide)). No change of the geometry
//!   has come since if that is not less than the number of the last one. Then its grant counts in
//!   the bucket with that start, which no rule has moved.
//! - A refund is subtracted there by a turn, as a ration is
//!   ([`ration_refill`](super::ration_refill)). A reservation is settled once, since that consumes
//!   it; and it holds no vacant turn.
//! - A charge is granted by a turn in the same bucket, as far as each run with it has room;
//!   the rest is owed ([`row`](super::row)).
//!
//! If the bucket does not count any more, nothing is given back, since nothing is left to give, and
//! what is charged counts from the current bucket on. The same holds after a change of the
//! geometry: then the grant stays counted as it was, which is too much and never too little.

use crate::gate::head_sheet::Ledger;
use crate::gate::next_sheet::Next;
use crate::gate::row::Amend;
use crate::stripe::ration::Ration;
use crate::turn::vacancies::Turn;
use crate::turn::{Settle, Undo};

impl Settle for Ledger {
    #[inline]
    fn passes_on(&self, turn: Turn) -> bool {
        self.look().seen.changes == turn.terms
    }

    #[inline]
    fn settle(&self, turn: Turn, _: &Undo<'_>, actual: u64, clock: &dyn Fn() -> u64) -> bool {
        let read = clock();
        loop {
            let head = self.look();
            let (seen, terms) = (head.seen, head.seen.terms);
            let start = terms.start_of(self.time(read));
            let is_there = turn.terms >= seen.moved && terms.horizon(turn.moment) > start;
            let (next, is_turned);
            if actual < turn.weight {
                if !is_there {
                    return false;
                }
                let last = terms.end_of(turn.moment);
                next = Next::at(seen.start, terms);
                let back = Ration { last, left: turn.weight - actual };
                is_turned = self.turn_and_give_back(&head, next, back);
            } else {
                if terms.are_retired() {
                    return false;
                }
                self.record_time(start);
                next = Next::at(seen.start.max(start), terms);
                let weight = actual - turn.weight;
                let charged = is_there.then_some(turn.moment);
                let is_current =
                    seen.start == next.start && charged.is_none_or(|moment| moment == seen.start);
                is_turned = if is_current && seen.is_open() && seen.fits(weight) {
                    seen.grant(weight)
                } else {
                    self.turn_and_amend(&head, next, Amend::Charge { weight, start: charged })
                };
            }
            if is_turned {
                return actual < turn.weight;
            }
        }
    }
}
