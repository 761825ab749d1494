//! Processes without memory, without restartable sequences or with other kernel limits, and forked
//! ones: counts stay exact.
//!
//! Each test runs in a process of its own, because the strategy, the limits and the forks are the
//! process's.

#![cfg(target_os = "linux")]

mod barriers;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod dlclose;
mod fork;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod instructions;
mod leases;
#[cfg(target_env = "gnu")]
mod memory;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod offered;
#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", target_env = "gnu"))]
mod processor;
mod refused;
mod rows;
mod settings;
#[cfg(target_arch = "x86_64")]
mod slow;
mod stopped;
mod ticker;
mod valgrind;
mod work;

windrow::events! {
    /// One of each kind.
    pub(crate) enum Seen { Pass: Count, Rt: Value }
}
