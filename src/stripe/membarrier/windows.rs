//! Barriers of the process on Windows: `FlushProcessWriteBuffers`, since Windows Vista.

#[link(name = "kernel32")]
unsafe extern "system" {
    /// Interrupts each processor that runs a thread of this process. It cannot fail.
    fn FlushProcessWriteBuffers();
}

/// Always true.
pub(in crate::stripe) fn is_offered() -> bool {
    true
}

/// Returns false: there are no sequences.
pub(in crate::stripe) fn restarting_is_offered() -> bool {
    false
}

/// Returns true: there is nothing to register.
pub(super) fn register() -> bool {
    true
}

/// Makes every thread of the process pass a full fence.
pub(super) fn fence_everywhere() -> bool {
    // SAFETY: the function has no arguments, and touches no memory of this program.
    unsafe { FlushProcessWriteBuffers() };
    true
}
