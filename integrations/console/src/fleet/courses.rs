//! The courses of a fleet's series: the operations of all processes, by round.
//!
//! A point is a sum of differences: what a process had counted in its last answer, less what it had
//! counted in the answer before. So all points of a series add up to what its processes have
//! counted since their first answers. Nothing is interpolated: a process that does not answer is
//! missing from the points of those rounds, which say so. The operations of these rounds are in the
//! point of its next answer, which says so, too. After it has been gone for more than [`ROUNDS`],
//! or if its counts had to make room, its next answer is taken for its first.
//!
//! The memory has a limit. [`MOST_COURSES`] courses take less than 30 MB with their keys. The
//! counts of a series in a process take less than 200 bytes, and each has at least 50 in the
//! process's answer; of the processes that are gone, [`MOST_GONE`] counts are kept. The room of
//! what is no longer kept is freed.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::Duration;

use super::members::Name;
use super::merge::{Merged, roles};
use super::part::count;
use super::reading::{Metric, Numbers, Reading, Series};
use crate::roles::Roles;

/// The number of rounds that are kept: two minutes, by the second.
pub(super) const ROUNDS: usize = 120;

/// The greatest number of series that have a course.
pub(super) const MOST_COURSES: usize = 4_000;

/// The greatest length of a key in bytes of a series that has a course.
const LONGEST: usize = 1_024;

/// The greatest number of counts that are kept of processes that are gone; each process counts as
/// one more.
pub(super) const MOST_GONE: usize = 200_000;

/// The seconds from one answer to the next in a point of one round.
const ABOUT_A_ROUND: RangeInclusive<f64> = 0.5..=1.5;

/// The operations of a series in a round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Point {
    /// The operations from each process's answer before to its answer in this round.
    pub(super) count: u64,
    /// Those of them that failed.
    pub(super) failed: u64,
    /// Operations a second: the sum over the processes, each by the time between its two answers.
    pub(super) rate: f64,
    /// The number of processes whose operations of this round alone are unknown: they have not
    /// answered in this round, or not in the one before; their two answers are not about a second
    /// apart; they have begun or ended; or have dropped the series.
    pub(super) lacks: u32,
}

impl Point {
    /// Adds the operations of a process. Returns false if the sum is out of range: then nothing is
    /// added.
    fn add(&mut self, [count, failed]: [u64; 2], rate: f64) -> bool {
        let (count, failed) = (self.count.checked_add(count), self.failed.checked_add(failed));
        let (Some(count), Some(failed)) = (count, failed) else { return false };
        (self.count, self.failed, self.rate) = (count, failed, self.rate + rate);
        true
    }
}

/// The points of a series, for the last of the rounds: `None` where no process has it.
type Course = VecDeque<Option<Point>>;

/// The courses of all series. Times are those since the fleet's start.
#[derive(Debug)]
pub(super) struct Courses {
    /// The number of rounds that have ended.
    rounds: u64,
    /// The ends of the last ones.
    ends: VecDeque<Duration>,
    series: HashMap<Arc<str>, Course>,
    /// The last answers of the processes that are there, or were in one of the last rounds.
    bases: HashMap<Name, Base>,
    /// The greatest number of courses.
    most: usize,
    /// The greatest number of counts of processes that are gone.
    most_gone: usize,
}

impl Default for Courses {
    fn default() -> Courses {
        Courses::with_limits(MOST_COURSES, MOST_GONE)
    }
}

/// The counts of a process in its last answer.
#[derive(Debug, Default)]
struct Base {
    age_ms: u64,
    /// The round of that answer, and the last round in which the process was there.
    answered: u64,
    there: u64,
    counts: HashMap<Arc<str>, Counted>,
    /// True if a series of that answer was left out: there were too many.
    left_out: bool,
}

/// The operations of a series in a process, and the failed ones; and the round of that number.
#[derive(Debug)]
struct Counted {
    counts: [u64; 2],
    round: u64,
}

impl Courses {
    /// Creates the courses of at most this number of series, those that come first, with at most
    /// this number of counts of processes that are gone.
    pub(super) fn with_limits(most: usize, most_gone: usize) -> Courses {
        Courses {
            rounds: 0,
            ends: VecDeque::new(),
            series: HashMap::new(),
            bases: HashMap::new(),
            most,
            most_gone,
        }
    }

    /// Ends a round, in which these processes are there, in the order in which they first answered.
    pub(super) fn end_round(&mut self, end: Duration, there: &[(Name, Arc<Reading>)]) {
        self.rounds += 1;
        push(&mut self.ends, end);
        self.series.values_mut().for_each(|course| push(course, None));
        let mut types = Merged::default();
        for (name, reading) in there {
            // A process that the view leaves out has no points.
            if types.difference(reading).is_none() {
                types.add_types(reading);
                self.take(name, reading);
            }
        }
        self.keep_gone();
        self.series.retain(|_, course| course.iter().rev().any(Option::is_some));
        free(&mut self.series);
        free(&mut self.bases);
    }

    /// Keeps the last answers of processes that are gone, those that went last, as far as there is
    /// room: they may answer again.
    fn keep_gone(&mut self) {
        let (round, courses) = (self.rounds, &mut self.series);
        let mut gone = Vec::new();
        self.bases.retain(|name, base| {
            let rounds = round - base.there;
            // The operations after the last answer are unknown.
            if rounds == 1 {
                base.counts.keys().for_each(|key| lack(courses, key));
            }
            if (1..=ROUNDS as u64).contains(&rounds) {
                gone.push((rounds, 1 + base.counts.len(), name.clone()));
            }
            rounds <= ROUNDS as u64
        });
        gone.sort();
        let mut kept = 0;
        for (_, counts, name) in gone {
            kept += counts;
            if kept > self.most_gone {
                self.bases.remove(&name);
            }
        }
    }

    /// Takes the last answer of a process: a new one, or the one before.
    fn take(&mut self, name: &Name, reading: &Reading) {
        let (round, most, courses) = (self.rounds, self.most, &mut self.series);
        if !self.bases.contains_key(name) {
            self.bases.insert(name.clone(), Base::default());
        }
        let Some(base) = self.bases.get_mut(name) else { return };
        let is_first = base.there == 0;
        base.there = round;
        if !is_first && reading.age_ms <= base.age_ms {
            base.counts.keys().for_each(|key| lack(courses, key));
            return;
        }
        let seconds = reading.age_ms.saturating_sub(base.age_ms) as f64 / 1e3;
        let is_late = is_first || base.answered + 1 != round || !ABOUT_A_ROUND.contains(&seconds);
        (base.age_ms, base.answered) = (reading.age_ms, round);
        let left_out_before = std::mem::take(&mut base.left_out);
        for (series, counts) in counted(reading) {
            let key = match courses.get_key_value(series.key.as_str()) {
                Some((key, _)) => Arc::clone(key),
                None if courses.len() < most => {
                    let key: Arc<str> = series.key.as_str().into();
                    courses.insert(Arc::clone(&key), VecDeque::from([None]));
                    key
                }
                None => {
                    base.left_out = true;
                    continue;
                }
            };
            let Some(point) = courses.get_mut(&key).and_then(|course| course.back_mut()) else {
                continue;
            };
            let point = point.get_or_insert_default();
            let before = base.counts.insert(key, Counted { counts, round });
            // A series that was not there before has been made since, or was left out.
            let made = (!left_out_before).then_some([0; 2]);
            let before = before.map(|before| before.counts).or(made);
            let added = before.and_then(|before| difference(counts, before));
            let is_added =
                !is_first && added.is_some_and(|added| point.add(added, added[0] as f64 / seconds));
            point.lacks += u32::from(is_late || !is_added);
        }
        base.counts.retain(|key, counted| {
            let is_there = counted.round == round;
            if !is_there {
                lack(courses, key);
            }
            is_there
        });
        free(&mut base.counts);
    }

    /// Returns the number of series and counts for which there is memory.
    #[cfg(test)]
    pub(super) fn room(&self) -> usize {
        let counts = self.bases.values().map(|base| base.counts.capacity());
        self.series.capacity() + self.bases.capacity() + counts.sum::<usize>()
    }

    /// Returns the ends of the last rounds, at most this number.
    pub(super) fn ends(&self, most: usize) -> impl Iterator<Item = Duration> {
        self.ends.range(self.ends.len().saturating_sub(most)..).copied()
    }

    /// Returns the keys of all courses.
    pub(super) fn keys(&self) -> impl Iterator<Item = &str> {
        self.series.keys().map(|key| &**key)
    }

    /// Returns the points of a series for these [`ends`](Self::ends), if it has a course.
    pub(super) fn points(
        &self,
        key: &str,
        most: usize,
    ) -> Option<impl Iterator<Item = Option<Point>>> {
        let course = self.series.get(key)?;
        let unknown = self.ends.len() - course.len();
        let all = std::iter::repeat_n(None, unknown).chain(course.iter().copied());
        Some(all.skip(self.ends.len().saturating_sub(most)))
    }
}

/// Frees the memory of a map of which less than a quarter is used: what was there is gone.
fn free<K: Eq + Hash, V>(map: &mut HashMap<K, V>) {
    if map.capacity() / 4 > map.len().max(16) {
        map.shrink_to(2 * map.len());
    }
}

/// Adds an item to those of the last rounds.
fn push<T>(items: &mut VecDeque<T>, item: T) {
    if items.len() == ROUNDS {
        items.pop_front();
    }
    items.push_back(item);
}

/// Notes that a process is missing from the point of this round.
fn lack(courses: &mut HashMap<Arc<str>, Course>, key: &str) {
    if let Some(point) = courses.get_mut(key).and_then(|course| course.back_mut()) {
        point.get_or_insert_default().lacks += 1;
    }
}

/// Returns the operations since an earlier answer. `None` if the counts have fallen: the series was
/// dropped and made anew.
fn difference(counts: [u64; 2], before: [u64; 2]) -> Option<[u64; 2]> {
    Some([counts[0].checked_sub(before[0])?, counts[1].checked_sub(before[1])?])
}

/// Returns the series of a process that count operations and whose key is not too long, with the
/// all-time numbers of all operations and of the failed ones.
fn counted<'r>(reading: &'r Reading) -> impl Iterator<Item = (&'r Series, [u64; 2])> {
    reading.metrics.iter().flat_map(|metric| {
        let roles = (metric.form == "window").then(|| roles(metric));
        let counted = move |series: &'r Series| {
            let is_short = series.key.len() <= LONGEST;
            Some((series, is_short.then(|| counts(metric, roles.as_ref(), series))??))
        };
        metric.series.iter().filter_map(counted)
    })
}

fn counts(metric: &Metric, roles: Option<&Roles>, series: &Series) -> Option<[u64; 2]> {
    if let Some(roles) = roles {
        let [all, failed, _] = roles.counts(|event| count(&series.all[event]));
        return Some([all, failed]);
    }
    match (metric.form.as_str(), series.all.first()?) {
        ("counter" | "histogram", numbers @ (Numbers::Count(_) | Numbers::Histogram(_))) => {
            Some([count(numbers), 0])
        }
        _ => None,
    }
}
