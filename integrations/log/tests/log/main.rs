//! Tests of a log: its entries, and reading them back. Tests that need a process of their own have
//! one by `testkit::alone`.

mod heavy;
mod past;
mod reading;
mod sums;
#[cfg(unix)]
mod survival;
mod writing_thread;
