//! Tests of the half without I/O: a model of the script, schedules with faults, and the script
//! itself on a real engine beside its model.
//!
//! They are part of the library's own tests, since they reach what no user does.

mod adaptation;
mod aimed;
#[cfg(target_os = "linux")]
mod beats;
mod client;
mod faults;
#[cfg(target_os = "linux")]
mod holding;
mod judge;
mod ledger;
mod mistakes;
mod network;
mod oracle;
mod random;
mod schedules;
mod twin;
mod world;
