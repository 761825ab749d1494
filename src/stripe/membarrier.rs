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

//!
//! # If the kernel refuses
//!
//! A window or a family asks for barriers only if the process could register for them. The kernel
//! may refuse one all the same: a process that was restored from a checkpoint may not be registered
//! any more (`EPERM`), and a sandbox may have been closed meanwhile. Then the process registers
//! again, and tries once more. If that fails too, no barrier has ended: buckets that were retired
//! stay open, with their blocks, and further buckets count in shared cells, which is as exact and
//! slower. Each rotation tries again. The first barrier that ends serves all buckets that wait. In
//! the same way series that were removed from families stay, and each removal tries again.

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

pub(super) use system::{is_offered, restarting_is_offered};

/// All barriers of one kind.
pub(crate) struct Barriers {
    /// The number of the last barrier that has begun.
    begun: AtomicU64,
    /// The highest number of a barrier that has ended.
    done: AtomicU64,
    /// Registers the process; returns false if the system refuses.
    register: fn() -> bool,
    /// Executes a barrier; returns false if the system refuses.
    make: fn() -> bool,
}

global! {
    /// Returns the barriers that also restart each sequence under way.
    pub(crate) fn restarting() -> Barriers = Barriers {
        begun: AtomicU64::new(0),
        done: AtomicU64::new(0),
        register: per_core::register_for_membarrier,
        make: per_core::membarrier,
    };
}

global! {
    /// Returns the barriers that are only a fence in every thread.
    pub(crate) fn fencing() -> Barriers = Barriers {
        begun: AtomicU64::new(0),
        done: AtomicU64::new(0),
        register: system::register,
        make: system::fence_everywhere,
    };
}

/// Returns whether this process may use [restarting] barriers. Asks the kernel, which may take a
/// millisecond at the first call.
#[inline]
pub(crate) fn may_restart() -> bool {
    (restarting().register)()
}

/// Returns whether this process may use [fencing] barriers. Costs the same as [`may_restart`].
#[inline]
pub(crate) fn may_fence() -> bool {
    (fencing().register)()
}

impl Barriers {
    /// Returns the number of the first barrier after which a bucket that this thread has seen
    /// retired is quiescent. (Or a series removed: see `family::series_hold`.)
    #[inline]
    pub(crate) fn ticket(&self) -> u64 {
        fence(Ordering::SeqCst); // F(A): pairs with F(B) in `execute`
        self.begun.load(Ordering::Relaxed) + 1
    }

    /// Returns whether the ticket's barrier, or a later one, has ended.
    #[inline]
    pub(crate) fn passed(&self, ticket: u64) -> bool {
        // Acquire: pairs with the Release in `execute`. A barrier of any thread is enough, and
        // everything done before it is visible.
        self.done.load(Ordering::Acquire) >= ticket
    }

    /// Executes the ticket's barrier or a later one, unless one has ended already. If the kernel
    /// refuses, also after the process has registered again, nothing changes.
    ///
    /// A system call, which usually takes microseconds. But the kernel has one lock for the
    /// barriers of all processes, so another process can delay the call for any time. So the caller
    /// is not pinned, and holds nothing that an add needs. (A family that frees series holds its
    /// lock, and its user may be pinned: then others that remove, iterate or take handles wait.)
    #[inline]
    pub(crate) fn execute(&self, ticket: u64) {
        if self.passed(ticket) {
            return;
        }
        let number = self.begun.fetch_add(1, Ordering::Relaxed) + 1;
        fence(Ordering::SeqCst); // F(B): before the barrier
        if (self.make)() || (self.register)() && (self.make)() {
            // Release: publishes, with the number, that the barrier has ended. (A
            // read-modify-write: it keeps what other threads have published, without acquiring it.)
            self.done.fetch_max(number, Ordering::Release);
        }
    }
}

#[cfg(all(test, not(any(loom, shuttle))))]
mod tests {
    use std::cell::RefCell;

    use super::*;

    thread_local! {
        /// The system's answers, the next one last.
        static ANSWERS: RefCell<Vec<(&'static str, bool)>> = const { RefCell::new(Vec::new()) };
    }

    /// Returns the next answer, which is that to `what`.
    fn answer(what: &str) -> bool {
        let (expected, answer) = ANSWERS.with_borrow_mut(Vec::pop).expect("one call too many");
        assert_eq!(what, expected);
        answer
    }

    /// Asks for a barrier of a system that gives these answers, and for no more; returns whether
    /// the barrier has ended.
    fn ends(barriers: &Barriers, answers: &[(&'static str, bool)]) -> bool {
        ANSWERS.set(answers.iter().rev().copied().collect());
        let ticket = barriers.ticket();
        barriers.execute(ticket);
        assert_eq!(ANSWERS.take(), [], "there was no call");
        barriers.passed(ticket)
    }

    fn barriers() -> Barriers {
        Barriers {
            begun: AtomicU64::new(0),
            done: AtomicU64::new(0),
            register: || answer("register"),
            make: || answer("make"),
        }
    }

    #[test]
    fn a_refused_barrier_is_registered_for_and_tried_once_more() {
        let barriers = barriers();
        assert!(ends(&barriers, &[("make", true)]));
        assert!(ends(&barriers, &[("make", false), ("register", true), ("make", true)]));
        assert!(ends(&barriers, &[("make", true)]));
    }

    /// No bucket counts as quiescent without a barrier, until one ends again.
    #[test]
    fn a_barrier_that_is_refused_for_good_has_not_ended() {
        let barriers = barriers();
        let refused = [("make", false), ("register", false)];
        let before = barriers.ticket();
        assert!(!ends(&barriers, &refused));
        assert!(!ends(&barriers, &[("make", false), ("register", true), ("make", false)]));
        assert!(!barriers.passed(before));
        assert!(ends(&barriers, &[("make", false), ("register", true), ("make", true)]));
        assert!(barriers.passed(before));
    }
}
