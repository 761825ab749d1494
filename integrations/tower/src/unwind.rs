//! Restoring state after a panic in a user's function.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns the result of `make`. If it panics, runs `undo`, and the panic continues.
pub(crate) fn make_or_undo<T>(make: impl FnOnce() -> T, undo: impl FnOnce()) -> T {
    // A half-done state that `make` has left is visible only to the caller's caller, to which the
    // panic continues.
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
        undo();
        resume_unwind(panic)
    })
}
