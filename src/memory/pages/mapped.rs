//! Pages from `mmap`.

use crate::sync::AtomicU64;
use std::ptr::{null_mut, slice_from_raw_parts};

#[inline]
pub(super) fn map(cells: usize) -> Option<&'static [AtomicU64]> {
    let bytes = cells.checked_mul(size_of::<AtomicU64>())?;
    let (access, kind) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANON);
    // SAFETY: asks for new memory: no existing mapping is touched.
    let start = unsafe { libc::mmap(null_mut(), bytes, access, kind, -1, 0) };
    if start == libc::MAP_FAILED {
        return None;
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // Otherwise the kernel may map two megabytes where one cell is written: the rows of 32 cores.
    // It refuses if it was built without such pages, and then there is nothing to refrain from.
    // SAFETY: advice about the mapping made above, whose contents it does not change.
    unsafe {
        libc::madvise(start, bytes, libc::MADV_NOHUGEPAGE);
    }
    // SAFETY: the mapping is `bytes` long, aligned to a page, all zero (a valid atomic), and
    // stays until `unmap`, which takes the only reference.
    Some(unsafe { &*slice_from_raw_parts(start.cast::<AtomicU64>(), cells) })
}

/// # Safety
/// `cells` come from `map`, and are never used again.
#[inline]
pub(super) unsafe fn unmap(cells: &'static [AtomicU64]) {
    // SAFETY: by contract this is a whole mapping of `map`, and is not used any more.
    unsafe { libc::munmap(cells.as_ptr().cast_mut().cast(), size_of_val(cells)) };
}
