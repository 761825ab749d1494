//! Barriers of the whole process: after one, each thread sees everything that was visible to the
//! caller before it.
//!
//! There are two kinds, each with its own numbers. One also [restarts](restarting) sequences that
//! are under way; the other is only a [full fence](fencing) in every thread.
//!
//! # Theorem
//!
//! Let a thread see that a pointer has changed, and then take a [`ticket`](Barriers::ticket). Once
//! [`passed`](Barriers::passed) is true of that ticket, each other thread has passed a full fence
//! at some point of its program: its loads after that point see the change, and everything it did
//! before that point is visible.
//!
//! If the barriers restart sequences, no sequence will commit to the
//! [`LiveBucket`](super::live_bucket::LiveBucket) to which the pointer led before, and everything
//! that sequences have committed there is visible.
//!
//! # Why
//!
//! A barrier interrupts every processor that is running a thread of this process, and makes it
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
//! sequentially consistent fences. So after F(C), C loads nothing older than what A has seen.

use super::per_core;
use crate::sync::{AtomicU64, Ordering, fence, global};

// One of four, with the same functions.
#[cfg_attr(windrow_announced, path = "membarrier/modelled.rs")]
#[cfg_attr(
    all(
        target_os = "linux",
        not(any(target_env = "uclibc", loom, shuttle, miri)) // no name for the call, or no system
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
    /// Executes a barrier; returns false if the system refuses.
    make: fn() -> bool,
}

global! {
    /// Returns the barriers that also restart each sequence under way.
    pub(crate) fn restarting() -> Barriers = Barriers {
        begun: AtomicU64::new(0),
        done: AtomicU64::new(0),
        make: per_core::membarrier,
    };
}

global! {
    /// Returns the barriers that are only a fence in every thread.
    pub(crate) fn fencing() -> Barriers = Barriers {
        begun: AtomicU64::new(0),
        done: AtomicU64::new(0),
        make: system::fence_everywhere,
    };
}

/// Returns whether this process may use [restarting] barriers. Asks the kernel, which may take a
/// millisecond at the first call.
pub(crate) fn may_restart() -> bool {
    per_core::register_for_membarrier()
}

/// Returns whether this process may use [fencing] barriers. Costs the same as [`may_restart`].
pub(crate) fn may_fence() -> bool {
    system::register()
}

impl Barriers {
    /// Returns the number of the first barrier after which a bucket that this thread has seen
    /// retired is quiescent.
    pub(crate) fn ticket(&self) -> u64 {
        fence(Ordering::SeqCst); // F(A): pairs with F(B) in `execute`
        self.begun.load(Ordering::Relaxed) + 1
    }

    /// Returns whether the ticket's barrier, or a later one, has ended.
    pub(crate) fn passed(&self, ticket: u64) -> bool {
        // Acquire: pairs with the Release in `execute`. A barrier of any thread is enough, and
        // everything done before it is visible.
        self.done.load(Ordering::Acquire) >= ticket
    }

    /// Executes the ticket's barrier or a later one, unless one has ended already or the kernel
    /// refuses.
    ///
    /// A system call, which usually takes microseconds. But the kernel has one lock for the
    /// barriers of all processes, so another process can delay the call for any time. The caller is
    /// not pinned, and holds nothing that other threads need.
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
