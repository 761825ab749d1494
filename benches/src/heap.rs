//! An allocator that counts the bytes on the heap.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The system's allocator, and two numbers beside it: a `#[global_allocator]` for programs that
/// count their heap.
#[derive(Default)]
pub struct Counting {
    bytes: AtomicUsize,
    /// The most bytes at a time.
    peak: AtomicUsize,
    stopped: AtomicBool,
}

impl Counting {
    /// Returns an allocator with counts of zero.
    #[must_use]
    pub const fn new() -> Counting {
        Counting {
            bytes: AtomicUsize::new(0),
            peak: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
        }
    }

    /// Stops to count, or goes on. Where times are measured nothing is counted: threads that
    /// allocate would wait for each other at the numbers. Afterwards only differences tell
    /// something.
    pub fn stop(&self, stop: bool) {
        self.stopped.store(stop, Ordering::Relaxed);
    }

    fn counts(&self) -> bool {
        !self.stopped.load(Ordering::Relaxed)
    }

    /// Bytes that were asked for and not given back, without what the allocator adds for itself.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns the most bytes at a time since [`forget_peak`](Self::forget_peak).
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Begins the search for the peak anew.
    pub fn forget_peak(&self) {
        self.peak.store(self.bytes(), Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the system's allocator as it is; the numbers beside it are
// atomics, which allocate nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if self.counts() {
            let before = self.bytes.fetch_add(layout.size(), Ordering::Relaxed);
            self.peak.fetch_max(before.wrapping_add(layout.size()), Ordering::Relaxed);
        }
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.counts() {
            self.bytes.fetch_sub(layout.size(), Ordering::Relaxed);
        }
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
        assert_eq!(heap.bytes(), 800);
        // SAFETY: allocated above, with this layout.
        unsafe { heap.dealloc(block, layout) };
        assert_eq!(heap.bytes(), 0);
        heap.stop(true);
        // SAFETY: as above.
        unsafe { heap.dealloc(heap.alloc(layout), layout) };
        assert_eq!(heap.bytes(), 0);
    }
}
