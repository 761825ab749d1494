//! What a log has written, and what reads it back. Tests that need a process of their own have one
//! by `testkit::alone`.

mod adds_up;
mod background;
mod reading;
#[cfg(unix)]
mod survival;
