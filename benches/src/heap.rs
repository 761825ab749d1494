//! The heap, counted: what is on it, and how often it was asked for more.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, and two numbers beside it: a `#[global_allocator]` for programs that count
/// their heap.
#[derive(Default)]
pub struct Counting {
    bytes: AtomicUsize,
    allocations: AtomicUsize,
}

impl Counting {
    /// Nothing counted yet.
    #[must_use]
    pub const fn new() -> Counting {
        Counting { bytes: AtomicUsize::new(0), allocations: AtomicUsize::new(0) }
    }

    /// Bytes that were asked for and not given back, without what the allocator adds for itself.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// How many times memory was asked for, by any thread.
    pub fn allocations(&self) -> usize {
        self.allocations.load(Ordering::Relaxed)
    }
}

// SAFETY: every call is passed to the system's allocator as it is; the numbers beside it are two
// atomics, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.allocations.fetch_add(1, Ordering::Relaxed);
        self.bytes.fetch_add(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        self.bytes.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on; every block came from the system's allocator.
        unsafe { System.dealloc(block, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_not_there() {
        let heap = Counting::new();
        let layout = Layout::array::<u64>(100).expect("a small array");
        // SAFETY: the layout is not empty.
        let block = unsafe { heap.alloc(layout) };
        assert_eq!((heap.bytes(), heap.allocations()), (800, 1));
        // SAFETY: allocated above, with this layout.
        unsafe { heap.dealloc(block, layout) };
        assert_eq!((heap.bytes(), heap.allocations()), (0, 1));
    }
}
