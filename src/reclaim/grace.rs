//! Grace periods, after which every thread that was pinned before has unpinned.
//!
//! # Theorem
//!
//! Let a thread see, under its pin, that a bucket is retired, and then take a [`ticket`]. Once
//! [`passed`] is true of that ticket, every thread that had loaded the bucket from `current` has
//! unpinned, no thread will load it from there again, and everything that those threads added is
//! visible. (A family's series that was taken out of its list is retired in this sense; the list
//! then takes the role of `current`.)
//!
//! # Why
//!
//! Grace periods are numbered in the order in which they [`begin`]. A ticket is one more than the
//! last number given out. So a grace period that has this number or a higher one begins after the
//! ticket was taken, and so after the retirement was seen, whichever thread begins it. One grace
//! period serves all windows of the process that have a bucket to close.
//!
//! *After* must hold for the retirement too, which the thread that begins the grace period may
//! never have seen. It does, by the fences. Let D retire, A see it and take the ticket, B begin,
//! and C still load the old `current`. A: load `current`, fence F(A), load `begun`. B: increment
//! `begun` beyond what A has read, fence F(B); so F(A) comes before F(B) in the one order of all
//! sequentially consistent fences. C pins: store its epoch, fence F(C), load `current`. If F(A) is
//! before F(C), C's load cannot be older than A's: C sees the retirement. So F(C) comes before F(A)
//! and F(B), and the epoch that B then reads to seal its deferred function is not older than the
//! one at which C is pinned: the function waits for C. (All three pin in the library's own
//! collector.) The collector guarantees that the function then also sees everything that C has
//! added (unpinning is Release, advancing is Acquire).
//!
//! # The deferred function
//!
//! It can stay in an idle thread's bag without end, or run before another that was deferred
//! earlier. So it does no work of the protocol; it only stores a number in a cell that is never
//! freed. `begin` flushes, so that the function does not stay in this thread's own bag.

use crate::reclaim::Guard;
use crate::sync::{AtomicU64, Ordering, fence, global, sized};

global! {
    /// The number of the last grace period that has begun.
    fn begun() -> AtomicU64 = AtomicU64::new(0);
}

global! {
    /// The highest number of a grace period that has passed.
    fn done() -> AtomicU64 = AtomicU64::new(0);
}

/// The number of pins, each with a flush, after which a grace period has passed if no thread holds
/// it up: it takes two advances of the epoch, and each new pin lets the epoch advance by one.
pub(crate) const PINS: usize = sized(3, 1);

/// Returns the number of the first grace period after which a bucket is quiescent that this thread,
/// pinned, has seen retired.
#[inline]
pub(crate) fn ticket() -> u64 {
    fence(Ordering::SeqCst); // F(A): pairs with F(B) in `begin`, and with a pin's
    begun().load(Ordering::Relaxed) + 1
}

/// Begins the ticket's grace period, unless it or a later one has begun.
#[inline]
pub(crate) fn begin(ticket: u64, guard: &Guard) {
    if begun().load(Ordering::Relaxed) >= ticket {
        return; // another thread's is enough
    }
    let number = begun().fetch_add(1, Ordering::Relaxed) + 1;
    fence(Ordering::SeqCst); // F(B): before the collector reads its epoch
    let done = done();
    // Release: pairs with the Acquire in `passed`. It publishes, with the number, everything that
    // unpinning threads have released to the collector. (A read-modify-write continues the release
    // sequences of others, without acquiring them.)
    guard.defer(move || done.fetch_max(number, Ordering::Release));
    guard.flush();
}

/// Returns whether the ticket's grace period has passed.
#[inline]
pub(crate) fn passed(ticket: u64) -> bool {
    // Acquire: pairs with the Release in `begin`.
    done().load(Ordering::Acquire) >= ticket
}
