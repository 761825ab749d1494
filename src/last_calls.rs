//! The last n calls: the number of those that failed, and of those that were slow.
//!
//! # The protocol
//!
//! Each call takes a **ticket**, the next number of a shared word, when it is recorded. The tickets
//! are the order of the calls: with `t` the greatest ticket, the last `n` calls are those with the
//! tickets `t - n + 1` to `t`. A call's **slot** is its ticket modulo `n`, so `n` tickets in a row
//! have all slots, one each. A slot's word has the call's **lap**, its ticket divided by `n`, above
//! its outcome. A call is written to its slot by `fetch_max`: the call of the latest lap stays.
//!
//! Each write of a slot also changes the shared **totals** by the difference between the outcome
//! that it wrote and the one that it replaced. `fetch_max` returns what it replaced, and the writes
//! of a slot follow each other: the differences of a slot add up to its last outcome.
//!
//! # The theorem
//!
//! While no record runs, each ticket was written or was found overtaken by a later one of its slot.
//! So each slot has its latest ticket, which are the last `n`, and the totals are the sum of their
//! outcomes: exact, in whichever order the threads ran.
//!
//! While records run, each of them may have taken a ticket without having written its slot, or have
//! written the slot without having changed the totals. Each is one change of one call. So each
//! field of the totals is off by at most one for each running record.
//!
//! A thread that stands still between its ticket and its write holds up no other. If `n` further
//! calls are recorded meanwhile, its own is no longer one of the last `n`, and its write changes
//! nothing.
//!
//! # Why one word for all
//!
//! The order of calls is a number that each call reads and changes. A word per core has no such
//! order: the last `n` calls of all cores are not the last `n / cores` of each. So records of
//! different cores wait for one line of memory, which adds to a window of time do not.
//!
//! All operations are Relaxed: the differences add up by the atomicity of each operation alone, and
//! a read publishes nothing else.

use std::fmt::{self, Debug, Formatter};

use crossbeam_utils::CachePadded;

use crate::error::LimitError;
use crate::sync::{AtomicU64, Ordering};

mod totals;

pub use totals::{CallTotals, Outcome};
use totals::{MOST, Packed};

/// The last `n` calls of all threads: the number of those that failed, and of slow ones.
///
/// It is the memory of a circuit breaker by number of calls (resilience4j's `COUNT_BASED` window).
/// A [`Breaker`](crate::Breaker) has its own; this one is for other decisions. A [window of
/// time](crate::SlidingWindow) forgets calls because they are old, this one because others have
/// come: after a quiet hour it still knows the last `n`.
///
/// ```
/// use windrow::last_calls::{CallTotals, LastCalls, Outcome};
///
/// let calls = LastCalls::new(3)?;
/// calls.record(Outcome { failed: true, slow: false });
/// calls.record(Outcome { failed: true, slow: true });
/// assert_eq!(calls.totals(), CallTotals { calls: 2, failed: 2, slow: 1 });
///
/// calls.record(Outcome::default());
/// calls.record(Outcome::default()); // the first one has left
/// assert_eq!(calls.totals(), CallTotals { calls: 3, failed: 1, slow: 1 });
/// # Ok::<(), windrow::LimitError>(())
/// ```
///
/// In a static it stands in a [`LazyLock`](std::sync::LazyLock).
///
/// # Exact
///
/// The order of calls is that in which they are recorded. While no thread records, the totals are
/// those of exactly the last `n` calls. While threads do, each record that is running may be
/// missing, and in its place the call of `n` calls before may be counted, or no call. So each
/// number is off by at most one for each such record. There are never more than `n` calls in the
/// totals. To forget all calls, make a new window.
///
/// # Cost and progress
///
/// A record takes three atomic operations on memory that all cores share, or two if its outcome is
/// that of the call that it replaces. So it contends, unlike an add to a window: the last calls of
/// all cores have one order. It never fails, panics or takes a lock; another thread that stands
/// still does not hold it up. A read is one load.
///
/// Memory: 8 bytes for each of the `n` calls, and 256 bytes.
///
/// The operations are Relaxed: a thread that counts a call sees nothing else of what the call's
/// thread did before.
#[doc(alias = "COUNT_BASED")]
pub struct LastCalls {
    shared: CachePadded<Shared>,
    /// The lap and the outcome of each slot's latest call; zero before the first.
    slots: Box<[AtomicU64]>,
}

/// The words that each record changes.
struct Shared {
    /// The next ticket.
    next: AtomicU64,
    /// [`Packed`] totals of the slots.
    totals: AtomicU64,
}

impl LastCalls {
    /// Makes a window of the last `size` calls, without calls: 1 to 2^20.
    ///
    /// # Errors
    ///
    /// [`LimitError`] if the size is any other.
    ///
    /// ```
    /// use windrow::{LastCalls, LimitError};
    ///
    /// assert!(LastCalls::new(100).is_ok());
    /// let none = LimitError::LastCalls { calls: 0, most: 1 << 20 };
    /// assert_eq!(LastCalls::new(0).unwrap_err(), none);
    /// ```
    #[inline]
    pub fn new(size: usize) -> Result<LastCalls, LimitError> {
        match size {
            1..=MOST => Ok(LastCalls {
                shared: CachePadded::new(Shared {
                    next: AtomicU64::new(0),
                    totals: AtomicU64::new(Packed::EMPTY),
                }),
                slots: (0..size).map(|_| AtomicU64::new(0)).collect(),
            }),
            _ => Err(LimitError::LastCalls { calls: size, most: MOST }),
        }
    }

    /// Records a call that has ended. Never fails, panics or waits.
    ///
    /// ```
    /// use windrow::last_calls::{LastCalls, Outcome};
    ///
    /// let calls = LastCalls::new(100)?;
    /// let (failed, slow) = (true, false);
    /// calls.record(Outcome { failed, slow });
    /// assert_eq!(calls.totals().failed, 1);
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    pub fn record(&self, outcome: Outcome) {
        // Relaxed, as all below: see the top of this file.
        let ticket = self.shared.next.fetch_add(1, Ordering::Relaxed);
        self.write(ticket, Packed::of(outcome));
    }

    /// Returns the totals of the last calls. See [`LastCalls`] for what they are while threads
    /// record.
    ///
    /// ```
    /// use windrow::last_calls::{CallTotals, LastCalls};
    ///
    /// assert_eq!(LastCalls::new(100)?.totals(), CallTotals::default());
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[inline]
    #[must_use]
    pub fn totals(&self) -> CallTotals {
        Packed::totals(self.shared.totals.load(Ordering::Relaxed), self.slots.len() as u64)
    }

    /// Writes the outcome of a ticket to its slot, unless a later one is there.
    #[inline]
    fn write(&self, ticket: u64, outcome: u64) {
        let size = self.slots.len() as u64;
        // The first lap is 1, so that each is greater than what an empty slot has.
        let lap = ticket / size + 1;
        let written = lap << Packed::OUTCOME_BITS | outcome;
        let replaced = self.slots[(ticket % size) as usize].fetch_max(written, Ordering::Relaxed);
        if replaced >= written {
            return;
        }
        let change = Packed::change(replaced, written);
        if change != 0 {
            self.shared.totals.fetch_add(change, Ordering::Relaxed);
        }
    }
}

/// Shows the totals.
#[allow(clippy::missing_fields_in_debug)] // the totals show the words
impl Debug for LastCalls {
    #[inline]
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let totals = self.totals();
        f.debug_struct("LastCalls")
            .field("size", &self.slots.len())
            .field("totals", &totals)
            .finish()
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use super::*;

    /// Returns the totals after tickets were written in an order of their own.
    fn written(size: usize, order: &[(u64, Outcome)]) -> CallTotals {
        let calls = LastCalls::new(size).expect("a sound size");
        for &(ticket, outcome) in order {
            calls.write(ticket, Packed::of(outcome));
        }
        calls.totals()
    }

    const GOOD: Outcome = Outcome { failed: false, slow: false };
    const BAD: Outcome = Outcome { failed: true, slow: true };

    #[test]
    fn a_ticket_that_was_overtaken_changes_nothing() {
        let totals = written(2, &[(1, GOOD), (2, GOOD), (3, GOOD), (0, BAD)]);
        assert_eq!(totals, CallTotals { calls: 2, failed: 0, slow: 0 });
    }

    #[test]
    fn a_ticket_that_was_left_out_keeps_the_call_before_it() {
        let totals = written(2, &[(0, BAD), (1, GOOD), (3, GOOD)]);
        assert_eq!(totals, CallTotals { calls: 2, failed: 1, slow: 1 });
    }
}
