//! Processes without memory, without restartable sequences or with other kernel limits, and forked
//! ones: counts stay exact.
//!
//! Each test runs in a process of its own, because the strategy, the limits and the forks are the
//! process's.

#![cfg(target_os = "linux")]

// Threads and rows.
mod leases;
mod rows;
mod ticker;
mod work;

// Processes that are forked, stopped, or made of several objects.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod dlclose;
mod fork;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod offered_symbols;
mod stopped_processes;

// A kernel, a processor or a memory that refuses.
mod barriers;
#[cfg(target_env = "gnu")]
mod memory;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod processor;
mod refused;
mod settings;
#[cfg(target_arch = "x86_64")]
mod slow_barriers;

// Each instruction.
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod instructions;
mod valgrind;

windrow::events! {
    /// One of each kind.
    pub(crate) enum Seen { Pass: Count, Rt: Value }
}
