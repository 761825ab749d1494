//! Barriers: knowing that no sequence which is under way uses what was there before.
//!
//! # Theorem
//!
//! Let a thread see that a pointer to a [`LiveBucket`](super::live_bucket::LiveBucket) was made to point elsewhere, and
//! then take a [`ticket`]. Once [`passed`] says so of that ticket, no sequence will commit to what the
//! pointer pointed at before, and all that sequences have committed there is visible.
//!
//! # Why
//!
//! A barrier interrupts every processor that is running a thread of this process: what is in the
//! middle of a sequence there starts again, from its first load (`membarrier(2)`,
//! `MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ`). A thread that is not running was interrupted when it
//! stopped, and will start again. So each sequence has committed before the barrier's end, or
//! loads the pointer after the barrier's beginning.
//!
//! Barriers are numbered in the order in which they begin. A ticket is one more than the last
//! number given out: a barrier with this number, or a higher one, begins after the ticket was taken,
//! and so after the change was seen. One serves all windows of the process that have something to
//! close: a thousand of them may move on in the same instant.
//!
//! That a sequence which begins after the barrier also *sees* the change, which neither it nor
//! whoever begins the barrier may have looked at, is the processor's: the strategy is for x86-64,
//! where a store that one thread has seen is seen by all. The ticket's load of `begun` comes after the
//! load that saw the change, and before the increment of `begun` that begins the barrier.

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

/// Whether this process may use barriers. Asks the kernel, which may take a millisecond the first
/// time.
pub(crate) fn available() -> bool {
    per_core::register_for_membarrier()
}

/// The first barrier that can quiesce what this thread has seen retired.
pub(crate) fn ticket() -> u64 {
    // Acquire: pairs with the Release in `execute`, so that whoever is given a number that was given
    // out has the one before it behind it.
    begun().load(Ordering::Acquire) + 1
}

/// Whether the ticket's barrier, or a later one, has ended.
pub(crate) fn passed(ticket: u64) -> bool {
    // Acquire: pairs with the Release in `execute`: any thread's barrier will do, and what was committed
    // before it is visible.
    done().load(Ordering::Acquire) >= ticket
}

/// Sees to it that the ticket's barrier, or a later one, has begun and ended; unless the kernel refuses.
///
/// A system call, which takes microseconds where all is well; but the kernel has one lock for the
/// barriers of all processes, so another process can make it take as long as it likes. The caller is not
/// pinned, and holds nothing that others need.
pub(crate) fn execute(ticket: u64) {
    if passed(ticket) {
        return;
    }
    // AcqRel: in one order with all tickets and barriers.
    let number = begun().fetch_add(1, Ordering::AcqRel) + 1;
    if per_core::membarrier() {
        // Release: hands on, with the number, that all this has happened. (A read-modify-write: it
        // keeps what others have handed on, without acquiring it.)
        done().fetch_max(number, Ordering::Release);
    }
}
