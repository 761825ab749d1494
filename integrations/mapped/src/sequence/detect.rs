//! Detection of restartable sequences, once in a process.

use std::ffi::CStr;
use std::sync::atomic::{AtomicIsize, Ordering};

use crate::failpoint::{self, Point};

/// The length of the area that every kernel fills: with `cpu_id` and `rseq_cs`.
const LEAST: u32 = 20;

/// The number that says that nothing was looked for yet: no offset is as far.
const UNKNOWN: isize = isize::MIN;

/// The number that says that there is no area.
const NONE: isize = 0;

/// Returns the offset of a thread's area from its thread pointer; `None` if glibc has not
/// registered the process's threads: an old glibc or kernel, a sandbox, or a tunable.
///
/// Threads that look at once find the same. No thread waits for another one: a child that is forked
/// in the middle of the first look does not have the thread that would end it.
pub(crate) fn area() -> Option<isize> {
    static AREA: AtomicIsize = AtomicIsize::new(UNKNOWN);
    // Relaxed, as below: the number says all.
    let known = AREA.load(Ordering::Relaxed);
    let found = if known == UNKNOWN { detect() } else { known };
    AREA.store(found, Ordering::Relaxed);
    (found != NONE).then_some(found)
}

/// Returns the offset, or [`NONE`].
fn detect() -> isize {
    failpoint::reach(Point::Detecting);
    let (offset, size) = (symbol(c"__rseq_offset"), symbol(c"__rseq_size"));
    if offset.is_null() || size.is_null() {
        return NONE;
    }
    // SAFETY: these symbols have these types by glibc's manual ("Restartable Sequences"). glibc
    // sets them before any code of the program runs.
    let (offset, size) = unsafe { (offset.cast::<isize>().read(), size.cast::<u32>().read()) };
    if size < LEAST {
        return NONE;
    }
    keep_code();
    offset
}

fn symbol(name: &CStr) -> *const libc::c_void {
    // SAFETY: looks up a name, which ends with a zero, in the loaded objects.
    unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast_const() }
}

/// Keeps the object loaded that has the sequences. A thread's area may keep pointing at a
/// descriptor after a sequence has ended; if that were unmapped, the kernel would kill the thread.
fn keep_code() {
    // SAFETY: all zeros are a valid `Dl_info`, and the first argument is an address in this object.
    unsafe {
        let mut found: libc::Dl_info = std::mem::zeroed();
        let here = keep_code as *const libc::c_void;
        if libc::dladdr(here, &raw mut found) != 0 && !found.dli_fname.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(found.dli_fname, flags); // null for the program itself, which stays anyway
        }
    }
}
