//! Grace periods: certainty that every thread that was inside has left.
//!
//! # Theorem
//!
//! Let a thread see, under its pin, that a bucket is retired, and then take a [`ticket`]. Once
//! [`passed`] is true of that ticket, every thread that had loaded the bucket from `current` has
//! unpinned, no thread will load it from there again, and all that those threads added is visible.
//! (A family's series that the thread has taken out of its list is retired in this sense, with the
//! list for `current`.)
//!
//! # Why
//!
//! Grace periods are numbered in the order in which they [`begin`]. A ticket is one more than the
//! last number given out. So a grace period that has this number or a higher one begins after the
//! ticket was taken, and so after the retirement was seen, whichever thread begins it. One serves
//! every window of the process that has something to close.
//!
//! *After* must hold for the retirement too, which the thread that begins may never have looked at.
//! It does, by the fences. Let D retire, A see it and take the ticket, B begin, and C still load
//! the old `current`. A: load `current`, fence F(A), load `begun`. B: increment `begun` beyond what
//! A has read, fence F(B); so F(A) comes before F(B) in the one order of all sequentially
//! consistent fences. C pins: store its epoch, fence F(C), load `current`. If F(A) is before F(C),
//! C's load cannot be older than A's: C sees the retirement. So F(C) comes before F(A) and F(B),
//! and the epoch that B then reads to seal its deferred function is not older than the one at which
//! C is pinned: the function waits for C. (All three pin in the library's own collector.) The
//! collector promises that the function then also sees what C has added (unpinning is Release,
//! advancing is Acquire).
//!
//! # What a deferred function may do
//!
//! It can sit in an idle thread's bag for ever, or run before another that was deferred earlier. So
//! it does no work of the protocol; it only notes a number in a cell that lives for ever. `begin`
//! flushes, so that it does not sit in this thread's own bag.

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

/// So many pins, each with a flush, see a grace period through that no thread holds up: it takes
/// two advances of the epoch, and each new pin lets it advance by one.
pub(crate) const PINS: usize = sized(3, 1);

/// The first grace period that makes quiescent what this thread, pinned, has seen retired.
pub(crate) fn ticket() -> u64 {
    fence(Ordering::SeqCst); // F(A): pairs with F(B) in `begin`, and with a pin's
    begun().load(Ordering::Relaxed) + 1
}

/// Begins the ticket's grace period, unless it or a later one has begun.
pub(crate) fn begin(ticket: u64, guard: &Guard) {
    if begun().load(Ordering::Relaxed) >= ticket {
        return; // another thread's serves as well
    }
    let number = begun().fetch_add(1, Ordering::Relaxed) + 1;
    fence(Ordering::SeqCst); // F(B): before the collector reads its epoch
    let done = done();
    // Release: pairs with the Acquire in `passed`. It hands on, with the number, what unpinning
    // threads have handed to the collector. (A read-modify-write keeps what others have handed on,
    // without acquiring it.)
    guard.defer(move || done.fetch_max(number, Ordering::Release));
    guard.flush();
}

/// Whether the ticket's grace period has passed.
pub(crate) fn passed(ticket: u64) -> bool {
    // Acquire: pairs with the Release in `begin`.
    done().load(Ordering::Acquire) >= ticket
}
