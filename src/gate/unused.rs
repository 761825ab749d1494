//! Giving back a grant that its caller has not used.
//!
//! # Promise
//!
//! The grant counts no longer, and nothing else changes: all that callers use in an interval stays
//! within the limit.
//!
//! # Why
//!
//! - A permit that is given back has no grant again. Its grant before had left the interval when
//!   this one was granted. The gate's time stays what the grant has shown.
//! - In sheets, a turn subtracts the grant from its bucket, as it does with a ration
//!   ([`ration_refill`](super::ration_refill)). It finds the bucket if no change of the geometry
//!   has moved the grant: if the bucket begins after the last change and all waits from before it,
//!   or if it is that of the head, and has at least this many grants. Otherwise the grant stays
//!   counted, which is too much and never too little.
//!
//! Until then it counts, and may refuse another call. A call that looks at the permits meanwhile
//! may be refused although at each moment one of them was free.

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::next_sheet::Next;
use crate::timestamp::Timestamp;

/// Gives back a grant of `n` in the bucket that begins at `start`, which the caller has from
/// [`admit_and_tell`](super::admit_and_tell), and does not use. For `windrow-tower`.
pub fn leave_unused<C: Clock>(gate: &Gate<C>, n: u64, start: Timestamp) {
    let start = start.as_nanos();
    if n == 0 || gate.permits.sheets().is_none() && gate.permits.put_back(start) {
        return;
    }
    let ledger = gate.ledger();
    loop {
        let head = ledger.look();
        let seen = head.seen;
        let Some(unused) = seen.unused(n, start) else { return };
        if ledger.turn_and_give_back(&head, Next::at(seen.start, seen.terms), unused) {
            return;
        }
    }
}
