//! The second look of a portable add to a window, in three forms. An add announces the bucket that
//! it found, looks again whether that bucket is the current one, adds, and takes the announcement
//! back. The second look must not be made before the announcement, as far as this thread's own
//! program goes (a barrier of the whole process does the rest), and the add not before the look.
//!
//! | form | the second look |
//! |---|---|
//! | `acquire` | an Acquire load: on arm64 `ldar`, which waits for the `stlr` before it |
//! | `barrier` | a Relaxed load, and a barrier for loads behind it: on arm64 `dmb ishld` |
//! | `none` | nothing behind it: not correct, the floor |
//!
//! On x86-64 the three compile to equal code. The library reaches the bucket by the address that
//! the second look finds, which on arm64 is the code of `none`, and is correct.

use std::hint::black_box;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering, compiler_fence};

use crate::took::{Loop, Took, one};

/// Values on cache lines that each have one writer.
#[repr(align(128))]
struct Line<T>(T);

/// A bucket's cell, the pointer by which it is found, and this thread's announcement.
struct Announced {
    current: Line<AtomicPtr<AtomicU64>>,
    hazard: Line<AtomicPtr<AtomicU64>>,
    _cell: Box<Line<AtomicU64>>,
}

impl Announced {
    fn new() -> Announced {
        let cell = Box::new(Line(AtomicU64::new(0)));
        let current = AtomicPtr::new(black_box((&raw const cell.0).cast_mut()));
        Announced { current: Line(current), hazard: Line(AtomicPtr::new(null_mut())), _cell: cell }
    }

    /// One add; `look` is the second look.
    #[inline]
    fn add(&self, n: u64, look: impl Fn(&AtomicPtr<AtomicU64>) -> *mut AtomicU64) {
        let found = self.current.0.load(Ordering::Relaxed);
        self.hazard.0.store(found, Ordering::Release);
        compiler_fence(Ordering::SeqCst);
        if look(&self.current.0) != found {
            return; // no other thread changes it here
        }
        // SAFETY: the current pointer is that of the cell beside it.
        let cell = unsafe { &*found };
        let before = cell.load(Ordering::Relaxed);
        cell.store(before.wrapping_add(n), Ordering::Relaxed);
        self.hazard.0.store(null_mut(), Ordering::Release);
    }
}

#[inline]
fn barrier() {
    // SAFETY: it orders this thread's loads and touches nothing.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        std::arch::asm!("dmb ishld", options(nostack, preserves_flags));
    }
    #[cfg(not(target_arch = "aarch64"))]
    std::sync::atomic::fence(Ordering::Acquire);
}

fn acquire(times: u64) -> Took {
    one(times, Announced::new, |bucket, n| bucket.add(n, |at| at.load(Ordering::Acquire)))
}

fn relaxed(times: u64) -> Took {
    one(times, Announced::new, |bucket, n| {
        bucket.add(n, |at| {
            let found = at.load(Ordering::Relaxed);
            barrier();
            found
        });
    })
}

fn none(times: u64) -> Took {
    one(times, Announced::new, |bucket, n| bucket.add(n, |at| at.load(Ordering::Relaxed)))
}

/// All of them, by name.
pub(crate) const LOOPS: &[(&str, Loop)] =
    &[("look, acquire", acquire), ("look, barrier", relaxed), ("look, none", none)];
