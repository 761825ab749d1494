//! Changing a gate's limit and geometry.
//!
//! # Promise
//!
//! A change forgets no grant that counts, and a grant after it is within the new terms.
//!
//! # Why
//!
//! A change is a turn, as the opening of a bucket: [`head_sheet`](super::head_sheet) has the
//! theorem, and [`next_sheet`](super::next_sheet) the rule that places earlier grants in the new
//! buckets. That rule needs a time by which they are used: the clock's reading, or a later time if
//! the clock is behind ([`Terms::time_of_change`]).
//!
//! The clock is read behind the look at the head. So, if the clock does not step back, the reading
//! is not before that of any grant that the look has found. The time that the gate has reached is
//! read before the clock: a reading that is less shows that the clock has stepped back.

use std::time::Duration;

use crate::clock::Clock;
use crate::error::{BuildError, LimitError};
use crate::gate::Gate;
use crate::gate::next_sheet::Next;
use crate::gate::terms::Terms;
use crate::ring::Geometry;

/// # Changing it
impl<C: Clock> Gate<C> {
    /// Changes the limit, while other threads use the gate.
    ///
    /// Grants after this returns are within the new limit, together with all earlier grants in
    /// their interval. Earlier grants stay: after the limit was lowered, the gate refuses until
    /// enough of them have left the interval.
    ///
    /// The call costs what opening a bucket does.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if the limit is zero or more than 2^40, or the gate is
    /// [retired](Self::retire); then it stays as it was.
    ///
    /// ```
    /// let gate = windrow::Gate::builder(2).clock(windrow::clock::Manual::default()).build()?;
    /// assert!(gate.try_admit(2));
    /// gate.set_limit(5)?;
    /// assert_eq!(gate.left(), 3);
    /// gate.set_limit(1)?;
    /// assert_eq!((gate.granted(), gate.left()), (2, 0));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn set_limit(&self, limit: u64) -> Result<(), LimitError> {
        self.terms().unless_retired()?.with_limit(limit)?;
        let ledger = self.ledger();
        loop {
            let head = ledger.look();
            let terms = head.seen.terms.unless_retired()?.with_limit(limit)?;
            let now = ledger.time(self.clock.now().as_nanos());
            if !ledger.is_paid_until(&head, head.seen.terms.start_of(now)) {
                continue; // a debt is paid by the limit that held
            }
            let start = head.seen.start;
            if ledger.turn(&head, Next::changed(start, terms)) {
                return Ok(());
            }
        }
    }

    /// Changes the interval and the number of buckets, while other threads use the gate.
    ///
    /// A gate that was built [strict](crate::gate::GateBuilder::strict) stays strict: it has one
    /// more bucket of that length.
    ///
    /// Each grant that the gate remembers still counts. One rule places it: it counts in the bucket
    /// of the last moment at which its caller may go on. That is the end of the bucket in which it
    /// was granted, or in which its wait ends; but no later than the moment by which all earlier
    /// grants are to be used: now, or the end of the last wait from before the previous change. (If
    /// the clock is [behind](#time), now is the end of the current bucket.)
    ///
    /// A gate with permits remembers the grants that count; one with sheets remembers two intervals
    /// before the end of the last wait. If the new interval is much shorter than a wait, an older
    /// grant that still counts, counts in the oldest bucket that the gate remembers.
    ///
    /// So a change forgets nothing too early. Where only the number of buckets changes, and no wait
    /// is longer than the new interval, it moves nothing; where the length changes, each grant may
    /// be forgotten up to one bucket later. (A gate knows its time to the bucket. So a clock that
    /// has stepped back within the current bucket is believed, unless it shows a time before the
    /// previous change.)
    ///
    /// A gate whose interval becomes longer does not know what it has already forgotten: grants in
    /// the new interval are within the limit together with all grants that the gate still knew.
    ///
    /// The call costs what opening a bucket does. If there are more buckets than ever before, each
    /// sheet that the gate keeps gets more memory when it is used next; its earlier memory is kept
    /// until the gate is dropped.
    ///
    /// # Errors
    ///
    /// Those of [`GateBuilder::build`](crate::gate::GateBuilder::build), and
    /// [`LimitError::Retired`]; the gate then stays as it was. A clock that is too coarse for the
    /// new buckets is refused even if the builder
    /// [allowed](crate::gate::GateBuilder::allow_coarse_clock) it for the first ones.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let gate = Gate::builder(2).clock(clock.clone()).build()?;
    /// assert!(gate.try_admit(2));
    /// gate.reconfigure(Duration::from_secs(60), 60)?;
    /// clock.advance(Duration::from_secs(59));
    /// assert_eq!((gate.buckets(), gate.granted()), (60, 2));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn reconfigure(&self, interval: Duration, buckets: usize) -> Result<(), LimitError> {
        let mut geometry = Geometry::new(interval, buckets)?;
        geometry.check_clock(&self.clock)?;
        self.terms().unless_retired()?;
        let ledger = self.ledger();
        if ledger.is_strict() {
            geometry = geometry.with_spare()?;
        }
        loop {
            let head = ledger.look();
            let terms = Terms::new(geometry, head.seen.terms.unless_retired()?.limit)?;
            if !ledger.has_room(terms.history()) {
                return Err(BuildError::TooManyBuckets { buckets }.into());
            }
            let reached = ledger.reached(); // before the reading, which is then behind if less
            let now = head.seen.terms.time_of_change(reached, self.clock.now().as_nanos());
            if !ledger.is_paid_until(&head, head.seen.terms.start_of(now)) {
                continue;
            }
            ledger.record_time(now);
            let change = ledger.change(now, &head);
            let start = terms.start_of(change.used_by.max(head.seen.latest()));
            let next = Next { change: Some(change), ..Next::changed(start, terms) };
            if ledger.turn(&head, next) {
                return Ok(());
            }
        }
    }
}
