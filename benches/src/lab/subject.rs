//! The contenders of each group, by name, made afresh for each caller.

use std::sync::OnceLock;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use windrow::clock::{Coarse, Ticker};
use windrow::{Clock, Strategy, strategy};

use crate::harness::{Contender, cores, time_adds};
use crate::ours::{self, WINDROW};
use crate::rivals::counters::{locked_add, nothing, pinned_add};
use crate::rivals::fenster::Fenster;
use crate::rivals::{EPOCH_RING, FENSTER, LEAP_ARRAY, MUTEX_RING};

/// What is compared with what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Group {
    /// Counters.
    Counter,
    /// Windows of two half seconds; the time is published by a thread.
    Window,
    /// The same; the time is the coarse clock's.
    Coarse,
    /// Windows that are full and stand still, of two buckets.
    Full2,
    /// Of sixty.
    Full60,
    /// Of six hundred.
    Full600,
}

impl Group {
    /// All of them.
    pub const ALL: [Group; 6] =
        [Group::Counter, Group::Window, Group::Coarse, Group::Full2, Group::Full60, Group::Full600];

    /// The name in data files and in questions to workers.
    pub fn name(self) -> &'static str {
        match self {
            Group::Counter => "counter",
            Group::Window => "window, published time",
            Group::Coarse => "window, coarse clock",
            Group::Full2 => "full window of 2",
            Group::Full60 => "full window of 60",
            Group::Full600 => "full window of 600",
        }
    }

    /// How many buckets the group's windows have that are full.
    fn buckets(self) -> Option<u32> {
        match self {
            Group::Full2 => Some(2),
            Group::Full60 => Some(60),
            Group::Full600 => Some(600),
            Group::Counter | Group::Window | Group::Coarse => None,
        }
    }
}

/// In which process a contender is measured. What is chosen once for a whole process needs another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// This one.
    Here,
    /// One with windrow's portable strategy.
    Portable,
    /// One for sentinel-core, which panics when a thread stands still for an interval, and would take
    /// us with it.
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
    /// Where.
    pub place: Place,
}

/// windrow in a process of its own, with the portable strategy.
pub const PORTABLE: &str = "windrow, portable";
/// sentinel-core in a process with its ticker.
pub const SENTINEL_TICKER: &str = "sentinel-core, its ticker";
/// sentinel-core without.
pub const SENTINEL: &str = "sentinel-core";
/// Java's striped counter, and its atomic number.
pub const JAVA: [&str; 2] = ["Java LongAdder", "Java AtomicLong"];

impl Subject {
    fn here(group: Group, name: &'static str) -> Subject {
        Subject { group, name, place: Place::Here }
    }

    /// What tables call it.
    pub fn label(self) -> &'static str {
        match self.place {
            Place::Portable => PORTABLE,
            Place::SentinelTicker => SENTINEL_TICKER,
            Place::Here | Place::Sentinel | Place::Java => self.name,
        }
    }

    /// All contenders in `group`, windrow first; sentinel-core where it was compiled in, Java's where the
    /// caller says that there is one.
    pub fn all(group: Group, java: bool) -> Vec<Subject> {
        // The names of full windows are those of windows; to fill them takes its time.
        let alike = if group.buckets().is_some() { Group::Full2 } else { group };
        let mut names: Vec<_> =
            contenders(alike, |_| true).iter().map(|contender| contender.name).collect();
        if group == Group::Full600 {
            names.retain(|name| [WINDROW, LEAP_ARRAY, EPOCH_RING, MUTEX_RING].contains(name));
        }
        let mut subjects: Vec<_> =
            names.into_iter().map(|name| Subject::here(group, name)).collect();
        if strategy() == Strategy::PerCore {
            subjects.insert(1, Subject { group, name: WINDROW, place: Place::Portable });
        }
        if cfg!(feature = "sentinel") && group == Group::Window {
            let sentinel = Subject { group, name: SENTINEL, place: Place::SentinelTicker };
            subjects.push(sentinel);
        }
        if cfg!(feature = "sentinel") && group == Group::Coarse {
            subjects.push(Subject { group, name: SENTINEL, place: Place::Sentinel });
        }
        if java && group == Group::Counter {
            subjects.extend(JAVA.map(|name| Subject { group, name, place: Place::Java }));
        }
        subjects
    }
}

/// The thread that publishes the time, one for the whole process.
fn ticker() -> &'static Ticker {
    static TICKER: OnceLock<Ticker> = OnceLock::new();
    TICKER.get_or_init(|| Ticker::start(Duration::from_millis(1)))
}

const SECOND: Duration = Duration::from_secs(1);

/// All that can be made at once, but for sentinel-core, which keeps what it makes. Of
/// full windows, only those that are `wanted`.
fn contenders(group: Group, wanted: impl Fn(&str) -> bool) -> Vec<Contender> {
    if let Some(buckets) = group.buckets() {
        return ours::full_windows(buckets, wanted);
    }
    match group {
        Group::Counter => ours::counters(),
        Group::Window => {
            let mut windows = ours::windows(SECOND, 2, ticker());
            let fenster = Fenster::new(1_000_000_000, 2, || ticker().now().as_nanos());
            windows.push(Contender::new(FENSTER, fenster));
            windows.extend([locked_add(), pinned_add()]);
            windows
        }
        Group::Coarse => {
            vec![ours::window(SECOND, 2, Coarse::default()), ours::coarse_read()]
        }
        Group::Full2 | Group::Full60 | Group::Full600 => Vec::new(), // above
    }
}

/// The one of `group` called `name`, fresh, or filled if the group is of full ones.
pub fn make(group: Group, name: &str) -> Option<Contender> {
    #[cfg(feature = "sentinel")]
    if name == SENTINEL {
        return Some(crate::rivals::sentinel::window(2));
    }
    if name == nothing().name {
        return Some(nothing());
    }
    let mut contenders = contenders(group, |other| other == name);
    let at = contenders.iter().position(|contender| contender.name == name)?;
    Some(contenders.swap_remove(at))
}

/// Adds once from every core, so that a read finds what it would find in a program.
pub fn touch_from_every_core(contender: &Contender) {
    time_adds(&*contender.rival, cores(), 1);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everybody_who_is_named_can_be_made() {
        // Larger full windows are made alike, and take their time to fill.
        for group in [Group::Counter, Group::Window, Group::Coarse, Group::Full2] {
            for subject in Subject::all(group, false) {
                assert!(make(group, subject.name).is_some(), "{subject:?}");
            }
        }
    }
}
