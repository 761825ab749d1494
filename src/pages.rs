//! Memory by the page: zeroed, mapped rather than allocated, and never given back.
//!
//! Never given back is what makes a reference to a cell `'static`, and every access to one safe
//! whatever becomes of the counter that it belonged to. Mapped is what makes it cheap to reserve
//! rows for cores that may never run us: a page costs memory when it is first written, not before.
//! It also keeps the global allocator out, so that a counter may be used by an allocator, and a
//! first add in a signal handler does not find a lock held.

use std::ptr::NonNull;

use crate::sync::AtomicU64;

/// One number, written by atomic operations only. It starts at zero.
pub(crate) type Cell = AtomicU64;

/// How many cells fill a page of 4 KiB, the smallest of the platforms that std supports.
pub(crate) const PAGE: usize = crate::sync::sized(4096 / size_of::<Cell>(), 1);

/// Pages that nobody else has seen yet.
#[derive(Debug)]
pub(crate) struct Pages {
    cells: &'static [Cell],
}

impl Pages {
    /// Maps at least `cells` zeroed cells at a page's boundary; `None` if there is no memory.
    pub(crate) fn map(cells: usize) -> Option<Pages> {
        platform::map(cells).map(|cells| Pages { cells })
    }

    /// The first cell.
    pub(crate) fn start(&self) -> NonNull<Cell> {
        NonNull::from(self.cells).cast()
    }

    /// The first cell, now that others may see the pages: they stay for ever.
    pub(crate) fn keep(self) -> NonNull<Cell> {
        self.start()
    }

    /// Gives the pages back, since nobody has seen them.
    pub(crate) fn unmap(self) {
        // SAFETY: `self` is the only reference, and it ends here.
        unsafe { platform::unmap(self.cells) };
    }
}

#[cfg(all(unix, not(any(loom, shuttle))))]
mod platform {
    use super::Cell;
    use std::ptr::{null_mut, slice_from_raw_parts};

    pub(super) fn map(cells: usize) -> Option<&'static [Cell]> {
        let bytes = cells.checked_mul(size_of::<Cell>())?;
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
        // SAFETY: asks for new memory, so that no existing mapping is touched.
        let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return None;
        }
        // SAFETY: the mapping is `bytes` long, aligned to a page, all zero (a valid atomic), and
        // stays until `unmap`, which asks for the only reference.
        Some(unsafe { &*slice_from_raw_parts(start.cast::<Cell>(), cells) })
    }

    /// # Safety
    /// `cells` come from `map`, and are never used again.
    pub(super) unsafe fn unmap(cells: &'static [Cell]) {
        // SAFETY: by contract this is a whole mapping of ours without users.
        unsafe { libc::munmap(cells.as_ptr().cast_mut().cast(), size_of_val(cells)) };
    }
}

/// Where there is no `mmap`, the global allocator stands in.
#[cfg(not(any(unix, loom, shuttle)))]
mod platform {
    use super::{Cell, PAGE};
    use std::alloc::{Layout, alloc_zeroed, dealloc};
    use std::ptr::slice_from_raw_parts;

    fn layout(cells: usize) -> Option<Layout> {
        Layout::array::<Cell>(cells).ok()?.align_to(PAGE * size_of::<Cell>()).ok()
    }

    pub(super) fn map(cells: usize) -> Option<&'static [Cell]> {
        let layout = layout(cells).filter(|layout| layout.size() > 0)?;
        // SAFETY: the size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        // SAFETY: if it is not null it is as long and as aligned as `layout` says, all zero (a
        // valid atomic), and stays until `unmap`, which asks for the only reference.
        (!start.is_null()).then(|| unsafe { &*slice_from_raw_parts(start.cast::<Cell>(), cells) })
    }

    /// # Safety
    /// `cells` come from `map`, and are never used again.
    pub(super) unsafe fn unmap(cells: &'static [Cell]) {
        let Some(layout) = layout(cells.len()) else {
            return;
        };
        // SAFETY: by contract this is a whole allocation of ours, made with the same layout.
        unsafe { dealloc(cells.as_ptr().cast_mut().cast(), layout) };
    }
}

/// In a model, cells of the model checker, which live for some executions more than they must.
#[cfg(any(loom, shuttle))]
mod platform {
    use super::Cell;
    use std::cell::RefCell;
    use std::collections::VecDeque;

    std::thread_local! {
        /// What recent executions have mapped. All threads of a model are one thread of the system.
        static MAPPED: RefCell<VecDeque<*mut [Cell]>> = const { RefCell::new(VecDeque::new()) };
    }

    /// More than any one execution maps.
    const KEPT: usize = 16;

    #[allow(clippy::unnecessary_wraps)] // the others may be refused
    pub(super) fn map(cells: usize) -> Option<&'static [Cell]> {
        let cells = Box::into_raw((0..cells).map(|_| Cell::new(0)).collect::<Box<[Cell]>>());
        MAPPED.with_borrow_mut(|mapped| {
            mapped.push_back(cells);
            if mapped.len() > KEPT {
                let oldest = mapped.pop_front().expect("there are more than `KEPT`");
                // SAFETY: a box of an execution that has ended, with all references to it.
                drop(unsafe { Box::from_raw(oldest) });
            }
        });
        // SAFETY: it outlives the execution (see `KEPT`), beyond which nobody uses it.
        Some(unsafe { &*cells })
    }

    /// # Safety
    /// As for the other platforms; here the pages are kept with the others.
    pub(super) unsafe fn unmap(_: &'static [Cell]) {}
}
