//! Tests of the half without I/O: a model of the script, schedules with faults, and the script
//! itself on a real engine beside its model.
//!
//! They are part of the library's own tests, since they reach what no user does.

// A schedule, and its parts.
mod client;
mod faults;
mod judge;
mod ledger;
mod network;
mod random;
mod schedules;
mod world;

// Schedules with a mistake in them.
mod caught_twins;
mod mistakes;
mod twin;

// Parts of a client.
mod adaptation;
#[cfg(target_os = "linux")]
mod held_permits;
#[cfg(target_os = "linux")]
mod quick_clock;

// The script.
mod oracle;
