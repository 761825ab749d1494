//! Pages from the system's allocator, where there are none to map.
//!
//! The global allocator may be another, and count what it hands out. A first add in it would ask it
//! for pages, which would be a first add again.

use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::slice_from_raw_parts;

use crate::sync::AtomicU64;

/// The alignment that `mmap` guarantees.
const ALIGNMENT: usize = 4096;

fn layout(cells: usize) -> Option<Layout> {
    Layout::array::<AtomicU64>(cells).ok()?.align_to(ALIGNMENT).ok()
}

pub(super) fn map(cells: usize) -> Option<&'static [AtomicU64]> {
    let layout = layout(cells).filter(|layout| layout.size() > 0)?;
    // SAFETY: the size is not zero.
    let start = unsafe { System.alloc_zeroed(layout) };
    // SAFETY: if it is not null, it is as long and as aligned as `layout` says, all zero (a
    // valid atomic), and stays until `unmap`, which takes the only reference.
    (!start.is_null()).then(|| unsafe { &*slice_from_raw_parts(start.cast::<AtomicU64>(), cells) })
}

/// # Safety
/// `cells` come from `map`, and are never used again.
pub(super) unsafe fn unmap(cells: &'static [AtomicU64]) {
    let Some(layout) = layout(cells.len()) else {
        return;
    };
    // SAFETY: by contract this is a whole allocation of `map`, made with the same layout.
    unsafe { System.dealloc(cells.as_ptr().cast_mut().cast(), layout) };
}
