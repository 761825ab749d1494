//! Deciding on a call: now, later, or not at all; and summing the grants.
//!
//! A call decides on one look at the head. The decision stands if a compare-exchange of the sheet's
//! word, or of the head, succeeds. A refusal needs neither: at the moment when the word was read,
//! the bucket was the head's, and the weight did not fit.
//!
//! A loop runs again only because another thread has granted, turned or sealed. Each turn ends a
//! call, except a turn that opens the current bucket, which is opened once; and a bucket is sealed
//! once before a turn. So calls end as long as any threads take steps: they are lock-free.
//!
//! A bucket is the current one by the gate's time. A wait for a later one is reckoned from the
//! clock's reading, which may be behind that time, and includes the distance by which it is.

use std::time::Duration;

use crate::clock::Clock;
use crate::gate::Gate;
use crate::gate::admission::Admission;
use crate::gate::first_permits::Answer;
use crate::gate::head_sheet::{Head, Ledger};
use crate::gate::next_sheet::Next;
use crate::gate::row;
use crate::gate::terms::Terms;
use crate::timestamp::{Timestamp, saturating_nanos};
use crate::turn::told::resolution;

/// Decides as [`Gate::admit`], and also returns the start of the bucket in which it granted. For
/// tests.
pub fn admit_and_tell<C: Clock>(
    gate: &Gate<C>,
    n: u64,
    max_wait: Duration,
) -> (Admission, Option<Timestamp>) {
    let (admission, start) = match gate.quick(n) {
        Ok(Some(start)) => (Admission::Now, start),
        _ => gate.decide_and_tell(n, max_wait),
    };
    (admission, admission.is_granted().then(|| Timestamp::from_nanos(start)))
}

/// The quick path cannot decide.
pub(super) struct OutOfLine;

/// Another thread has turned meanwhile: the head is a different one.
struct Overtaken;

/// The decision on a call.
pub(super) struct Decided {
    /// Its times are distances from the clock's reading.
    pub(super) admission: Admission,
    /// The start of the bucket in which it was granted.
    pub(super) start: u64,
    /// The number of changes of the terms before it was granted.
    pub(super) changes: u64,
}

/// The grants of a gate at one moment.
pub(super) struct Count {
    pub(super) granted: u64,
    pub(super) waiting: u64,
    pub(super) left: u64,
}

impl<C: Clock> Gate<C> {
    /// Grants `n` in the current bucket and returns its start, or returns `None` for a refusal.
    /// Decides only while the current bucket is the head's and a clock has shown it: nearly every
    /// call is decided here.
    #[inline]
    pub(super) fn quick(&self, n: u64) -> Result<Option<u64>, OutOfLine> {
        let Some(ledger) = self.permits.sheets() else { return Err(OutOfLine) };
        let now = self.clock.quick().as_nanos();
        let (version, mut head) = ledger.glance();
        if !head.contains(now) || !ledger.has_reached(head.start) {
            return Err(OutOfLine);
        }
        while ledger.is_at(version) && head.is_open() {
            if !head.fits(n) {
                // A turn of this bucket, whose caller has given up, may be granted.
                let is_none = ledger.vacancies().are_before(head.start);
                return if is_none { Ok(None) } else { Err(OutOfLine) };
            }
            if head.grant(n) {
                return Ok(Some(head.start));
            }
        }
        Err(OutOfLine)
    }

    /// Grants `n` without a wait where the quick path cannot decide, or refuses.
    #[cold]
    #[inline(never)]
    pub(super) fn try_out_of_line(&self, n: u64) -> bool {
        let is_refused = n == 1
            && self.permits.sheets().is_none()
            && self.permits.refuse(self.clock.quick().as_nanos());
        if is_refused { false } else { self.is_granted(n) }
    }

    #[cold]
    #[inline(never)] // so that a refusal saves no registers
    fn is_granted(&self, n: u64) -> bool {
        self.decide(n, 0).admission.is_granted()
    }

    /// Decides as [`decide`](Self::decide), and returns what the caller is told.
    pub(super) fn decide_and_tell(&self, n: u64, max_wait: Duration) -> (Admission, u64) {
        let Decided { admission, start, .. } = self.decide(n, saturating_nanos(max_wait));
        (admission.told_by(&self.clock), start)
    }

    /// Decides, without the quick path.
    #[cold]
    pub(super) fn decide(&self, n: u64, max_wait: u64) -> Decided {
        // Once: a clock may be faster than a turn.
        let read = self.clock.now().as_nanos();
        if self.permits.sheets().is_none()
            && let Some((admission, start)) = self.decide_by_permits(n, max_wait, read)
        {
            return Decided { admission, start, changes: 0 };
        }
        let never = Admission::Refused { retry_after: None };
        let ledger = self.ledger();
        loop {
            let head = ledger.look();
            let (seen, terms) = (head.seen, head.seen.terms);
            let now = ledger.time(read);
            let start = terms.start_of(now);
            let changes = seen.changes;
            let decided = |admission, start| Decided { admission, start, changes };
            if n == 0 {
                return decided(Admission::Now, start);
            }
            if n > terms.limit {
                return decided(never, 0);
            }
            ledger.record_time(start);
            if seen.start < start {
                ledger.turn(&head, Next::at(start, terms));
                continue;
            }
            let Ok(fitting) = ledger.fitting(&head, n) else { continue };
            let Some(at) = fitting else { return decided(never, 0) };
            let wait = Duration::from_nanos(at - read.min(at));
            let waits = at > now;
            if waits {
                let latest = self.waits_until(read, max_wait, terms);
                let reached = start..=latest.max(start).min(at - 1);
                if let Some(at) = ledger.vacancies().take(n, changes, reached) {
                    let wait = Duration::from_nanos(at - read.min(at));
                    return decided(
                        if at > start { Admission::After(wait) } else { Admission::Now },
                        at,
                    );
                }
                if at > latest {
                    return decided(Admission::Refused { retry_after: Some(wait) }, 0);
                }
            }
            let granted = if at == seen.start && seen.is_open() {
                seen.grant(n)
            } else {
                ledger.turn(&head, Next { grant: n, ..Next::at(at, terms) })
            };
            if granted {
                return decided(if waits { Admission::After(wait) } else { Admission::Now }, at);
            }
        }
    }

    /// Returns the latest moment that a caller whose clock shows `read` may wait for: an interval
    /// later, and as long as it wants to by what it would be told.
    fn waits_until(&self, read: u64, max_wait: u64, terms: Terms) -> u64 {
        if max_wait == 0 {
            return read;
        }
        let told = max_wait.saturating_sub(resolution(&self.clock));
        read.saturating_add(told).min(terms.horizon(terms.start_of(read)))
    }

    /// Decides without sheets, or returns `None` if that needs sheets.
    fn decide_by_permits(&self, n: u64, max_wait: u64, read: u64) -> Option<(Admission, u64)> {
        let terms = self.permits.terms();
        if n == 0 {
            return Some((Admission::Now, terms.start_of(read)));
        }
        if n > terms.limit {
            return Some((Admission::Refused { retry_after: None }, 0));
        }
        if n > 1 {
            return None;
        }
        match self.permits.take(read) {
            Answer::Granted { start } => Some((Admission::Now, start)),
            Answer::Refused { free } => {
                let reserves = |free| free <= self.waits_until(read, max_wait, terms);
                let retry_after = free.map(|free| Duration::from_nanos(free - read));
                (!free.is_some_and(reserves)).then_some((Admission::Refused { retry_after }, 0))
            }
            Answer::NeedsSheets => None,
        }
    }

    /// Returns the gate's sheets, and makes them if there are none.
    #[inline]
    pub(super) fn ledger(&self) -> &Ledger {
        self.permits.sheets().unwrap_or_else(|| self.permits.spill())
    }

    /// Sums the grants at the gate's time.
    pub(super) fn count(&self) -> Count {
        let now = self.clock.now().as_nanos();
        if self.permits.sheets().is_none() {
            let limit = self.permits.terms().limit;
            if limit == 0 {
                return Count { granted: 0, waiting: 0, left: 0 };
            }
            if let Some(granted) = self.permits.granted(now) {
                return Count { granted, waiting: 0, left: limit - granted };
            }
        }
        let ledger = self.ledger();
        loop {
            let head = ledger.look();
            let start = head.seen.terms.start_of(ledger.time(now));
            if !ledger.is_paid_until(&head, start) {
                continue;
            }
            if let Some(count) = ledger.count_of(&head, start) {
                return count;
            }
        }
    }

    /// Returns the sum of all grants that count against the limit, now or later.
    pub(crate) fn in_use(&self) -> u64 {
        let Count { granted, waiting, .. } = self.count();
        granted.saturating_add(waiting)
    }
}

impl Ledger {
    /// Returns the start of the first bucket, from the head's on, in which `n` fits; `None` if time
    /// ends earlier. `n` is at most the limit.
    #[inline]
    fn fitting(&self, head: &Head<'_>, n: u64) -> Result<Option<u64>, Overtaken> {
        let (seen, terms) = (head.seen, head.seen.terms);
        if seen.fits(n) {
            return Ok(Some(seen.start));
        }
        let steps = row::fitting(n, seen.owed, terms, seen.each().take(terms.buckets));
        if !self.is(head) {
            return Err(Overtaken);
        }
        let wait = steps.and_then(|steps| terms.length.checked_mul(steps));
        Ok(wait.and_then(|wait| seen.start.checked_add(wait)))
    }

    /// Sums the grants that the head knows, as of the bucket at `start`; `None` if another thread
    /// has turned meanwhile.
    #[inline]
    pub(super) fn count_of(&self, head: &Head<'_>, start: u64) -> Option<Count> {
        let (seen, terms) = (head.seen, head.seen.terms);
        let mut each = seen.each();
        // First the buckets that have not begun; then those of the interval, fewer if the head is
        // behind.
        let ahead = terms.steps(start, seen.start);
        let behind = terms.steps(seen.start, start);
        let sum = |sum: u64, granted: u64| sum.wrapping_add(granted);
        let waiting = each.by_ref().take(ahead).fold(0, sum).saturating_add(seen.owed);
        let granted = each.take(terms.buckets.saturating_sub(behind)).fold(0, sum);
        let left = if ahead > 0 { 0 } else { terms.limit.saturating_sub(granted) };
        self.is(head).then_some(Count { granted, waiting, left })
    }
}
