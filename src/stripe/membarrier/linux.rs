//! Barriers of the process on Linux, on any processor: `membarrier(2)`, `<linux/membarrier.h>`.

const QUERY: libc::c_int = 0;
const PRIVATE_EXPEDITED: libc::c_int = 1 << 3;
const REGISTER_PRIVATE_EXPEDITED: libc::c_int = 1 << 4; // Linux 4.14
const PRIVATE_EXPEDITED_RSEQ: libc::c_int = 1 << 7; // Linux 5.10

/// Returns whether the kernel has such barriers. Registers nothing.
#[inline]
pub(in crate::stripe) fn is_offered() -> bool {
    offers(PRIVATE_EXPEDITED)
}

/// Returns whether the kernel has barriers that restart sequences. Registers nothing.
#[inline]
pub(in crate::stripe) fn restarting_is_offered() -> bool {
    offers(PRIVATE_EXPEDITED_RSEQ)
}

#[inline]
fn offers(command: libc::c_int) -> bool {
    let offered = call(QUERY);
    offered > 0 && offered & libc::c_long::from(command) != 0
}

/// Registers the process; returns false if the kernel refuses. Registering again takes a
/// microsecond.
pub(super) fn register() -> bool {
    call(REGISTER_PRIVATE_EXPEDITED) == 0
}

/// Makes every thread of the process pass a full fence, the caller too. Returns false if the kernel
/// refuses.
pub(super) fn fence_everywhere() -> bool {
    call(PRIVATE_EXPEDITED) == 0
}

fn call(command: libc::c_int) -> libc::c_long {
    // SAFETY: no command touches memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) }
}
