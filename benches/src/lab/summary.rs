//! The few figures of a run that the README and the page of performance show.

use super::report::Table;
use super::speed::{Speed, counted};
use super::subject::{Group, JAVA};
use super::work::Work;
use crate::harness::cores;
use crate::ours::WINDROW;
use crate::ours::labelled::TEXTS;
use crate::rivals::counters::ATOMIC;
use crate::rivals::labelled::PROMETHEUS;
use crate::rivals::published::FAST_COUNTER;
use crate::rivals::{LEAP_ARRAY, MUTEX_RING};

/// Each operation, and the contenders that the table shows.
const SHOWN: [(&str, Group, &[&str]); 4] = [
    ("add to a counter", Group::Counter, &[WINDROW, FAST_COUNTER, JAVA[0], ATOMIC]),
    ("add to a window", Group::Window, &[WINDROW, LEAP_ARRAY, MUTEX_RING]),
    ("sum of 60 buckets", Group::Full(60), &[WINDROW, LEAP_ARRAY]),
    ("add to one of 256 series", Group::Labels, &[TEXTS, PROMETHEUS]),
];

/// The table; empty if `speed` was not measured.
pub fn table(speed: Option<&Speed>) -> Table {
    let heads = ["ns of CPU time, median", "contender", "1 thread", &*counted(cores())];
    let mut table = Table::new("summary", "In short", heads);
    let Some(speed) = speed else { return table };
    for (what, group, contenders) in SHOWN {
        for name in contenders {
            let cost = |work| Some(speed.find(group, name, work)?.cost().show_median());
            // A sum is measured on one thread.
            let (one, all) = if group == Group::Full(60) {
                (cost(Work::Read), None)
            } else {
                (cost(Work::Add(1)), cost(Work::Add(cores())))
            };
            let cells = [one, all].map(|cost| cost.unwrap_or_else(|| "-".to_owned()));
            // In code, since rustdoc shows the table too, and clippy reads names in its text.
            table.row([what.to_owned(), format!("`{name}`")].into_iter().chain(cells));
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::super::subject::Subject;
    use super::*;

    #[test]
    fn each_contender_that_is_shown_takes_part() {
        for (what, group, contenders) in SHOWN {
            let known: Vec<_> =
                Subject::all(group, true).iter().map(|subject| subject.label()).collect();
            for name in contenders {
                assert!(known.contains(name), "{what}: {name}");
            }
        }
    }
}
