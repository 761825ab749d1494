//! Memory by the page: zeroed, mapped rather than allocated, and never unmapped.
//!
//! Pages that are never unmapped make a reference to a cell `'static`, and every access to it
//! memory-safe, even after the end of the cell's counter. Mapped pages make it cheap to reserve
//! rows for cores that may never run this process: a page costs memory from its first write on.
//! They also avoid the global allocator: an allocator may use a counter, and a first add in a
//! signal handler finds no lock held. (Systems without pages to map have at least an allocator
//! below the global one.)

use std::ptr::NonNull;

use crate::sync::AtomicU64;

// One of four, with the same functions.
#[cfg_attr(any(loom, shuttle), path = "pages/modelled.rs")]
#[cfg_attr(all(unix, not(any(loom, shuttle))), path = "pages/mapped.rs")]
#[cfg_attr(all(windows, not(any(loom, shuttle, miri))), path = "pages/virtual.rs")]
#[cfg_attr(not(any(unix, all(windows, not(miri)), loom, shuttle)), path = "pages/allocated.rs")]
mod platform;

/// The number of cells in a page of 4 KiB, the smallest of the platforms that `std` supports.
pub(crate) const PAGE: usize = crate::sync::sized(4096 / size_of::<AtomicU64>(), 1);

/// Pages that no other thread has seen yet.
#[derive(Debug)]
pub(crate) struct Pages {
    cells: &'static [AtomicU64],
}

impl Pages {
    /// Maps at least `cells` zeroed cells at a page's boundary; `None` if there is no memory.
    #[inline]
    pub(crate) fn map(cells: usize) -> Option<Pages> {
        platform::map(cells).map(|cells| Pages { cells })
    }

    /// Returns the first cell. The pages stay mapped, unless they are [unmapped](Self::unmap).
    pub(crate) fn start(&self) -> NonNull<AtomicU64> {
        NonNull::from(self.cells).cast()
    }

    /// Unmaps the pages, which no other thread has seen.
    #[inline]
    pub(crate) fn unmap(self) {
        // SAFETY: `self` is the only reference, and it ends here.
        unsafe { platform::unmap(self.cells) };
    }
}
