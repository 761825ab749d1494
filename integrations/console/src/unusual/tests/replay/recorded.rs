//! Incidents over recorded traffic: the requests of the access log in `examples/data`.
//!
//! The log has 91 seconds of a load that goes from one request a second to three hundred and sixty.
//! A day is made of it so: ten adjacent seconds are drawn at random, again and again; for ten logs,
//! ten such draws at a time. Of each request in them, the status and the time are as recorded; it
//! is kept, or repeated, as the hour of the day and the incident say. The log has times in
//! milliseconds, most of them 0: each is made that number and a random part of a millisecond. So
//! clumps, pauses, times, and the shares of failures and refusals from second to second are
//! recorded; the hours of the day, and what changes over minutes, are not.

use std::collections::VecDeque;
use std::fs;

use fastrand::Rng;

use super::day::{FINE, Second, Traffic, Trouble, crowd};
use super::incident::INCIDENTS;
use super::{DAYS, Found, found_in_fine_days, in_parallel};

/// The number of adjacent seconds that are drawn together.
const DRAWN: usize = 10;

/// A request of the log.
#[derive(Clone, Copy)]
struct Request {
    /// The time that it took, in milliseconds.
    millis: f64,
    failed: bool,
    refused: bool,
}

/// Returns the requests of each second of the log, of all paths or of one.
fn recording(path: Option<&str>) -> Vec<Vec<Request>> {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/data/access.log");
    let log = fs::read_to_string(file).expect("the repository has the log");
    let mut seconds: Vec<Vec<Request>> = Vec::new();
    let second_of = |line: &str| {
        let time = line.split_once('[')?.1.get(12..20)?;
        let mut parts = time.split(':').map(|part| part.parse::<usize>().ok());
        Some(parts.next()?? * 3_600 + parts.next()?? * 60 + parts.next()??)
    };
    let first = log.lines().filter_map(second_of).min().expect("the log has requests");
    for line in log.lines() {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let second = second_of(line).expect("a time in brackets") - first;
        if seconds.len() <= second {
            seconds.resize(second + 1, Vec::new());
        }
        if path.is_none_or(|path| words[6].starts_with(path)) {
            let seconds_taken: f64 = words[words.len() - 1].parse().expect("a time at the end");
            let (failed, refused) = (words[8] == "500", words[8] == "503");
            seconds[second].push(Request { millis: seconds_taken * 1e3, failed, refused });
        }
    }
    seconds
}

/// A day that is made of a recording.
struct Recorded<'r> {
    seconds: &'r [Vec<Request>],
    /// The requests for each recorded one, where [`crowd`] is one.
    factor: f64,
    random: Rng,
    /// The places of the next second and of the end of each of those that are drawn: they go on
    /// side by side.
    drawn: Vec<(usize, usize)>,
    /// The times of the last minute, in nanoseconds.
    times: VecDeque<Vec<u64>>,
}

impl Recorded<'_> {
    fn new(seconds: &[Vec<Request>], parts: usize, factor: f64, seed: u64) -> Recorded<'_> {
        let (random, drawn) = (Rng::with_seed(seed), vec![(0, 0); parts]);
        Recorded { seconds, factor, random, drawn, times: VecDeque::new() }
    }

    /// Returns the requests of the next second, as recorded.
    fn next(&mut self) -> Vec<Request> {
        let mut all = Vec::new();
        for (next, end) in &mut self.drawn {
            if next == end {
                *next = self.random.usize(..self.seconds.len());
                *end = (*next + DRAWN).min(self.seconds.len());
            }
            all.extend_from_slice(&self.seconds[*next]);
            *next += 1;
        }
        all
    }
}

impl Traffic for Recorded<'_> {
    fn serve(&mut self, at: u64, trouble: Trouble, bounds: Option<[u64; 3]>) -> Second {
        let requests = self.next();
        let hour = (at % 86_400) as f64 / 3_600.0;
        let each = self.factor * crowd(hour) * trouble.rate;
        let mut times = Vec::with_capacity(requests.len());
        let (mut second, random) = (Second::default(), &mut self.random);
        for request in requests {
            let times_repeated = each.floor() as u64 + u64::from(random.f64() < each.fract());
            for _ in 0..times_repeated {
                second.all += 1;
                if request.refused || random.f64() < trouble.refused {
                    second.refused += 1;
                    continue;
                }
                second.failed += u64::from(request.failed || random.f64() < trouble.failed);
                times.push(((request.millis + random.f64()) * 1e6 * trouble.time) as u64);
            }
        }
        second.values = times.len() as u64;
        for (above, bound) in second.above.iter_mut().zip(bounds.into_iter().flatten()) {
            *above = times.iter().filter(|time| **time > bound).count() as u64;
        }
        if self.times.len() == 60 {
            self.times.pop_front();
        }
        self.times.push_back(times);
        second
    }

    fn percentile(&mut self, part: f64, _: u64, _: &[f64]) -> f64 {
        let mut times: Vec<u64> = self.times.iter().flatten().copied().collect();
        if times.is_empty() {
            return 0.0;
        }
        let at = ((times.len() - 1) as f64 * part).round() as usize;
        *times.select_nth_unstable(at).1 as f64
    }
}

#[test]
fn the_recording_is_that_of_the_log() {
    let seconds = recording(None);
    let all = || seconds.iter().flatten();
    assert_eq!((seconds.len(), all().count()), (91, 4_190));
    assert_eq!(all().filter(|request| request.failed).count(), 141);
    assert_eq!(all().filter(|request| request.refused).count(), 152);
    let search = recording(Some("/search"));
    assert_eq!(search.iter().flatten().count(), 898);
}

#[test]
fn steps_over_recorded_traffic_are_found_within_fifteen_seconds() {
    let whole = recording(None);
    for name in ["latency step", "error burst", "retry storm"] {
        let incident = INCIDENTS.iter().find(|incident| incident.name == name).unwrap();
        let day = |seed, crowd| Recorded::new(&whole, 1, 1.0 / crowd, seed);
        let [_, slowest] = Found::over(incident, 2, day).seconds().unwrap_or([i64::MAX; 2]);
        assert!((1..=15).contains(&slowest), "{name}: {slowest}");
    }
}

#[test]
fn slow_seconds_in_a_row_are_usual_where_they_come_again_and_again() {
    let search = recording(Some("/search"));
    // On the second of these days, the bound of the median falls below the times of slow seconds.
    let found = found_in_fine_days(Recorded::new(&search, 1, 1.0, 21), 2);
    assert_eq!(found, [0, 0]);
    let step = INCIDENTS.iter().find(|incident| incident.name == "latency step").unwrap();
    let found = Found::over(step, 2, |seed, crowd| Recorded::new(&search, 1, 1.0 / crowd, seed));
    let [_, slowest] = found.seconds().unwrap_or([i64::MAX; 2]);
    assert!((1..=60).contains(&slowest), "{:?}", found.after);
}

/// Returns the number of spans a day, in days without an incident, that have less than half of the
/// rate of the lowest minute of the half hour before.
fn low_spans(mut day: Recorded, span: usize, days: usize) -> f64 {
    let counts: Vec<f64> =
        (0..days as u64 * 86_400).map(|at| day.serve(at, FINE, None).all as f64).collect();
    let minutes: Vec<f64> =
        counts.chunks_exact(60).map(|of| of.iter().sum::<f64>() / 60.0).collect();
    let low = counts.chunks_exact(span).enumerate().filter(|(at, of)| {
        let minute = at * span / 60;
        let before = &minutes[minute.saturating_sub(30)..minute];
        let least = before.iter().copied().fold(f64::INFINITY, f64::min);
        before.len() == 30 && of.iter().sum::<f64>() / span as f64 * 2.0 < least
    });
    low.count() as f64 / days as f64
}

/// Prints the tables of the README over recorded days: `cargo test --release -p windrow-console
/// --lib -- --ignored --nocapture the_tables_of_recorded_days`.
#[test]
#[ignore = "it checks nothing: it prints tables, in some minutes"]
fn the_tables_of_recorded_days() {
    let (whole, search) = (recording(None), recording(Some("/search")));
    let series = [
        ("a tenth of the log", &whole, 1, 0.1),
        ("/search.txt", &search, 1, 1.0),
        ("the log", &whole, 1, 1.0),
        ("ten logs", &whole, 10, 1.0),
    ];
    println!("| incident | {} |", series.map(|(name, ..)| name).join(" | "));
    for incident in &INCIDENTS {
        let cells = series.map(|(_, seconds, draws, factor)| {
            let day = |seed, crowd| Recorded::new(seconds, draws, factor / crowd, seed);
            Found::over(incident, DAYS, day).cell()
        });
        println!("| {} | {} |", incident.name, cells.join(" | "));
    }
    println!("\n| series | a second | days | changes found | a day |\n|---|---|---|---|---|");
    let repeated = [("the log, each request ten times", &whole, 1, 10.0)];
    for (name, seconds, draws, factor) in series.into_iter().chain(repeated) {
        let one = |seed| found_in_fine_days(Recorded::new(seconds, draws, factor, seed), 3);
        let found = in_parallel((21..25).collect(), one);
        let (days, all) = (found.iter().map(Vec::len).sum::<usize>(), found.iter().flatten());
        let (all, requests) = (all.sum::<u32>(), seconds.iter().flatten().count() as f64);
        let rate = requests * draws as f64 * factor / seconds.len() as f64;
        println!("| {name} | {rate:.1} | {days} | {all} | {:.2} |", f64::from(all) / days as f64);
    }
    println!("\nspans a day with less than half of the rate of the lowest minute before:");
    for (name, seconds, draws, factor) in series {
        let low = [15, 30, 60].map(|span| {
            let found = low_spans(Recorded::new(seconds, draws, factor, 21), span, 12);
            format!("{span} s: {found:.2}")
        });
        println!("{name}: {}", low.join(", "));
    }
}
