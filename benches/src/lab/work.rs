//! The work that contenders repeat.

use std::time::Duration;

use crate::harness::cores;

/// The repeated work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Adds, on this number of threads at once.
    Add(usize),
    /// Reads, on one thread.
    Read,
}

impl Work {
    /// Returns the number of threads.
    pub fn threads(self) -> usize {
        match self {
            Work::Add(threads) => threads,
            Work::Read => 1,
        }
    }

    /// Returns the name in questions to workers.
    pub fn name(self) -> &'static str {
        match self {
            Work::Add(_) => "add",
            Work::Read => "read",
        }
    }

    /// Returns the work called `name`.
    pub fn named(name: &str, threads: usize) -> Option<Work> {
        [Work::Add(threads), Work::Read].into_iter().find(|work| work.name() == name && threads > 0)
    }

    /// Returns the CPU time of the work in a round. With more threads than cores each must have
    /// several turns.
    pub(super) fn length(self) -> Duration {
        let turns = (self.threads() as f64 / cores() as f64).max(1.0);
        Duration::from_millis(if turns > 1.0 { 15 } else { 4 }).div_f64(turns)
    }
}
