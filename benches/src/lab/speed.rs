//! Adds and reads, in interleaved rounds: of counters, of windows with a published time, of windows
//! on the coarse clock, and of windows that are full.

use super::Effort;
use super::report::Table;
use super::rounds::{Figure, Workers, measure};
use super::stats::MARK;
use super::subject::{Group, Subject};
use super::work::Work;
use crate::harness::cores;
use crate::rivals::counters::{COARSE_READ, LOCKED_ADD, PLAIN_ADD, PLAIN_STORE};

/// The parts of the part `speed`, in the order in which they are measured, and the groups of each:
/// their contenders are measured in the same rounds.
pub const SETS: [(&str, &[Group]); 6] = [
    ("counters", &[Group::Counter]),
    ("windows", &[Group::Window]),
    ("coarse", &[Group::Coarse]),
    ("sums", &FULL),
    ("labels", &[Group::Labels]),
    ("tiers", &[Group::Tiers]),
];

const FULL: [Group; 3] = [Group::Full(2), Group::Full(60), Group::Full(600)];

/// Everything that was measured in rounds.
pub struct Speed(Vec<Figure>);

/// Yardsticks that are no counters: they are not read.
const INSTRUCTIONS: [&str; 4] = [PLAIN_ADD, PLAIN_STORE, LOCKED_ADD, COARSE_READ];

/// Returns what every contender in `group` does.
fn works(group: Group) -> Vec<Work> {
    let adds = [1, cores(), 2 * cores()].map(Work::Add);
    match group {
        Group::Counter => adds.into_iter().chain([Work::Read]).collect(),
        Group::Window => adds.to_vec(),
        Group::Coarse | Group::Labels | Group::Tiers => adds[..2].to_vec(),
        Group::Full(_) => vec![Work::Read],
    }
}

/// Returns which contender does what.
fn plan(groups: &[Group], java: bool) -> Vec<(Subject, Work)> {
    let mut plan = Vec::new();
    for &group in groups {
        let subjects = Subject::all(group, java);
        for work in works(group) {
            for &subject in &subjects {
                let can = work != Work::Read || !INSTRUCTIONS.contains(&subject.name);
                if can && !plan.contains(&(subject, work)) {
                    plan.push((subject, work)); // once, where one is all cores
                }
            }
        }
    }
    plan
}

impl Speed {
    /// Measures the sets that are `wanted`.
    pub fn measure(effort: Effort, wanted: &[&str], workers: &mut Workers) -> Speed {
        let (java, rounds) = (workers.java.is_some(), effort.pick(9, 61));
        let sets = SETS.iter().filter(|(name, _)| wanted.contains(name));
        Speed(
            sets.flat_map(|(name, groups)| measure(name, &plan(groups, java), rounds, workers))
                .collect(),
        )
    }

    /// Returns the figure of `label`, if it was measured.
    pub fn find(&self, group: Group, label: &str, work: Work) -> Option<&Figure> {
        self.0.iter().find(|figure| {
            figure.subject.group == group && figure.subject.label() == label && figure.work == work
        })
    }

    /// Returns the contenders measured in `group`.
    pub fn labels(&self, group: Group) -> Vec<&'static str> {
        let mut labels = Vec::new();
        for figure in self.0.iter().filter(|figure| figure.subject.group == group) {
            if !labels.contains(&figure.subject.label()) {
                labels.push(figure.subject.label());
            }
        }
        labels
    }

    /// One row for each contender of the first of the columns, and a column for each kind of work.
    fn costs(&self, id: &'static str, title: &str, columns: &[(String, Group, Work)]) -> Table {
        let heads = columns.iter().map(|(head, ..)| head.as_str());
        let title = format!("ns of CPU time {title}");
        let mut table = Table::new(id, title, ["contender"].into_iter().chain(heads));
        for label in self.labels(columns[0].1) {
            let costs = columns.iter().map(|&(_, group, work)| {
                self.find(group, label, work).map_or("-".to_owned(), |figure| figure.cost().show())
            });
            table.row([label.to_owned()].into_iter().chain(costs));
        }
        table.note(&format!("Median (least to greatest) over the rounds. {MARK}"));
        table
    }

    /// Shows.
    pub fn tables(&self) -> Vec<Table> {
        let adds = |id, what: &str, group| {
            let columns: Vec<_> = works(group)
                .into_iter()
                .filter(|work| *work != Work::Read)
                .map(|work| (counted(work.threads()), group, work))
                .collect();
            self.costs(id, &format!("an add to {what}"), &columns)
        };
        let read = ("without adds".to_owned(), Group::Counter, Work::Read);
        let full = FULL.map(|group| (group.name().to_owned(), group, Work::Read));
        vec![
            adds("counter-add", "a counter", Group::Counter),
            self.costs("counter-read", "a read of a counter", &[read]),
            adds("window-add", "a window, time published", Group::Window),
            adds("coarse-add", "a window, coarse clock", Group::Coarse),
            self.costs("full-read", "a sum over a full window, without adds", &full),
            adds("labels", "one of 256 series with three labels", Group::Labels),
            adds("tier-add", "a window with tiers", Group::Tiers),
        ]
    }
}

/// "1 thread", "2 threads".
pub fn counted(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
