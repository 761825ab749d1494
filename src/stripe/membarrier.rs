//! Barriers of the whole process: after one, each thread sees what was seen before it.
//!
//! There are two kinds, each numbered for itself. One also [restarts](restarting) sequences that
//! are under way; the other is a [full fence](fencing) in every thread, and nothing else.
//!
//! # Theorem
//!
//! Let a thread see that a pointer has changed, and then take a [`ticket`](Barriers::ticket). Once
//! [`passed`](Barriers::passed) is true of that ticket, each other thread has passed a full fence
//! at some place of its program: what it loads behind that place sees the change, and what it did
//! before it is visible.
//!
//! If the barriers restart sequences, no sequence will commit to the
//! [`LiveBucket`](super::live_bucket::LiveBucket) that the pointer led to before, and all that
//! sequences have committed there is visible.
//!
//! # Why
//!
//! A barrier interrupts every processor that is running a thread of this process, and has it
//! execute a full fence (`membarrier(2)`, `MEMBARRIER_CMD_PRIVATE_EXPEDITED`; on Windows
//! `FlushProcessWriteBuffers`). A thread that is not running had one when it stopped. With
//! `..._RSEQ`, a thread in the middle of a sequence also starts it again, from its first load. So
//! each sequence has committed before the barrier's end, or loads the pointer after the barrier's
//! beginning.
//!
//! Barriers are numbered in the order in which they begin. A ticket is one more than the last
//! number given out. A barrier with this number, or a higher one, begins after the ticket was
//! taken, and so after the change was seen. One barrier serves all windows of the process that have
//! something to close: a thousand of them may rotate in the same instant.
//!
//! *After* must hold for the change too, which the thread that begins the barrier may never have
//! looked at. It does, by the fences, as for grace periods (`reclaim::grace`). Let A see the change
//! and take the ticket, B begin, and C be interrupted. A: load the pointer, fence F(A), load
//! `begun`. B: increment `begun` beyond what A has read, fence F(B), and then the barrier, which
//! puts a fence F(C) into C. F(A) comes before F(B), and F(B) before F(C), in the one order of all
//! sequentially consistent fences. So behind F(C), C loads nothing older than what A has seen.

use super::per_core;
use crate::sync::{AtomicU64, Ordering, fence, global};

// One of four, with the same functions.
#[cfg_attr(windrow_announced, path = "membarrier/modelled.rs")]
#[cfg_attr(
    all(
        target_os = "linux",
        not(any(target_env = "uclibc", loom, shuttle, miri)) // no name for the call; no system
    ),
    path = "membarrier/linux.rs"
)]
#[cfg_attr(all(windows, not(any(loom, shuttle, miri))), path = "membarrier/windows.rs")]
#[cfg_attr(
    not(any(
        windrow_announced,
        all(target_os = "linux", not(any(target_env = "uclibc", loom, shuttle, miri))),
        all(windows, not(any(loom, shuttle, miri)))
    )),
    path = "membarrier/absent.rs"
)]
mod system;

pub(super) use system::is_offered;

/// All barriers of one kind.
pub(crate) struct Barriers {
    /// The number of the last barrier that has begun.
    begun: AtomicU64,
    /// The highest number of a barrier that has ended.
    done: AtomicU64,
    /// Makes one; false if the system refuses.
    make: fn() -> bool,
}

global! {
    /// Those that also make each sequence under way start again.
    pub(crate) fn restarting() -> Barriers = Barriers {
        begun: AtomicU64::new(0),
        done: AtomicU64::new(0),
        make: per_core::membarrier,
    };
}

global! {
    /// Those that are a fence in every thread, and nothing else.
    pub(crate) fn fencing() -> Barriers = Barriers {
        begun: AtomicU64::new(0),
        done: AtomicU64::new(0),
        make: system::fence_everywhere,
    };
}

/// Whether this process may use [restarting] barriers. Asks the kernel: the first time may take a
/// millisecond.
pub(crate) fn may_restart() -> bool {
    per_core::register_for_membarrier()
}

/// Whether this process may use [fencing] barriers. As [`may_restart`].
pub(crate) fn may_fence() -> bool {
    system::register()
}

impl Barriers {
    /// The first barrier that can quiesce what this thread has seen retired.
    pub(crate) fn ticket(&self) -> u64 {
        fence(Ordering::SeqCst); // F(A): pairs with F(B) in `execute`
        self.begun.load(Ordering::Relaxed) + 1
    }

    /// Whether the ticket's barrier, or a later one, has ended.
    pub(crate) fn passed(&self, ticket: u64) -> bool {
        // Acquire: pairs with the Release in `execute`. Any thread's barrier will do, and what was
        // done before it is visible.
        self.done.load(Ordering::Acquire) >= ticket
    }

    /// Executes the ticket's barrier or a later one, unless one has ended already or the kernel
    /// refuses.
    ///
    /// A system call: microseconds, as a rule. But the kernel has one lock for the barriers of all
    /// processes, so another process can make the call take as long as it likes. The caller is not
    /// pinned, and holds nothing that other threads need.
    pub(crate) fn execute(&self, ticket: u64) {
        if self.passed(ticket) {
            return;
        }
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        fence(Ordering::SeqCst); // F(B): before the barrier
        if (self.make)() {
            // Release: publishes, with the number, that the barrier has ended. (A
            // read-modify-write: it keeps what other threads have published, without acquiring it.)
            self.done.fetch_max(number, Ordering::Release);
        }
    }
}
