//! Retiring a gate that is no longer needed.
//!
//! # Promise
//!
//! A retired gate has no grant that counts now or later, and never grants again. So a new gate that
//! replaces it grants, together with the old one, no more than the limit in any interval.
//!
//! # Why
//!
//! A retired gate has a limit of zero, which no caller can set. A turn sets it, as any other limit:
//! so the next look finds that nothing fits. A grant that was decided earlier fails, or comes
//! before the seal; in that case the turn fails, since it seals only the word that had no grants.
//!
//! No bucket within an interval before the gate's time, or later, has a grant. A new gate on the
//! same clock, made when the old one is retired, grants from the bucket of that time on: no run of
//! buckets that ends there reaches back to a grant of the old one.

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::next_sheet::Next;

impl<C: Clock> Gate<C> {
    /// Retires the gate if it is idle. Returns whether it is retired now.
    ///
    /// A retired gate has a [limit](Self::limit) of zero, for ever. It refuses every weight except
    /// zero, and returns `retry_after: None`. While any [grant](Self::granted) or
    /// [reservation](Self::waiting) counts, this does nothing and returns false: no grant can come
    /// between that check and the end. It costs what opening a bucket does.
    ///
    /// The call is for gates that come and go, e.g. one per client. A gate that is dropped forgets
    /// its grants, while a thread that found it just before may still use it. Replacing such a gate
    /// would let up to twice the limit through; replacing a retired one cannot: all grants of the
    /// two in an interval are within the limit, on a clock that does not step back. A caller that
    /// finds a retired gate removes it, and looks again:
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
    ///         } else if !gate.is_retired() {
    ///             return false;
    ///         }
    ///         drop(gate); // retired, but still in the family
    ///         GATES.remove_if(Client { client }, Gate::is_retired);
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
    /// Do not use it in a family whose labels are all enums: such a family keeps its series (one
    /// for each set of labels), and would always find the retired gate again. Do
    /// not retire the gate of the overflow series, which stays as well; `retain` passes over it. A
    /// client that has used the overflow series, and gets a series of its own when others are
    /// removed, has both limits for an interval: where that is too much, take `windrow-tower`'s
    /// `Limits`, or a family whose `limit` is above the number of clients.
    #[must_use = "a gate that is not retired must not be replaced: with another, it grants up to twice the limit"]
    pub fn retire(&self) -> bool {
        let read = self.clock.now().as_nanos();
        if self.permits.sheets().is_none() {
            if self.permits.terms().are_retired() {
                return true;
            }
            if let Some(is_retired) = self.permits.retire(read) {
                return is_retired;
            }
        }
        let ledger = self.ledger();
        loop {
            let head = ledger.look();
            let (seen, terms) = (head.seen, head.seen.terms);
            if terms.are_retired() {
                return true;
            }
            let now = ledger.time(read);
            let start = terms.start_of(now);
            ledger.record_time(start);
            if !ledger.is_paid_until(&head, start) {
                continue;
            }
            let Some(count) = ledger.count_of(&head, start) else { continue };
            if count.granted > 0 || count.waiting > 0 {
                return false;
            }
            let start = start.max(seen.start);
            if ledger.turn(&head, Next::at(start, terms.retired())) {
                return true;
            }
        }
    }

    /// Returns whether the gate is [retired](Self::retire), from when on its
    /// [limit](Self::limit) is zero. Costs what reading the limit does.
    ///
    /// A refusal without a time to come back has two causes: the weight is above the limit, or the
    /// gate is retired. Only in the second case will another gate admit it.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, gate::Admission};
    ///
    /// let gate = Gate::builder(2).build()?;
    /// let refused = Admission::Refused { retry_after: None };
    /// assert_eq!(gate.admit(3, Duration::ZERO), refused);
    /// assert!(!gate.is_retired());
    /// assert!(gate.retire() && gate.is_retired());
    /// assert_eq!(gate.admit(2, Duration::ZERO), refused);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn is_retired(&self) -> bool {
        self.limit() == 0
    }
}
