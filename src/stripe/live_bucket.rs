//! The part of the live bucket that an add reads.

use crate::address_dependency::Zero;
use crate::sync::{AtomicPtr, AtomicU64, Ordering};

/// In a row's count of records, the bit that says that the row has a pending value (see
/// [`per_core`](super::per_core)).
pub(crate) const PENDING: u64 = 1 << 63;

/// A thing that has a pointer to a window's live bucket, and a [`Guess`]. Each constant is a
/// distance in bytes from the thing's beginning.
pub(crate) trait HasLive {
    /// The pointer's.
    const CURRENT: usize;
    /// The guess's.
    #[allow(dead_code)] // where sequences have no use for it
    const GUESS: usize;
}

/// A guess of the live bucket's column: the last one that a sequence has found. Sequences that use
/// it compare it with the column, and write it if it is another.
#[derive(Debug, Default)]
pub(crate) struct Guess(#[allow(dead_code)] AtomicPtr<AtomicU64>);

/// The way from a window to its live bucket.
#[allow(dead_code)] // where there are no sequences
pub(crate) struct Live<W> {
    /// The window. (Where the pointer is in it is a constant of the code, so that an add needs no
    /// instruction to compute the pointer's address.)
    pub(crate) window: *const W,
    /// Zero, by the load that has shown that the window is made: the address of the pointer depends
    /// on it.
    pub(crate) made: Zero,
}

impl<W> Clone for Live<W> {
    #[inline]
    fn clone(&self) -> Live<W> {
        *self
    }
}

impl<W> Copy for Live<W> {}

impl<W: HasLive> Live<W> {
    /// Returns the address of the window's pointer to the bucket.
    #[inline(always)]
    #[allow(clippy::inline_always, dead_code)] // an address; x86-64 does not need it
    pub(crate) fn current(self) -> *const AtomicPtr<LiveBucket> {
        // SAFETY: the pointer stands there.
        unsafe { self.window.byte_add(W::CURRENT).cast() }
    }
}

/// The part of a window's live bucket that an add reads: the first field of each bucket. It does
/// not change while any thread may be adding through it.
///
/// Its fields are atomics because the bucket's memory is reused. A reader that does not prevent
/// reuse, but checks for it afterwards, must not cause a data race.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct LiveBucket {
    /// The bucket's start, in nanoseconds.
    pub(crate) start: AtomicU64,
    /// The bucket's length; or zero if it has no columns. So one comparison checks both that a time
    /// lies in the bucket and that the bucket has columns.
    pub(crate) span: AtomicU64,
    /// Its first column: the cell in row 0; where adds are portable, with
    /// [`portable`](super::portable)'s tag.
    pub(crate) column: AtomicPtr<AtomicU64>,
}

impl LiveBucket {
    /// Returns a live bucket that contains no time.
    pub(crate) fn empty() -> LiveBucket {
        LiveBucket {
            start: AtomicU64::new(0),
            span: AtomicU64::new(0),
            column: AtomicPtr::new(std::ptr::null_mut()),
        }
    }

    /// Returns the bucket's start.
    #[inline]
    pub(crate) fn start(&self) -> u64 {
        self.start.load(Ordering::Relaxed) // published with the bucket
    }

    /// Returns whether a time lies in the bucket, and the bucket has columns.
    #[inline]
    pub(crate) fn contains(&self, at: u64) -> bool {
        // For a time before the start the difference wraps. It is then at least the start's
        // distance from the end of time, which no length exceeds.
        at.wrapping_sub(self.start()) < self.span.load(Ordering::Relaxed)
    }
}
