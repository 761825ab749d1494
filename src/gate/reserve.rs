//! Reserving turns of a gate for callers that may give up.
//!
//! # Promise
//!
//! A turn that is given back is granted to others, in its bucket and under its terms, and to each
//! part of its weight once. It counts all the time, so no run of buckets has more for it.
//!
//! # Why
//!
//! A grant counts in the bucket in which its wait ends, and stays there: the gate does not know
//! whose it is. So the turn is passed on as it is ([`vacancies`](crate::turn::vacancies)), until
//! its bucket ends. After a change of the terms it is not: calls that come then would have more
//! than the new limit, together with all that is granted already.

use std::time::Duration;

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::admission::Admission;
use crate::gate::decide::Decided;
use crate::timestamp::saturating_nanos;
use crate::turn::told::told;
use crate::turn::vacancies::Turn;
use crate::turn::{RefusedError, Reservation, Undo};

/// # For callers that may give up
impl<C: Clock> Gate<C> {
    /// Reserves a turn for a call of weight `n`, after a wait of at most `max_wait`. If the
    /// reservation is dropped before its turn, the turn goes to other callers.
    ///
    /// The call is an [`admit`](Self::admit) for callers that may give up: a future that is dropped
    /// while it waits, a request that is cancelled. [`Reservation`] says what becomes of their
    /// turns. A turn keeps its bucket: it is granted to callers that come until that bucket ends,
    /// whether they reserve, admit or try to; and no longer, nor after a change of the limit or the
    /// geometry.
    ///
    /// The gate takes memory for [sheets](Self#cost-and-progress).
    ///
    /// # Errors
    ///
    /// [`RefusedError`] if the wait would be longer, or the weight never fits. Nothing is taken
    /// then.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual, gate::Admission};
    ///
    /// let second = Duration::from_secs(1);
    /// let gate = Gate::builder(2).clock(Manual::default()).build()?; // 2 a second
    /// assert!(gate.try_admit(2));
    /// let turn = gate.reserve(1, second)?;
    /// assert_eq!(turn.wait(), second); // sleep, and then `turn.keep()`
    /// gate.reserve(1, second)?.keep();
    /// assert!(gate.reserve(1, second).is_err());
    /// drop(turn); // the caller has given up: the turn goes to another
    /// assert_eq!(gate.admit(1, second), Admission::After(second));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn reserve(&self, n: u64, max_wait: Duration) -> Result<Reservation<'_, C>, RefusedError> {
        let ledger = self.ledger();
        let lasts = ledger.look().seen.terms.length;
        let Decided { admission, start, changes } = self.decide(n, saturating_nanos(max_wait));
        let wait = match admission {
            Admission::Now => 0,
            Admission::After(wait) => saturating_nanos(wait),
            Admission::Refused { retry_after } => {
                let retry_after = retry_after.map(|distance| told(distance, &self.clock));
                return Err(RefusedError { retry_after });
            }
        };
        let turn = Turn { moment: start, lasts, weight: n, terms: changes };
        let vacancies = ledger.vacancies();
        let now = start.saturating_sub(wait);
        Ok(Reservation::new(&self.clock, now, turn, Undo::Nothing, vacancies, ledger))
    }
}
