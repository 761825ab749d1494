//! Histories: runs of the library that are recorded, and checked against its promises; and proof
//! that the checkers find violations.
//!
//! Too much for loom, whose executions multiply with every step; shuttle and real threads run them.
#![cfg(not(loom))]

mod counters;
mod rejected;
mod windows;
#[cfg(shuttle)]
mod wrong_readers;
