//! Pages from `VirtualAlloc`, on Windows.

use std::ffi::c_void;
use std::ptr::{null_mut, slice_from_raw_parts};

use crate::sync::AtomicU64;

const MEM_COMMIT: u32 = 0x1000;
const MEM_RESERVE: u32 = 0x2000;
const MEM_RELEASE: u32 = 0x8000;
const PAGE_READWRITE: u32 = 4;

#[link(name = "kernel32")]
unsafe extern "system" {
    fn VirtualAlloc(at: *mut c_void, length: usize, kind: u32, access: u32) -> *mut c_void;
    fn VirtualFree(start: *mut c_void, length: usize, kind: u32) -> i32;
}

pub(super) fn map(cells: usize) -> Option<&'static [AtomicU64]> {
    let bytes = cells.checked_mul(size_of::<AtomicU64>())?;
    // SAFETY: asks for new memory: no existing mapping is touched.
    let start =
        unsafe { VirtualAlloc(null_mut(), bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE) };
    // SAFETY: if it is not null, it is `bytes` long, aligned to 64 KiB, all zero (a valid atomic),
    // and stays until `unmap`, which takes the only reference.
    (!start.is_null()).then(|| unsafe { &*slice_from_raw_parts(start.cast::<AtomicU64>(), cells) })
}

/// # Safety
/// `cells` come from `map`, and are never used again.
pub(super) unsafe fn unmap(cells: &'static [AtomicU64]) {
    // SAFETY: by contract this is the start of a whole mapping of `map`, and is not used any more.
    // The length must be zero: all of it.
    unsafe { VirtualFree(cells.as_ptr().cast_mut().cast(), 0, MEM_RELEASE) };
}
