//! Barriers of the process on Windows: `FlushProcessWriteBuffers`, since Windows Vista.

#[link(name = "kernel32")]
unsafe extern "system" {
    /// Interrupts each processor that runs a thread of this process. It cannot fail.
    fn FlushProcessWriteBuffers();
}

/// Always.
pub(in crate::stripe) fn is_offered() -> bool {
    true
}

/// There is nothing to register.
pub(super) fn register() -> bool {
    true
}

/// Has every thread of the process pass a full fence.
pub(super) fn fence_everywhere() -> bool {
    // SAFETY: it has no arguments, and touches no memory of ours.
    unsafe { FlushProcessWriteBuffers() };
    true
}
