//! Adds and reads, in interleaved rounds: of counters, of windows with a published time, of windows
//! on the coarse clock, and of windows that are full.

use super::Effort;
use super::report::Table;
use super::rounds::{Figure, Workers, measure};
use super::stats::{MARK, Sample, Spread, digits};
use super::subject::{Group, Process, Subject};
use super::work::Work;
use crate::harness::cores;
use crate::rivals::counters::{COARSE_READ, LOCKED_ADD, PLAIN_ADD, PLAIN_STORE};

/// The contenders of the same rounds.
pub struct Set {
    /// The name of this part of the part `speed`.
    pub name: &'static str,
    title: &'static str,
    groups: &'static [Group],
}

/// All sets, in the order in which they are measured.
pub const SETS: [Set; 6] = [
    Set { name: "counters", title: "counters", groups: &[Group::Counter] },
    Set { name: "windows", title: "windows, time published", groups: &[Group::Window] },
    Set { name: "coarse", title: "windows, coarse clock", groups: &[Group::Coarse] },
    Set {
        name: "sums",
        title: "reads of full windows",
        groups: &[Group::Full(2), Group::Full(60), Group::Full(600)],
    },
    Set { name: "labels", title: "counters with labels", groups: &[Group::Labels] },
    Set { name: "tiers", title: "tiers", groups: &[Group::Tiers] },
];

/// Everything that was measured in rounds.
pub struct Speed {
    /// The figures, in the order of the plan.
    pub figures: Vec<Figure>,
}

/// Returns one, two, four and so on, below the number of cores.
pub fn doubled() -> impl Iterator<Item = usize> {
    std::iter::successors(Some(1), |n| Some(2 * n)).take_while(|&n| n < cores())
}

/// Returns the numbers of adding threads: one, two, four and so on to the number of cores; and
/// more.
pub fn threads() -> Vec<usize> {
    let mut threads: Vec<usize> = doubled().collect();
    threads.extend([cores(), 2 * cores(), 4 * cores()]);
    threads
}

/// Returns the number of threads that add while one reads.
pub fn beside_a_reader() -> usize {
    (cores() - 1).max(1)
}

/// The note below tables of costs.
const MEDIAN: &str = "Median (least to greatest) over the rounds.";

/// Yardsticks that are no counters: they are neither read nor kept.
const INSTRUCTIONS: [&str; 4] = [PLAIN_ADD, PLAIN_STORE, LOCKED_ADD, COARSE_READ];

/// Returns what every contender in `group` does.
fn works(group: Group) -> Vec<Work> {
    match group {
        Group::Counter => {
            let mut works: Vec<Work> = threads().into_iter().map(Work::Add).collect();
            works.extend([Work::Read, Work::AddWhileRead(beside_a_reader())]);
            works
        }
        Group::Window => {
            let adds = [1, cores(), 2 * cores()].map(Work::Add).into_iter();
            adds.chain([Work::AddWhileRead(beside_a_reader())]).collect()
        }
        Group::Coarse | Group::Labels | Group::Tiers => [1, cores()].map(Work::Add).to_vec(),
        Group::Full(_) => vec![Work::Read],
    }
}

/// Returns which contender does what.
fn plan(groups: &[Group], java: bool) -> Vec<(Subject, Work)> {
    let mut plan = Vec::new();
    for &group in groups {
        let subjects = Subject::all(group, java);
        for work in works(group) {
            let taking_part = subjects.iter().filter(|subject| {
                let adds = matches!(work, Work::Add(_));
                let reading = matches!(work, Work::AddWhileRead(_));
                // Java's answer has no figure for a reader.
                (adds || !INSTRUCTIONS.contains(&subject.name))
                    && !(reading && subject.process == Process::Java)
            });
            for &subject in taking_part {
                if !plan.contains(&(subject, work)) {
                    plan.push((subject, work)); // once, where one is all cores
                }
            }
        }
    }
    plan
}

impl Speed {
    /// Measures the `sets`.
    pub fn measure<'s>(
        effort: Effort,
        sets: impl IntoIterator<Item = &'s Set>,
        workers: &mut Workers,
    ) -> Speed {
        let java = workers.java.is_some();
        let mut figures = Vec::new();
        for set in sets {
            let rounds = effort.pick(9, 61);
            figures.extend(measure(set.title, &plan(set.groups, java), rounds, workers));
        }
        Speed { figures }
    }

    /// Returns the figure of `label`, if it was measured.
    pub fn find(&self, group: Group, label: &str, work: Work) -> Option<&Figure> {
        self.figures.iter().find(|figure| {
            figure.subject.group == group && figure.subject.label() == label && figure.work == work
        })
    }

    /// Returns the contenders measured in `group`.
    pub fn labels(&self, group: Group) -> Vec<&'static str> {
        let mut labels = Vec::new();
        for figure in self.figures.iter().filter(|figure| figure.subject.group == group) {
            if !labels.contains(&figure.subject.label()) {
                labels.push(figure.subject.label());
            }
        }
        labels
    }

    /// One row for each contender of `group`, one column for each number of threads that add, and
    /// `show` in each cell.
    fn adds(
        &self,
        id: &'static str,
        title: &str,
        group: Group,
        note: &str,
        show: fn(&Figure) -> String,
    ) -> Table {
        let mut works = works(group);
        works.retain(|work| matches!(work, Work::Add(_)));
        let counts: Vec<String> = works.iter().map(|work| counted(work.threads())).collect();
        let heads = ["contender"].into_iter().chain(counts.iter().map(String::as_str));
        let mut table = Table::new(id, title, heads);
        for label in self.labels(group) {
            let figures: Vec<_> = works.iter().map(|&work| self.find(group, label, work)).collect();
            if figures.iter().any(Option::is_some) {
                let cells = figures.iter().map(|found| found.map_or("-".to_owned(), show));
                table.row([label.to_owned()].into_iter().chain(cells));
            }
        }
        table.note(&format!("{note} {MARK}"));
        table
    }

    /// Shows.
    pub fn tables(&self) -> Vec<Table> {
        let costs = |id, what: &str, group| {
            let title = format!("ns of CPU time an add to {what}");
            self.adds(id, &title, group, MEDIAN, |figure| figure.cost().show())
        };
        let walls = |id, what: &str, group| {
            let title = format!("Wall time and throughput of a {what}");
            let both = "Wall time an add and thread; adds of all threads together.";
            self.adds(id, &title, group, both, wall)
        };
        let (counter, window) = (Group::Counter, Group::Window);
        vec![
            costs("counter-add", "a counter", counter),
            walls("counter-wall", "counter", counter),
            self.reads("counter-read", "Reads of a counter, and adds meanwhile", counter),
            costs("window-add", "a window, time published", window),
            walls("window-wall", "window", window),
            self.reads("window-read", "Reads of a window of 2 buckets, and adds meanwhile", window),
            costs("coarse-add", "a window, coarse clock", Group::Coarse),
            self.full_reads(),
            costs("labels", "one of 256 series with three labels", Group::Labels),
            costs("tier-add", "a window with tiers", Group::Tiers),
        ]
    }

    /// Reads by themselves; adds while one thread reads, and what a read takes then.
    fn reads(&self, id: &'static str, title: &str, group: Group) -> Table {
        let threads = beside_a_reader();
        let adding = format!("an add, {} beside a reader", counted(threads));
        let mut heads = vec!["contender"];
        let alone = group == Group::Counter;
        heads.extend(alone.then_some("a read, without adds"));
        heads.extend([adding.as_str(), "a read meanwhile"]);
        let mut table = Table::new(id, title, heads);
        for label in self.labels(group) {
            let Some(both) = self.find(group, label, Work::AddWhileRead(threads)) else { continue };
            let read =
                self.find(group, label, Work::Read).map_or("-".into(), |read| read.cost().show());
            let meanwhile = Spread::of_samples(&both.samples, |sample: &Sample| sample.read_ns);
            let mut cells = vec![label.to_owned()];
            cells.extend(alone.then_some(read));
            cells.extend([both.cost().show(), meanwhile.show()]);
            table.row(cells);
        }
        table.note(&format!("ns of CPU time; median (least to greatest) over the rounds. {MARK}"));
        table
    }

    fn full_reads(&self) -> Table {
        let groups = [2, 60, 600].map(Group::Full);
        let heads = ["contender", "2 buckets", "60 buckets", "600 buckets"];
        let title = "ns of CPU time a sum over a full window, without adds";
        let mut table = Table::new("full-read", title, heads);
        for label in self.labels(groups[0]) {
            let cell = |group| {
                let found = self.find(group, label, Work::Read);
                found.map_or("-".to_owned(), |figure| figure.cost().show())
            };
            table.row([label.to_owned()].into_iter().chain(groups.map(cell)));
        }
        table.note(&format!("{MEDIAN} {MARK}"));
        table
    }
}

/// Returns the wall time of an add, and the adds of all threads in a microsecond.
fn wall(figure: &Figure) -> String {
    let each = Spread::of_samples(&figure.samples, |sample| sample.wall_ns);
    let threads = figure.work.threads() as f64;
    let rate = Spread::of_samples(&figure.samples, |sample| threads * 1000.0 / sample.wall_ns);
    format!("{} ns; {} M/s", each.show_median(), digits(rate.median))
}

/// "1 thread", "2 threads".
pub fn counted(threads: usize) -> String {
    format!("{threads} thread{}", if threads == 1 { "" } else { "s" })
}
