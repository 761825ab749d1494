//! The work that contenders repeat.

use std::time::Duration;

use crate::harness::cores;

/// The repeated work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Adds, on this number of threads at once.
    Add(usize),
    /// Reads, on one thread, without adds.
    Read,
    /// Adds, on this number of threads, while one more thread reads without a pause.
    AddWhileRead(usize),
}

impl Work {
    /// Returns the number of threads, without the reader.
    pub fn threads(self) -> usize {
        match self {
            Work::Add(threads) | Work::AddWhileRead(threads) => threads,
            Work::Read => 1,
        }
    }

    /// Returns the name in data files and in questions to workers.
    pub fn name(self) -> &'static str {
        match self {
            Work::Add(_) => "add",
            Work::Read => "read",
            Work::AddWhileRead(_) => "reading",
        }
    }

    /// Returns the work called `name`.
    pub fn named(name: &str, threads: usize) -> Option<Work> {
        let works = [Work::Add(threads), Work::Read, Work::AddWhileRead(threads)];
        works.into_iter().find(|work| work.name() == name && threads > 0)
    }

    /// Returns the number of busy threads.
    pub(super) fn busy(self) -> usize {
        self.threads() + usize::from(matches!(self, Work::AddWhileRead(_)))
    }

    /// Returns the time of the work in a round. With more threads than cores each must have several
    /// turns.
    pub(super) fn length(self) -> Duration {
        Duration::from_millis(if self.busy() > cores() { 15 } else { 4 })
    }
}
