//! Points at which a test kills the process or holds a thread, or lets the file system be full.
//! Only this crate's own tests have them.

/// A point after a step of a creation or a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(crate) enum Point {
    /// The file is whole, without a name.
    Created = 1,
    /// The file has its name.
    Linked,
    /// The lock is held.
    Locked,
    /// The memory is claimed.
    Claimed,
    /// Half of the entry is written.
    HalfWritten,
    /// All of the entry is written.
    Written,
    /// The end is stored.
    Published,
    /// The state of a slot says that it is being taken.
    SlotMarked,
    /// Half of its words are clear.
    SlotHalfCleared,
    /// Its state is that of the next owner.
    SlotPublished,
    /// Its lock is held.
    SlotLocked,
    /// A thread looks whether the process has restartable sequences.
    Detecting,
    /// It asks the C library to call a function at each fork.
    Preparing,
}

#[cfg(not(test))]
#[inline]
pub(crate) fn reach(_: Point) {}

#[cfg(not(test))]
#[inline]
pub(crate) fn is_full() -> bool {
    false
}

#[cfg(test)]
pub(crate) use tests::{HOLD_AT, IS_HELD, KILL_AT, fill, is_full, reach};

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

    use super::Point;

    /// The number of the point at which this process is killed; zero if it is not.
    pub(crate) static KILL_AT: AtomicU32 = AtomicU32::new(0);

    /// The number of the point at which the first thread is held until this is zero again.
    pub(crate) static HOLD_AT: AtomicU32 = AtomicU32::new(0);

    /// Says that a thread is held.
    pub(crate) static IS_HELD: AtomicBool = AtomicBool::new(false);

    thread_local! {
        /// The number of claims until the file system is full for this thread.
        static CLAIMS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
    }

    pub(crate) fn reach(point: Point) {
        if KILL_AT.load(Ordering::Relaxed) == point as u32 {
            // SAFETY: it ends this process, as nothing else could.
            unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
        }
        let is_here = || HOLD_AT.load(Ordering::Acquire) == point as u32;
        if is_here() && !IS_HELD.swap(true, Ordering::AcqRel) {
            while is_here() {
                std::thread::yield_now();
            }
        }
    }

    /// Lets the file system be full for this thread after a number of claims.
    pub(crate) fn fill(after: Option<u32>) {
        CLAIMS_LEFT.set(after);
    }

    pub(crate) fn is_full() -> bool {
        let left = CLAIMS_LEFT.get();
        CLAIMS_LEFT.set(left.map(|left| left.saturating_sub(1)));
        left == Some(0)
    }
}
