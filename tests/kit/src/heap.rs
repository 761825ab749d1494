//! An allocator that counts what each thread keeps.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, which counts calls and bytes by thread. For a `#[global_allocator]`.
pub struct Counting;

thread_local! {
    /// The bytes that this thread has allocated, less those that it has freed.
    static KEPT: Cell<i64> = const { Cell::new(0) };
    /// The most of these bytes since `peak_of` has begun.
    static PEAK: Cell<i64> = const { Cell::new(0) };
    /// The number of this thread's allocations.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn note(bytes: i64) {
    let kept = KEPT.get() + bytes;
    KEPT.set(kept);
    PEAK.set(PEAK.get().max(kept));
}

/// Returns the number of this thread's allocations in `act`. (What `act` returns is dropped
/// afterwards.)
pub fn allocations_of<T>(act: impl FnOnce() -> T) -> u64 {
    let before = ALLOCATIONS.get();
    let done = act();
    let after = ALLOCATIONS.get();
    drop(done);
    after - before
}

/// Returns the bytes that this thread has allocated, less those that it has freed.
pub fn kept_bytes() -> i64 {
    KEPT.get()
}

/// Returns what `act` returns, and the bytes that this thread has allocated and not freed in it.
pub fn kept_by<T>(act: impl FnOnce() -> T) -> (T, i64) {
    let before = kept_bytes();
    let done = act();
    (done, kept_bytes() - before)
}

/// Returns what `act` returns, and the most bytes that this thread had in it at once, beyond those
/// that it had before.
pub fn peak_of<T>(act: impl FnOnce() -> T) -> (T, i64) {
    let before = kept_bytes();
    PEAK.set(before);
    let done = act();
    (done, PEAK.get() - before)
}

// SAFETY: every call is passed to the system's allocator as it is; the numbers beside it are
// thread-locals without destructor, which allocate nothing. (`realloc` and `alloc_zeroed` come by
// here too: they are made of these two.)
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
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
