//! The faults of a fleet, in words.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use windrow::histogram::Distribution;

use super::members::Failing;
use super::merge::{Row, Sums};
use super::part::{FAILED, P99, Part, Spread};
use super::reading::Change;
use super::view::{Process, Unread, View};
use crate::text::cut;
use crate::unusual::{percent, short, time};

/// The greatest number of names in a sentence.
const NAMED: usize = 4;

/// The least number of processes of which one can be unlike the others.
const LEAST: usize = 3;

/// The least number of slow values, or of failures, that make a process unlike the others.
const COUNT: u64 = 10;

/// The least share of values beyond twice the median process's 99th percentile. Of the median
/// process it is at most 1 %.
const SLOW: f64 = 0.05;

/// The least share of failures.
const FAILING: f64 = 0.01;

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Says {
    pub(super) what: &'static str,
    /// The series that it is about.
    pub(super) key: Option<String>,
    /// The words, without the key.
    pub(super) text: String,
    /// The beginning.
    pub(super) since: Since,
    /// The positions of the processes that it is about.
    pub(super) processes: Vec<usize>,
}

impl Says {
    /// Returns the whole sentence.
    pub(super) fn sentence(&self) -> String {
        match &self.key {
            Some(key) => format!("{} {}", cut(key), self.text),
            None => self.text.clone(),
        }
    }
}

/// The beginning of something: by the fleet's time, or in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Since {
    Unknown,
    Fleet(Duration),
    Wall(u64),
}

/// The greatest number of beginnings that are kept.
pub(super) const MOST_BEGINNINGS: usize = 10_000;

/// The times since which processes are unlike the others, by kind and series, and by the number of
/// the process. They have no past of their own that says it.
#[derive(Debug, Default)]
pub(super) struct Beginnings(BTreeMap<(&'static str, String), BTreeMap<u64, Duration>>);

impl Beginnings {
    /// Gives the sentences of a view that have no beginning that of the first view in a row that
    /// has had them: of the processes of a sentence, the earliest one. Sentences beyond the limit
    /// stay without a beginning.
    pub(super) fn note(&mut self, now: Duration, processes: &[Process], says: &mut [Says]) {
        let mut before = std::mem::take(&mut self.0);
        let mut room = MOST_BEGINNINGS;
        for one in says.iter_mut().filter(|one| one.since == Since::Unknown) {
            let Some(rest) = room.checked_sub(one.processes.len()) else { break };
            room = rest;
            let name = (one.what, one.key.clone().unwrap_or_default());
            let known = before.remove(&name).unwrap_or_default();
            let numbers = one.processes.iter().map(|at| processes[*at].number);
            let begun: BTreeMap<u64, Duration> = numbers
                .map(|number| (number, known.get(&number).copied().unwrap_or(now)))
                .collect();
            let Some(earliest) = begun.values().min() else { continue };
            one.since = Since::Fleet(*earliest);
            self.0.insert(name, begun);
        }
    }
}

/// Returns what is wrong, the most urgent first.
pub(super) fn says(view: &View) -> Vec<Says> {
    let mut says = Vec::new();
    says.extend(unanswered(view, false));
    says.extend(unanswered(view, true));
    says.extend(differing(view));
    says.extend(left_out(view));
    says.extend(changes(&view.processes));
    let rows = view.merged.metrics.iter().flat_map(|metric| {
        metric.rows.iter().flat_map(move |(key, row)| unlike(view, metric, key, row))
    });
    let (failing, slow): (Vec<Says>, Vec<Says>) = rows.partition(|says| says.what == "failing");
    says.extend(failing.into_iter().chain(slow));
    says
}

/// Returns the sentence about series of processes that are gone whose sums are left out.
fn left_out(view: &View) -> Option<Says> {
    let number = view.left_out;
    let text = format!(
        "all-time sums lack {number} series of processes that are gone: there are too many"
    );
    let says =
        Says { what: "left-out", key: None, text, since: Since::Unknown, processes: Vec::new() };
    (number > 0).then_some(says)
}

/// Returns the sentence about addresses without an answer, or with one that is none of a member.
fn unanswered(view: &View, is_refused: bool) -> Option<Says> {
    let is_it = |unread: &&Unread| unread.failing.is_refused == is_refused;
    let found: Vec<&Unread> = view.failing.iter().filter(is_it).collect();
    let name = |unread: &&Unread| {
        let instance = unread.instance.as_ref().map(|instance| format!(", {}", cut(instance)));
        let (address, why) = (&unread.address, &unread.failing.why);
        format!("{address}{} ({why})", instance.unwrap_or_default())
    };
    let names = list(found.iter().map(name));
    let (number, all) = (found.len(), view.addresses);
    let text = match (is_refused, number) {
        (false, 1) => format!("1 of {all} addresses does not answer: {names}"),
        (false, _) => format!("{number} of {all} addresses do not answer: {names}"),
        (true, 1) => format!("1 of {all} addresses is refused: {names}"),
        (true, _) => format!("{number} of {all} addresses are refused: {names}"),
    };
    let since = found.iter().map(|Unread { failing: Failing { since, .. }, .. }| *since).min()?;
    let what = if is_refused { "refused-member" } else { "silent" };
    Some(Says { what, key: None, text, since: Since::Fleet(since), processes: Vec::new() })
}

/// Returns the sentence about processes whose numbers cannot be added to those of the others.
fn differing(view: &View) -> Option<Says> {
    let differs = |(at, process): (usize, &Process)| process.differs.is_some().then_some(at);
    let found: Vec<usize> = view.processes.iter().enumerate().filter_map(differs).collect();
    let name = |at: &usize| {
        let process = &view.processes[*at];
        format!("{} ({})", cut(&process.name), process.differs.as_deref().unwrap_or_default())
    };
    let text = format!("numbers that cannot be added: {}", list(found.iter().map(name)));
    let says = Says { what: "differs", key: None, text, since: Since::Unknown, processes: found };
    (!says.processes.is_empty()).then_some(says)
}

/// Returns what processes find unusual by their own past, each change once for all processes.
fn changes(processes: &[Process]) -> Vec<Says> {
    const ORDER: [&str; 5] = ["failing", "slow", "quiet", "refused", "busy"];
    let mut found: BTreeMap<(usize, &str), Vec<(usize, &Change)>> = BTreeMap::new();
    for (at, process) in processes.iter().enumerate() {
        for change in &process.reading.unusual.changes {
            if let Some(order) = ORDER.iter().position(|what| *what == change.what) {
                found.entry((order, &change.key)).or_default().push((at, change));
            }
        }
    }
    let say = |((order, key), of): ((usize, &str), Vec<(usize, &Change)>)| {
        let at: Vec<usize> = of.iter().map(|(at, _)| *at).collect();
        let first = of.iter().min_by_key(|(_, change)| change.since_ms)?.1;
        let names = list(at.iter().map(|at| cut(&processes[*at].name)));
        let all = processes.len();
        let place = if at.len() == all && all > 1 {
            format!("in all {all} processes")
        } else {
            format!("in {} of {all} processes: {names}", at.len())
        };
        let text = format!("{}, {place}", cut(&first.says));
        let (key, since) = (Some(key.to_owned()), Since::Wall(first.since_ms));
        Some(Says { what: ORDER[order], key, text, since, processes: at })
    };
    let mut found: Vec<_> = found.into_iter().collect();
    // Of one kind, those that most processes find come first.
    found.sort_by_key(|((order, _), of)| (*order, Reverse(of.len())));
    found.into_iter().filter_map(say).collect()
}

/// Returns the processes that fail, or are slow, where the median process does not.
fn unlike(view: &View, metric: &Sums, key: &str, row: &Row) -> Vec<Says> {
    if row.parts.len() < LEAST {
        return Vec::new();
    }
    let say = |what, found: Vec<&Part>, text: &dyn Fn(&Part) -> String| {
        let text = text(found.last()?);
        let names = list(found.iter().rev().map(|part| cut(&view.processes[part.process].name)));
        let text = format!("{text}, in {names} only");
        let processes = found.iter().map(|part| part.process).collect();
        let (key, since) = (Some(key.to_owned()), Since::Unknown);
        Some(Says { what, key, text, since, processes })
    };
    let failing = Spread::of_failures(&row.parts).and_then(|spread| {
        let usual = spread.median.value;
        let mut found: Vec<&Part> =
            row.parts.iter().filter(|part| fails_more(part, usual)).collect();
        let share = |part: &Part| part.share(FAILED).unwrap_or_default();
        found.sort_by(|one, other| share(one).total_cmp(&share(other)));
        say("failing", found, &|part| {
            let (own, usual) = (percent(share(part)), percent(usual));
            format!("failures {own}, of the median process {usual}")
        })
    });
    let slow = Spread::of_percentiles(&row.parts, P99).and_then(|spread| {
        let usual = spread.median.value;
        let is_slower = |part: &&Part| {
            let values = view.processes[part.process].reading.values(&metric.name, key);
            values.is_some_and(|values| is_slower(values, usual))
        };
        let is_suspect = |part: &&Part| part.p99() >= 2.0 * usual;
        let mut found: Vec<&Part> = row.parts.iter().filter(is_suspect).filter(is_slower).collect();
        found.sort_by(|one, other| one.p99().total_cmp(&other.p99()));
        let is_time = metric.values_unit() == Some("ns");
        let value = |value: f64| if is_time { time(value) } else { short(value) };
        say("slow", found, &|part| {
            format!("p99 {}, of the median process {}", value(part.p99()), value(usual))
        })
    });
    failing.into_iter().chain(slow).collect()
}

/// Returns whether more operations of a process fail than of the median one, and more than chance
/// brings.
fn fails_more(part: &Part, usual: f64) -> bool {
    let (failed, all) = (part.counts[FAILED], part.counts[0]);
    let share = part.share(FAILED).unwrap_or_default();
    let expected = usual * all as f64;
    failed >= COUNT
        && share >= FAILING.max(2.0 * usual)
        && failed as f64 - expected >= COUNT as f64 / 2.0 + 5.0 * expected.sqrt()
}

/// Returns whether many values are beyond twice the 99th percentile of the median process.
fn is_slower(values: &Distribution, usual: f64) -> bool {
    #[allow(clippy::cast_sign_loss, reason = "a percentile is not negative")]
    let slow = *values.count_above((2.0 * usual) as u64).start();
    slow >= COUNT && slow as f64 >= SLOW * values.count() as f64
}

/// Returns names in a sentence: the first ones, and the number of the others.
fn list(names: impl ExactSizeIterator<Item = String>) -> String {
    let more = names.len().saturating_sub(NAMED);
    let mut text = names.take(NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 {
        // Writing to a `String` cannot fail.
        let _ = write!(text, " and {more} more");
    }
    text
}

#[cfg(test)]
mod tests {
    use windrow::Histogram;

    use super::*;

    #[test]
    fn a_process_is_slow_by_the_share_and_the_number_of_its_slow_values() {
        let is = |slow: u64, all: u64| {
            let values = Histogram::new();
            (0..slow).for_each(|_| values.record(9_000_000));
            (slow..all).for_each(|_| values.record(1_000_000));
            is_slower(&values.distribution(), 2_000_000.0)
        };
        assert!(is(10, 200));
        assert!(!is(9, 20), "chance has few");
        assert!(!is(10, 201), "a small part");
        let values = Histogram::new();
        (0..20).for_each(|_| values.record(3_900_000));
        assert!(!is_slower(&values.distribution(), 2_000_000.0), "less than twice as slow");
    }

    #[test]
    fn a_process_fails_more_by_a_share_that_chance_does_not_bring() {
        let is = |failed: u64, all: u64, usual: f64| {
            let part =
                Part { process: 0, rate: None, counts: [all, failed, 0], percentiles: [None; 3] };
            fails_more(&part, usual)
        };
        assert!(is(10, 1_000, 0.0));
        assert!(!is(9, 10, 0.0), "chance has few");
        assert!(!is(10, 1_001, 0.0), "less than 1 %");
        assert!(!is(190, 1_000, 0.1), "less than twice the usual share");
        assert!(is(200, 1_000, 0.1));
        assert!(!is(20, 100, 0.1), "chance brings it");
    }
}
