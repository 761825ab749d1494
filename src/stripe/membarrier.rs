//! Barriers: after one, no sequence under way uses what was there before.
//!
//! # Theorem
//!
//! Let a thread see that a pointer to a [`LiveBucket`](super::live_bucket::LiveBucket) has changed, and then
//! take a [`ticket`]. Once [`passed`] is true of that ticket, no sequence will commit to the bucket that the
//! pointer led to before, and all that sequences have committed there is visible.
//!
//! # Why
//!
//! A barrier interrupts every processor that is running a thread of this process. A thread in the middle
//! of a sequence there starts it again, from its first load (`membarrier(2)`,
//! `MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ`). A thread that is not running was interrupted when it
//! stopped, and will start again. So each sequence has committed before the barrier's end, or
//! loads the pointer after the barrier's beginning.
//!
//! Barriers are numbered in the order in which they begin. A ticket is one more than the last
//! number given out. A barrier with this number, or a higher one, begins after the ticket was taken,
//! and so after the change was seen. One barrier serves all windows of the process that have something
//! to close: a thousand of them may rotate in the same instant.
//!
//! A sequence that begins after the barrier also *sees* the change, although neither it nor the thread
//! that begins the barrier may have loaded the pointer before. The processor guarantees that: the strategy
//! is for x86-64, where a store that one thread has seen is seen by all. The ticket's load of `begun` comes
//! after the load that saw the change, and before the increment of `begun` that begins the barrier.

use super::per_core;
use crate::sync::{AtomicU64, Ordering, global};

global! {
    /// The number of the last barrier that has begun.
    fn begun() -> AtomicU64 = AtomicU64::new(0);
}

global! {
    /// The highest number of a barrier that has ended.
    fn done() -> AtomicU64 = AtomicU64::new(0);
}

/// Whether this process may use barriers. Asks the kernel: the first time may take a millisecond.
pub(crate) fn available() -> bool {
    per_core::register_for_membarrier()
}

/// The first barrier that can quiesce what this thread has seen retired.
pub(crate) fn ticket() -> u64 {
    // Acquire: pairs with the Release in `execute`: what happened before the last barrier began, happened
    // before this.
    begun().load(Ordering::Acquire) + 1
}

/// Whether the ticket's barrier, or a later one, has ended.
pub(crate) fn passed(ticket: u64) -> bool {
    // Acquire: pairs with the Release in `execute`. Any thread's barrier will do, and what was committed
    // before it is visible.
    done().load(Ordering::Acquire) >= ticket
}

/// Executes the ticket's barrier or a later one, unless one has ended already or the kernel refuses.
///
/// A system call: microseconds, as a rule. But the kernel has one lock for the barriers of all processes,
/// so another process can make the call take as long as it likes. The caller is not pinned, and holds
/// nothing that other threads need.
pub(crate) fn execute(ticket: u64) {
    if passed(ticket) {
        return;
    }
    // AcqRel: in one order with all tickets and barriers.
    let number = begun().fetch_add(1, Ordering::AcqRel) + 1;
    if per_core::membarrier() {
        // Release: publishes, with the number, that the barrier has ended. (A read-modify-write: it
        // keeps what other threads have published, without acquiring it.)
        done().fetch_max(number, Ordering::Release);
    }
}
