//! No restartable sequences: all changes are locked.

use std::sync::atomic::AtomicU64;

use super::miss::Miss;

/// Does not add.
///
/// # Safety
/// None is needed.
#[inline]
pub(crate) unsafe fn add(_: isize, _: u32, _: *mut AtomicU64, _: u64) -> Result<(), Miss> {
    Err(Miss::NoRow)
}

/// Does not raise.
///
/// # Safety
/// None is needed.
#[inline]
pub(crate) unsafe fn raise(_: isize, _: u32, _: *mut AtomicU64, _: u64) -> Result<(), Miss> {
    Err(Miss::NoRow)
}
