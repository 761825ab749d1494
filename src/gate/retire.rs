//! The end of a gate that nobody needs any more.
//!
//! # Promise
//!
//! A gate that is retired has granted nothing that counts now or later, and grants nothing ever
//! after. So a new gate that takes its place grants, together with the old one, no more than the
//! limit in any interval.
//!
//! # Why
//!
//! A retired gate is one whose limit is zero, which nobody can set. It is set by a turn, as any
//! other limit: so whoever looks next finds that nothing fits, and a grant that was decided before
//! fails, or comes before the seal. In that case the turn fails, since it seals the very word in
//! which nothing was granted.
//!
//! No bucket from an interval before the gate's time on has a grant. A new gate on the same clock,
//! made when the old one is retired, grants from the bucket of that time on: no run of buckets that
//! ends there reaches back to a grant of the old one.

use crate::clock::Clock;
use crate::error::GateError;
use crate::gate::Gate;
use crate::gate::next::Next;
use crate::gate::terms::Terms;

/// The limit of a retired gate.
const RETIRED: u64 = 0;

impl<C: Clock> Gate<C> {
    /// Ends the gate, if nothing that it has granted counts any more; then returns true, also if it
    /// has ended before.
    ///
    /// A retired gate has a [limit](Self::limit) of zero, for ever. It refuses every weight but
    /// zero, and says never to come back. While anything is [granted](Self::granted) or [waited
    /// for](Self::waiting), it does nothing, and returns false: there is no moment between that
    /// look and the end. It costs what opening a bucket does.
    ///
    /// It is for gates that come and go: one for each client, say. A gate that is dropped forgets
    /// what it has granted, and a thread that has found it just before may still ask it; so with a
    /// new one there would be twice the limit. If it was retired, there is not: all that the two
    /// grant in an interval is within the limit, on a clock that does not step back. Who finds a
    /// retired gate takes it out, and looks again:
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Family, Gate, labels};
    ///
    /// labels! { pub struct Client { client: str } }
    ///
    /// static GATES: Family<Client, Gate> = Family::with_constructor(|| {
    ///     Gate::builder(2).interval(Duration::from_secs(3_600)).build().expect("two an hour")
    /// });
    ///
    /// fn try_admit(client: &str) -> bool {
    ///     loop {
    ///         let gate = GATES.with(Client { client });
    ///         if gate.try_admit(1) {
    ///             return true;
    ///         } else if gate.limit() > 0 {
    ///             return false;
    ///         }
    ///         drop(gate); // retired, but still in the family
    ///         GATES.remove_if(Client { client }, |gate| gate.limit() == 0);
    ///     }
    /// }
    ///
    /// /// From time to time.
    /// fn forget_idle() -> usize {
    ///     GATES.retain(|gate, _| !gate.retire())
    /// }
    ///
    /// assert!(try_admit("a") && try_admit("a") && !try_admit("a"));
    /// assert_eq!((forget_idle(), GATES.len()), (0, 1)); // not before an hour has passed
    /// ```
    ///
    /// Not in a family whose labels are all enums: that keeps its series, and would find the
    /// retired gate again, for ever. It has no more of them than there are sets of labels. Nor is
    /// the gate of the overflow series to be retired, which stays as well; `retain` passes over it.
    /// A client that has asked that one, and finds room when others are forgotten, has both limits
    /// for an interval: where that is too much, take `windrow-tower`'s `Limits`, or a family with
    /// room for all.
    #[must_use = "a gate that is not retired must not be replaced: with another, it grants up to twice the limit"]
    pub fn retire(&self) -> bool {
        let read = self.clock.now().as_nanos();
        loop {
            let head = self.ledger.look();
            let (seen, terms) = (head.seen, head.seen.terms);
            if terms.limit == RETIRED {
                return true;
            }
            let now = self.ledger.time(read);
            let start = terms.start_of(now);
            self.ledger.note(start);
            let Some(count) = self.count_of(&head, start) else { continue };
            if count.granted > 0 || count.waiting > 0 {
                return false;
            }
            let terms = Terms { limit: RETIRED, ..terms };
            let start = start.max(seen.start);
            if self.ledger.turn(&head, Next::at(start, terms)) {
                return true;
            }
        }
    }
}

impl Terms {
    /// The same, of a gate that is not retired.
    pub(super) fn unless_retired(self) -> Result<Terms, GateError> {
        if self.limit == RETIRED { Err(GateError::Retired) } else { Ok(self) }
    }
}
