//! The contenders of each group, by name, made afresh for each caller.

use std::sync::OnceLock;
use std::time::Duration;

use windrow::clock::{Coarse, Ticker};
use windrow::diagnostics::{Strategy, strategy};

use crate::harness::Contender;
use crate::ours::{self, WINDROW, labelled};
use crate::rivals;
use crate::rivals::counters::locked_add;

/// The groups of contenders that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Counters.
    Counter,
    /// Windows of two half seconds; the time is published by a thread.
    Window,
    /// Windows on the coarse clock.
    Coarse,
    /// Windows that are full and stand still, of this number of buckets.
    Full(u32),
    /// Counters with three labels, of which one series is counted.
    Labels,
    /// Windows with tiers, which are added to; the time is published by a thread.
    Tiers,
}

/// All groups, by their names in tables and in questions to workers.
const NAMES: [(Group, &str); 8] = [
    (Group::Counter, "counter"),
    (Group::Window, "window, published time"),
    (Group::Coarse, "window, coarse clock"),
    (Group::Full(2), "full window of 2"),
    (Group::Full(60), "full window of 60"),
    (Group::Full(600), "full window of 600"),
    (Group::Labels, "counter with labels"),
    (Group::Tiers, "window with tiers, published time"),
];

impl Group {
    /// Returns the name in tables and in questions to workers.
    ///
    /// # Panics
    /// If the lab has no group of this size.
    pub fn name(self) -> &'static str {
        let (_, name) = NAMES.iter().find(|(group, _)| *group == self).expect("a group of the lab");
        name
    }

    /// Returns the group of this name, if there is one.
    pub fn named(name: &str) -> Option<Group> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(group, _)| *group)
    }
}

/// The process in which a contender is measured. A choice that holds for a whole process needs a
/// process of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Process {
    /// This one.
    Here,
    /// One with another of windrow's strategies.
    Forced(Forced),
    /// One for sentinel-core, which panics when a thread stands still for an interval, and would
    /// take us with it.
    Sentinel,
    /// One in which its ticker runs, which cannot be stopped.
    SentinelTicker,
    /// A Java virtual machine.
    Java,
}

/// A contender to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// Its group.
    pub group: Group,
    /// Its name in the group.
    pub name: &'static str,
    /// The place of the measurement.
    pub process: Process,
}

/// A strategy of windrow's that is not the one found here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forced {
    /// The name of windrow's counter or window with it in tables.
    pub label: &'static str,
    /// `WINDROW_STRATEGY`.
    pub strategy: &'static str,
    /// `WINDROW_LEASES`.
    pub leases: &'static str,
}

const fn forced(label: &'static str, strategy: &'static str, leases: &'static str) -> Process {
    Process::Forced(Forced { label, strategy, leases })
}

/// windrow in a process of its own, with the portable strategy.
pub const PORTABLE: &str = "windrow, portable";
/// The other strategies: those of counters, and behind them those of windows alone.
const OTHERS: [Process; 6] = [
    forced(PORTABLE, "portable", "on"),
    forced("windrow, by processor", "cpu-id", "on"),
    forced("windrow, portable, dealt rows", "portable", "off"),
    forced("windrow, fenced", "fenced", "on"),
    forced("windrow, fenced, dealt rows", "fenced", "off"),
    forced("windrow, by epochs", "epochs", "on"),
];

/// sentinel-core in a process with its ticker.
pub const SENTINEL_TICKER: &str = "sentinel-core, its ticker";
/// sentinel-core without.
pub const SENTINEL: &str = "sentinel-core";
/// Java's striped counter, and its atomic number.
pub const JAVA: [&str; 2] = ["Java LongAdder", "Java AtomicLong"];

impl Subject {
    /// Returns what tables call it.
    pub fn label(self) -> &'static str {
        match self.process {
            Process::Forced(forced) => forced.label,
            Process::SentinelTicker => SENTINEL_TICKER,
            _ => self.name,
        }
    }

    /// Returns all contenders in `group`, windrow first; sentinel-core where it was compiled in,
    /// Java's where the caller says that there is one.
    pub fn all(group: Group, java: bool) -> Vec<Subject> {
        let of = |name, process| Subject { group, name, process };
        // Full windows take a while to fill.
        let alike = if let Group::Full(_) = group { Group::Full(2) } else { group };
        let here = contenders(alike).into_iter().map(|made| of(made.name, Process::Here));
        let mut subjects: Vec<_> = here.collect();
        let others: &[Process] = match group {
            Group::Counter if strategy() == Strategy::PerCore => &OTHERS[..3],
            Group::Window if strategy() == Strategy::PerCore => &OTHERS,
            _ => &[],
        };
        subjects.splice(1..1, others.iter().map(|process| of(WINDROW, *process)));
        match group {
            Group::Window if cfg!(feature = "sentinel") => {
                subjects.push(of(SENTINEL, Process::SentinelTicker));
            }
            Group::Coarse if cfg!(feature = "sentinel") => {
                subjects.push(of(SENTINEL, Process::Sentinel));
            }
            Group::Counter if java => subjects.extend(JAVA.map(|name| of(name, Process::Java))),
            _ => {}
        }
        subjects
    }
}

/// Returns the thread that publishes the time, one for the whole process.
fn ticker() -> &'static Ticker {
    static TICKER: OnceLock<Ticker> = OnceLock::new();
    TICKER.get_or_init(|| Ticker::start(Duration::from_millis(1)))
}

const SECOND: Duration = Duration::from_secs(1);

/// Returns all contenders that can be made at once, except sentinel-core, which keeps its windows.
fn contenders(group: Group) -> Vec<Contender> {
    match group {
        Group::Full(buckets) => ours::full_windows(buckets),
        Group::Counter => ours::counters(),
        Group::Window => {
            let mut windows = ours::windows(SECOND, 2, ticker());
            windows.push(locked_add());
            windows
        }
        Group::Coarse => vec![ours::window(SECOND, 2, Coarse::default()), ours::coarse_read()],
        Group::Labels => {
            let mut counters = labelled::all();
            counters.push(rivals::labelled::prometheus());
            counters
        }
        Group::Tiers => ours::tiered(ticker()),
    }
}

/// Returns the one of `group` called `name`, fresh, or filled if the group is of full ones.
pub fn make(group: Group, name: &str) -> Option<Contender> {
    #[cfg(feature = "sentinel")]
    if name == SENTINEL {
        return Some(crate::rivals::sentinel::window(2));
    }
    contenders(group).into_iter().find(|contender| contender.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_who_is_named_can_be_made() {
        // Larger full windows are made alike, and take their time to fill.
        let groups = [Group::Counter, Group::Window, Group::Coarse, Group::Full(2), Group::Labels];
        for group in groups.into_iter().chain([Group::Tiers]) {
            for subject in Subject::all(group, false) {
                assert!(make(group, subject.name).is_some(), "{subject:?}");
            }
        }
    }
}
