//! Incidents in simulated days: the time until each is found, and the number of changes that are
//! found where there is none.

mod day;
mod incident;
mod recorded;

use std::collections::VecDeque;
use std::thread;

use crate::unusual::counts::{Counts, Seen};
use crate::unusual::levels::Season;
use crate::unusual::record::Minute;
use crate::unusual::watch::Watch;
use day::{Day, FINE, Kind, Second, Traffic, Trouble, crowd};
use incident::{INCIDENTS, Incident};

/// Operations a second.
const RATES: [f64; 4] = [1.0, 10.0, 100.0, 1_000.0];

/// The days in which each incident is replayed for the table.
const DAYS: u64 = 9;

/// A series with its watch.
struct Watched<T> {
    day: T,
    watch: Watch,
    at: u64,
    total: Second,
    /// The last minute.
    interval: VecDeque<Second>,
    /// The quarters of an hour so far, and the one that has only begun.
    quarters: Vec<Minute>,
    quarter: Second,
    /// The last look.
    seen: Seen,
}

impl<T: Traffic> Watched<T> {
    fn new(day: T) -> Watched<T> {
        Watched {
            day,
            watch: Watch::default(),
            at: 0,
            total: Second::default(),
            interval: VecDeque::new(),
            quarters: Vec::new(),
            quarter: Second::default(),
            seen: Seen::default(),
        }
    }

    fn step(&mut self, trouble: Trouble) {
        let second = self.day.serve(self.at, trouble, self.watch.bounds());
        self.at += 1;
        for sum in [&mut self.total, &mut self.quarter] {
            sum.all += second.all;
            sum.failed += second.failed;
            sum.refused += second.refused;
            sum.values += second.values;
            sum.above = [0, 1, 2].map(|at| sum.above[at] + second.above[at]);
        }
        if self.interval.len() == 60 {
            self.interval.pop_front();
        }
        self.interval.push_back(second);
        let values: u64 = self.interval.iter().map(|second| second.values).sum();
        // Percentiles are used at the end of a minute, and shown.
        let is_minute = self.at % 60 == 1;
        let percentiles = if is_minute { self.percentiles(values) } else { [0.0; 3] };
        self.seen = Seen {
            at: self.at * 1_000,
            counts: Counts {
                all: self.total.all as u32,
                failed: self.total.failed as u32,
                refused: self.total.refused as u32,
                values: self.total.values as u32,
                above: self.total.above.map(|above| above as u32),
            },
            interval: if is_minute { values as u32 } else { 0 },
            percentiles,
        };
        self.watch.look(&self.seen);
        if self.at.is_multiple_of(900) {
            self.end_quarter();
        }
    }

    fn percentiles(&mut self, values: u64) -> [f32; 3] {
        let medians: Vec<f64> = self.interval.iter().map(|second| second.median).collect();
        [0.5, 0.9, 0.99].map(|part| self.day.percentile(part, values, &medians) as f32)
    }

    fn end_quarter(&mut self) {
        let Second { all, failed, refused, values, .. } = std::mem::take(&mut self.quarter);
        let [all, failed, refused, values] = [all, failed, refused, values].map(|of| of as u32);
        let end = self.at * 1_000;
        let percentiles = self.percentiles(u64::from(values));
        let counts = Counts { all, failed, refused, values, above: [0; 3] };
        let quarter = Minute { end, seconds: 900.0, counts, percentiles, ..Minute::default() };
        self.quarters.push(quarter);
        self.watch.levels.season = Season::of(self.quarters.iter(), end);
    }
}

fn kind(rate: f64) -> Kind {
    Kind { rate, failed: 0.003, is_closed_by_night: false }
}

/// Returns the seconds from when an incident is wrong to the first change that tells of it, and the
/// distance of the change's beginning from the true one; `None` if it is not found in ten minutes.
///
/// `day` makes the traffic, by the part of the greatest that is usual at that time of the day.
fn found_after<T: Traffic>(
    incident: &Incident,
    seed: u64,
    day: impl Fn(f64) -> T,
) -> Option<(i64, i64)> {
    // At any time of the day, after three quiet hours.
    let hour = 3_600 * (seed * 7 % 24);
    let begins = hour + 3 * 3_600 + seed * 611 % 3_600;
    let crowd = crowd((begins % 86_400) as f64 / 3_600.0);
    let mut watched = Watched::new(day(crowd));
    watched.at = hour;
    while watched.at < begins {
        watched.step(FINE);
    }
    // A change that was there before does not tell of it.
    for second in 0..incident.wrong_from + 600 {
        watched.step((incident.trouble)(second as f64));
        let told = watched.watch.changes.on.iter().find(|change| {
            incident.tells.contains(&change.what) && change.since + 60_000 > begins * 1_000
        });
        if let Some(told) = told {
            let since = (told.since / 1_000).cast_signed() - begins.cast_signed();
            let wrong_from = incident.wrong_from.cast_signed();
            return Some((second.cast_signed() + 1 - wrong_from, since));
        }
    }
    None
}

/// Returns the number of changes that are found where nothing is wrong, in each day.
fn found_in_fine_days(day: impl Traffic, days: u64) -> Vec<u32> {
    let mut watched = Watched::new(day);
    let mut found = Vec::new();
    for _ in 0..days {
        let mut in_day = 0;
        for _ in 0..86_400 {
            let before = watched.watch.changes.on.len();
            watched.step(FINE);
            in_day += watched.watch.changes.on.len().saturating_sub(before);
        }
        found.push(in_day as u32);
    }
    found
}

/// Does it on two threads.
fn in_parallel<T: Send, R: Send>(all: Vec<T>, each: impl Fn(T) -> R + Sync) -> Vec<R> {
    let mut first = all;
    let second = first.split_off(first.len() / 2);
    thread::scope(|scope| {
        let other = scope.spawn(|| second.into_iter().map(&each).collect::<Vec<R>>());
        let mut found: Vec<R> = first.into_iter().map(&each).collect();
        found.extend(other.join().unwrap());
        found
    })
}

/// An incident at a rate, found or not in each of some days.
struct Found {
    after: Vec<i64>,
    /// The distance of the change's beginning from the true one.
    apart: Vec<i64>,
    days: u64,
}

impl Found {
    fn of(incident: &Incident, rate: f64, days: u64) -> Found {
        Found::over(incident, days, |seed, crowd| Day::new(kind(rate / crowd), seed))
    }

    /// Replays it over some days, each made by its seed and the part of the greatest traffic.
    fn over<T: Traffic>(
        incident: &Incident,
        days: u64,
        day: impl Fn(u64, f64) -> T + Sync,
    ) -> Found {
        let one = |seed| found_after(incident, seed, |crowd| day(seed, crowd));
        let found = in_parallel((1..=days).collect(), one);
        let mut after: Vec<i64> = found.iter().flatten().map(|(after, _)| *after).collect();
        after.sort_unstable();
        let apart = found.iter().flatten().map(|(_, since)| since.abs()).collect();
        Found { after, apart, days }
    }

    /// Returns the median and the maximum, if it is found each day.
    fn seconds(&self) -> Option<[i64; 2]> {
        let last = self.after.last().filter(|_| self.after.len() as u64 == self.days)?;
        Some([self.after[self.after.len() / 2], *last])
    }

    /// Returns a cell of the README's table.
    fn cell(&self) -> String {
        let all = format!("{} of {}", self.after.len(), self.days);
        self.seconds().map_or(all, |[median, slowest]| format!("{median}, {slowest}"))
    }
}

#[test]
fn steps_are_found_within_fifteen_seconds_and_dated_right() {
    for incident in &INCIDENTS {
        for rate in [10.0, 1_000.0] {
            let found = Found::of(incident, rate, 2);
            let [_, slowest] = found.seconds().unwrap_or([i64::MAX; 2]);
            let wanted = if incident.is_hard_at(rate) { 60 } else { 15 };
            assert!(slowest <= wanted, "{} at {rate}/s: {:?}", incident.name, found.after);
            // A ramp has no second at which it begins.
            let apart = if incident.wrong_from == 0 { 15 } else { 120 };
            let name = incident.name;
            assert!(
                found.apart.iter().all(|seconds| *seconds <= apart),
                "{name}: {:?}",
                found.apart
            );
        }
    }
}

#[test]
fn what_low_counts_cannot_show_is_found_later_or_not_at_all() {
    // A step to three times the time, at an operation a second.
    let small = INCIDENTS.iter().find(|incident| incident.name == "small latency step").unwrap();
    assert!(Found::of(small, 1.0, 2).seconds().is_none_or(|[median, _]| median > 15));
    // A step to forty times is beyond doubt after a dozen of them.
    let large = INCIDENTS.iter().find(|incident| incident.name == "latency step").unwrap();
    let slowest = Found::of(large, 1.0, 2).seconds().map(|[_, slowest]| slowest);
    assert!(slowest.is_some_and(|slowest| slowest <= 15), "{slowest:?}");
}

#[test]
fn fine_days_have_hardly_any_change() {
    let series = RATES.map(|rate| (kind(rate), 11)).to_vec();
    let found = in_parallel(series, |(kind, seed)| found_in_fine_days(Day::new(kind, seed), 1));
    let all: u32 = found.iter().flatten().sum();
    assert!(all == 0, "0.2 a day of four days are less than one: {found:?}");
}

#[test]
fn a_shop_that_opens_each_morning_is_news_on_its_first_day_only() {
    let kind = Kind { is_closed_by_night: true, ..kind(10.0) };
    let found = found_in_fine_days(Day::new(kind, 3), 2);
    assert!(found[0] > 0 && found[1] == 0, "{found:?}");
}

#[test]
fn a_young_series_says_nothing() {
    let mut watched = Watched::new(Day::new(kind(100.0), 5));
    for second in 0..14 * 60 {
        let trouble = Trouble { failed: 0.9, time: 40.0, ..FINE };
        watched.step(if second < 420 { FINE } else { trouble });
        assert!(
            watched.watch.changes.on.is_empty() && !watched.watch.levels.is_ready(),
            "{second}"
        );
    }
}

/// Prints the tables of the README: `cargo test --release -p windrow-console --lib -- --ignored
/// --nocapture the_tables_of_the_readme`.
#[test]
#[ignore = "it checks nothing: it prints tables, in some 80 seconds"]
fn the_tables_of_the_readme() {
    println!("| incident | 1/s | 10/s | 100/s | 1000/s |\n|---|---|---|---|---|");
    for incident in &INCIDENTS {
        let cells = RATES.map(|rate| Found::of(incident, rate, DAYS).cell());
        println!("| {}: {} | {} |", incident.name, incident.says, cells.join(" | "));
    }
    println!("\n| series | days | changes found | a day |\n|---|---|---|---|");
    let fine = |name: &str, kind: Kind, from_day: usize| {
        let found =
            in_parallel((21..25).collect(), |seed| found_in_fine_days(Day::new(kind, seed), 3));
        let days: usize = found.iter().map(|days| days.len() - from_day).sum();
        let all: u32 = found.iter().flat_map(|days| &days[from_day..]).sum();
        println!("| {name} | {days} | {all} | {:.2} |", f64::from(all) / days as f64);
    };
    for rate in RATES {
        fine(&format!("{rate}/s, 0.3 % fail"), kind(rate), 0);
        fine(&format!("{rate}/s, none fails"), Kind { failed: 0.0, ..kind(rate) }, 0);
    }
    let closed = Kind { is_closed_by_night: true, ..kind(10.0) };
    fine("10/s, closed by night, from the second day on", closed, 1);
    let mut watched = Watched::new(Day::new(kind(1_000.0), 1));
    (0..10_000).for_each(|_| watched.step(FINE));
    let seen = watched.seen;
    let begun = std::time::Instant::now();
    for second in 1..=600_u64 {
        let all = seen.counts.all + second as u32 * 700;
        let counts = Counts { all, ..seen.counts };
        let seen = Seen { at: seen.at + second * 1_000, counts, ..seen };
        watched.watch.look(&seen);
    }
    println!("\n{} ns a look", begun.elapsed().as_nanos() / 600);
}
