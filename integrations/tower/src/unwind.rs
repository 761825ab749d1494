//! What a panic in a user's function leaves behind is put in order.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Returns what `make` returns. If it panics, runs `undo`, and the panic goes on.
pub(crate) fn make_or_undo<T>(make: impl FnOnce() -> T, undo: impl FnOnce()) -> T {
    // What `make` has seen half done is seen by the caller's caller alone, to whom the panic goes
    // on.
    catch_unwind(AssertUnwindSafe(make)).unwrap_or_else(|panic| {
        undo();
        resume_unwind(panic)
    })
}
