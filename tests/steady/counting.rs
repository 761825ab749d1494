//! An allocator that counts.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// The system's allocator, and what there is of its memory.
pub(crate) struct Counting;

/// Bytes that are allocated.
static LIVE: AtomicI64 = AtomicI64::new(0);
/// Allocations by threads that only add.
static WHILE_ADDING: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static ADDS: Cell<bool> = const { Cell::new(false) };
    /// The bytes that this thread has allocated, less those that it has freed.
    static OWN: Cell<i64> = const { Cell::new(0) };
}

fn note(bytes: i64) {
    LIVE.fetch_add(bytes, Ordering::Relaxed);
    OWN.set(OWN.get() + bytes);
    if bytes > 0 && ADDS.get() {
        WHILE_ADDING.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator as it is; the numbers beside it are
// atomics and a thread-local without destructor, which allocate nothing. (`realloc` and
// `alloc_zeroed` come by here too: they are made of these two.)
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size().cast_signed() as i64);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        note(-(layout.size().cast_signed() as i64));
        // SAFETY: the caller's promise is passed on; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

/// Bytes that are allocated now, in the whole process.
pub(crate) fn live_bytes() -> i64 {
    LIVE.load(Ordering::Relaxed)
}

/// Bytes that this thread has allocated, less those that it has freed. (The test harness has a
/// thread of its own, which allocates when it likes.)
pub(crate) fn own_bytes() -> i64 {
    OWN.get()
}

/// Runs `adds`, which does nothing but add, and counts its allocations: of all threads together
/// that are in here.
pub(crate) fn while_adding<T>(adds: impl FnOnce() -> T) -> T {
    ADDS.set(true);
    let result = adds();
    ADDS.set(false);
    result
}

/// Returns the number of allocations in [`while_adding`].
pub(crate) fn allocations() -> u64 {
    WHILE_ADDING.load(Ordering::Relaxed)
}
