//! Deciding: now, later, or not at all; and counting what was decided.
//!
//! A decision is made on one look at the head, and stands if a compare-exchange of its word
//! succeeds, or one of the head. A refusal needs neither: at the moment when the word was read, the
//! bucket was the head's, and what was asked for did not fit.
//!
//! A loop goes round only because another thread has granted, turned or sealed. Each turn ends a
//! call, but one that opens the bucket of now; and that is opened once. A bucket is sealed once
//! before a turn. So while any threads take steps, calls end.

use std::time::Duration;

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::admission::Admission;
use crate::gate::ledger::Head;
use crate::gate::next::Next;
use crate::timestamp::{Timestamp, saturating_nanos};

/// As [`Gate::admit`], and the start of the bucket in which it was granted. For tests.
pub fn admit_and_tell<C: Clock>(
    gate: &Gate<C>,
    n: u64,
    max_wait: Duration,
) -> (Admission, Option<Timestamp>) {
    let (admission, start) = match gate.quick(n) {
        Ok(Some(start)) => (Admission::Now, start),
        _ => gate.decide(n, saturating_nanos(max_wait)),
    };
    (admission, admission.is_granted().then(|| Timestamp::from_nanos(start)))
}

/// It takes more to decide.
pub(super) struct OutOfLine;

/// The head is another one by now.
struct Overtaken;

/// What a gate has granted, at one moment.
pub(super) struct Count {
    pub(super) granted: u64,
    pub(super) waiting: u64,
    pub(super) left: u64,
}

impl<C: Clock> Gate<C> {
    /// The start of the current bucket, if `n` is granted there, and `None` if it is refused; as
    /// long as that is the head's bucket, and a clock has shown it. Nearly every call is decided
    /// here.
    #[inline]
    pub(super) fn quick(&self, n: u64) -> Result<Option<u64>, OutOfLine> {
        let now = self.clock.quick().as_nanos();
        let (version, mut head) = self.ledger.glance();
        if !head.contains(now) || !self.ledger.has_reached(head.start) {
            return Err(OutOfLine);
        }
        while self.ledger.is_at(version) && head.is_open() {
            if !head.fits(n) {
                return Ok(None);
            }
            if head.grant(n) {
                return Ok(Some(head.start));
            }
        }
        Err(OutOfLine)
    }

    /// Decides, and says in which bucket it was granted.
    #[cold]
    pub(super) fn decide(&self, n: u64, max_wait: u64) -> (Admission, u64) {
        // Once: a clock may be faster than a turn.
        let read = self.clock.now().as_nanos();
        loop {
            let head = self.ledger.look();
            let (seen, terms) = (head.seen, head.seen.terms);
            let now = self.ledger.time(read);
            let start = terms.start_of(now);
            if n == 0 {
                return (Admission::Now, start);
            }
            if n > terms.limit {
                return (Admission::Refused { retry_after: None }, 0);
            }
            self.ledger.note(start);
            if seen.start < start {
                self.ledger.turn(&head, Next::at(start, terms));
                continue;
            }
            let Ok(fitting) = self.fitting(&head, n) else { continue };
            let retry_after = fitting.map(|at| Duration::from_nanos(at.saturating_sub(now)));
            let within =
                |at: &u64| at.saturating_sub(now) <= max_wait && *at <= terms.horizon(start);
            let Some(at) = fitting.filter(within) else {
                return (Admission::Refused { retry_after }, 0);
            };
            let granted = if at == seen.start && seen.is_open() {
                seen.grant(n)
            } else {
                self.ledger.turn(&head, Next { grant: n, ..Next::at(at, terms) })
            };
            if granted {
                let wait = Duration::from_nanos(at.saturating_sub(now));
                let admission =
                    if wait.is_zero() { Admission::Now } else { Admission::After(wait) };
                return (admission, at);
            }
        }
    }

    /// The first start, not before the head's, in which `n` fits, which is no more than the limit;
    /// `None` if time ends before.
    fn fitting(&self, head: &Head<'_>, n: u64) -> Result<Option<u64>, Overtaken> {
        let (seen, terms) = (head.seen, head.seen.terms);
        if seen.fits(n) {
            return Ok(Some(seen.start));
        }
        let most = terms.limit - n;
        let mut each = seen.each().take(terms.buckets);
        // The latest buckets may stay, as long as they hold no more than `most`; those before must
        // have left.
        let mut sum = 0_u64;
        let staying = each.position(|granted| {
            sum = sum.wrapping_add(granted);
            sum > most
        });
        if !self.ledger.is(head) {
            return Err(Overtaken);
        }
        let steps = (terms.buckets - staying.unwrap_or(0)) as u64;
        Ok(terms.length.checked_mul(steps).and_then(|wait| seen.start.checked_add(wait)))
    }

    /// What was granted, as of now.
    pub(super) fn count(&self) -> Count {
        let now = self.clock.now().as_nanos();
        loop {
            let head = self.ledger.look();
            let start = head.seen.terms.start_of(self.ledger.time(now));
            if let Some(count) = self.count_of(&head, start) {
                return count;
            }
        }
    }

    /// All that counts against the limit, now or later.
    pub(crate) fn in_use(&self) -> u64 {
        let Count { granted, waiting, .. } = self.count();
        granted + waiting
    }

    /// What was granted by the head, as of the bucket at `start`; `None` if the head is another one
    /// by now.
    pub(super) fn count_of(&self, head: &Head<'_>, start: u64) -> Option<Count> {
        let (seen, terms) = (head.seen, head.seen.terms);
        let mut each = seen.each();
        // Buckets that have not begun yet; then buckets of the interval, fewer if the head is
        // behind.
        let ahead = terms.steps(start, seen.start);
        let behind = terms.steps(seen.start, start);
        let sum = |sum: u64, granted: u64| sum.wrapping_add(granted);
        let waiting = each.by_ref().take(ahead).fold(0, sum);
        let granted = each.take(terms.buckets.saturating_sub(behind)).fold(0, sum);
        let left = if ahead > 0 { 0 } else { terms.limit.saturating_sub(granted) };
        self.ledger.is(head).then_some(Count { granted, waiting, left })
    }
}
