//! The contenders of each group, by name, made afresh for each caller.

use std::sync::OnceLock;
use std::time::Duration;

use windrow::clock::{Coarse, Ticker};
use windrow::diagnostics::{Strategy, strategy};

use crate::harness::{Contender, cores, time_adds};
use crate::ours::{self, WINDROW, labelled, tiered};
use crate::rivals::counters::locked_add;
use crate::rivals::{self, EPOCH_RING, LEAP_ARRAY, MUTEX_RING};

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

/// All groups, by their names in data files and in questions to workers.
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
    /// Returns the name in data files and in questions to workers.
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

const fn forced(label: &'static str, strategy: &'static str, leases: &'static str) -> Forced {
    Forced { label, strategy, leases }
}

/// windrow in a process of its own, with the portable strategy.
pub const PORTABLE: &str = "windrow, portable";
/// The other strategies that a counter is measured with.
const OF_COUNTERS: [Forced; 3] = [
    forced(PORTABLE, "portable", "on"),
    forced("windrow, by processor", "cpu-id", "on"),
    forced("windrow, portable, dealt rows", "portable", "off"),
];
/// The strategies that a window is measured with, besides all of those.
const OF_WINDOWS: [Forced; 3] = [
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
    fn here(group: Group, name: &'static str) -> Subject {
        Subject { group, name, process: Process::Here }
    }

    /// Returns what tables call it.
    pub fn label(self) -> &'static str {
        match (self.process, self.name) {
            (Process::Forced(forced), _) => forced.label,
            (Process::SentinelTicker, SENTINEL) => SENTINEL_TICKER,
            (_, name) => name,
        }
    }

    /// Returns all contenders in `group`, windrow first; sentinel-core where it was compiled in,
    /// Java's where the caller says that there is one.
    pub fn all(group: Group, java: bool) -> Vec<Subject> {
        // Full windows take a while to fill.
        let alike = if let Group::Full(_) = group { Group::Full(2) } else { group };
        let made = contenders(alike, |_| true);
        let mut names: Vec<_> = made.iter().map(|contender| contender.name).collect();
        if group == Group::Full(600) {
            let all_buckets = [LEAP_ARRAY, EPOCH_RING, MUTEX_RING];
            names.retain(|name| all_buckets.contains(name) || name.starts_with(WINDROW));
        }
        let mut subjects: Vec<_> =
            names.into_iter().map(|name| Subject::here(group, name)).collect();
        let window = group == Group::Window;
        if strategy() == Strategy::PerCore && (window || group == Group::Counter) {
            let others = OF_COUNTERS.iter().chain(OF_WINDOWS.iter().filter(|_| window));
            let subject =
                |&forced| Subject { group, name: WINDROW, process: Process::Forced(forced) };
            subjects.splice(1..1, others.map(subject));
        }
        if cfg!(feature = "sentinel") && group == Group::Window {
            let sentinel = Subject { group, name: SENTINEL, process: Process::SentinelTicker };
            subjects.push(sentinel);
        }
        if cfg!(feature = "sentinel") && group == Group::Coarse {
            subjects.push(Subject { group, name: SENTINEL, process: Process::Sentinel });
        }
        if java && group == Group::Counter {
            subjects.extend(JAVA.map(|name| Subject { group, name, process: Process::Java }));
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
/// Of full windows, only those that are `wanted`.
fn contenders(group: Group, wanted: impl Fn(&str) -> bool) -> Vec<Contender> {
    match group {
        Group::Full(buckets) => ours::full_windows(buckets, wanted),
        Group::Counter => ours::counters(),
        Group::Window => {
            let mut windows = ours::windows(SECOND, 2, ticker());
            windows.push(locked_add());
            windows
        }
        Group::Coarse => {
            vec![ours::window(SECOND, 2, Coarse::default()), ours::coarse_read()]
        }
        Group::Labels => {
            let mut counters = labelled::all();
            counters.extend(rivals::labelled::all());
            #[cfg(feature = "labels")]
            counters.extend(rivals::opentelemetry::all());
            counters
        }
        Group::Tiers => tiered::adds(ticker()),
    }
}

/// Returns the one of `group` called `name`, fresh, or filled if the group is of full ones.
pub fn make(group: Group, name: &str) -> Option<Contender> {
    #[cfg(feature = "sentinel")]
    if name == SENTINEL {
        return Some(crate::rivals::sentinel::window(2));
    }
    let mut contenders = contenders(group, |other| other == name);
    let at = contenders.iter().position(|contender| contender.name == name)?;
    Some(contenders.swap_remove(at))
}

/// Adds once from every core, so that a read has the work that it would have in a program.
pub fn touch_from_every_core(contender: &Contender) {
    time_adds(&*contender.rival, cores(), 1);
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
