//! Tests of a log: its entries, and reading them back. Tests that need a process of their own have
//! one by `testkit::alone`.

mod adds_up;
mod background;
mod heavy;
mod past;
mod reading;
#[cfg(unix)]
mod survival;
