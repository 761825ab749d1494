//! The replay itself: every line into both windows.
//!
//! One line of a wrong year must not take the windows with it. So a line that lies more than thirty
//! days from those before is held. If another one of its time follows, the log has leapt, forward
//! or back, and the windows follow. If the log goes on where it was, the line is a stray, and late.

use std::io::{self, BufRead};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use windrow::Timestamp;

use crate::entry::{self, Entry};
use crate::lines::Lines;
use crate::ranking::{LEAD, Log, Ranking};

/// The number of malformed lines that are kept to be shown.
const SHOWN: usize = 10;

/// The number of lines that are held until the windows go on with the first of them.
const MOST_HELD: usize = 16;

/// A line that is not in the combined format.
pub(crate) struct Malformed {
    pub(crate) line: u64,
    pub(crate) reason: &'static str,
    pub(crate) text: String,
}

/// The result of replaying a log.
pub(crate) struct Replay {
    pub(crate) lines: u64,
    pub(crate) good: u64,
    /// Good lines that were older than one before them.
    pub(crate) out_of_order: u64,
    /// The first of the malformed lines.
    pub(crate) malformed: Vec<Malformed>,
    /// Good lines that lie more than thirty days from those around them.
    pub(crate) strays: u64,
    /// The number of times the log goes on more than thirty days later or earlier.
    pub(crate) leaps: u64,
    /// The oldest and the newest time in the log, but for strays.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    /// The newest time since the last leap.
    newest: Option<Timestamp>,
    /// The last lines, if they lie more than thirty days from the newest time, and from each other.
    held: Vec<Entry>,
    pub(crate) seconds: Ranking,
    pub(crate) minutes: Ranking,
}

/// Replays a log to its end, ranking the busiest `top` seconds and minutes.
pub(crate) fn run(log: impl BufRead, top: usize) -> io::Result<Replay> {
    let mut replay = Replay {
        lines: 0,
        good: 0,
        out_of_order: 0,
        strays: 0,
        leaps: 0,
        newest: None,
        held: Vec::new(),
        malformed: Vec::new(),
        span: None,
        seconds: Ranking::new(Duration::from_secs(1), top),
        minutes: Ranking::new(Duration::from_secs(60), top),
    };
    // A sign of life on standard error, where it is a terminal.
    let progress = ProgressBar::no_length().with_style(style());
    let mut lines = Lines::of(log);
    while let Some(line) = lines.next()? {
        replay.lines += 1;
        progress.inc(1);
        match entry::parse(&line) {
            Ok(entry) => replay.count(entry),
            Err(reason) if replay.malformed.len() < SHOWN => {
                let text = line.chars().take(50).collect();
                replay.malformed.push(Malformed { line: replay.lines, reason, text });
            }
            Err(_) => {}
        }
    }
    progress.finish_and_clear();
    replay.end();
    replay.seconds.finish();
    replay.minutes.finish();
    Ok(replay)
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{human_pos} lines").expect("the template is sound")
}

impl Replay {
    fn count(&mut self, entry: Entry) {
        self.good += 1;
        if self.newest.is_some_and(|newest| are_near(newest, entry.at)) {
            self.let_go();
            self.take(&entry);
            return;
        }
        let near = self.held.iter().position(|held| are_near(held.at, entry.at));
        self.held.push(entry);
        if let Some(first) = near {
            self.leap(first);
        } else if self.held.len() == MOST_HELD {
            self.leap(0); // no two lines are of one time
        }
    }

    /// Counts a line in the windows.
    fn take(&mut self, entry: &Entry) {
        let newest = self.newest.unwrap_or(entry.at);
        self.out_of_order += u64::from(entry.at < newest);
        self.newest = Some(newest.max(entry.at));
        let (oldest, newest) = self.span.unwrap_or((entry.at, entry.at));
        self.span = Some((oldest.min(entry.at), newest.max(entry.at)));
        self.seconds.count(entry);
        self.minutes.count(entry);
    }

    /// Moves the windows to one of the lines that are held, and counts all of them.
    fn leap(&mut self, to: usize) {
        self.leaps += u64::from(self.newest.is_some());
        let at = self.held[to].at;
        self.newest = None;
        self.seconds.begin_anew(at);
        self.minutes.begin_anew(at);
        let (near, strays): (Vec<_>, _) =
            self.held.drain(..).partition(|held| are_near(held.at, at));
        self.held = strays;
        for entry in &near {
            self.take(entry);
        }
        self.let_go();
    }

    /// The lines that are held are strays.
    fn let_go(&mut self) {
        for stray in self.held.drain(..) {
            self.strays += 1;
            self.seconds.count_late(&stray);
            self.minutes.count_late(&stray);
        }
    }

    /// The log is at its end. The lines that are held are strays, unless there are no others.
    fn end(&mut self) {
        if self.newest.is_none() && !self.held.is_empty() {
            self.leap(0);
        }
        self.let_go();
    }

    /// Returns whether both windows hold every good line: in a bucket that was ranked, or among the
    /// late.
    pub(crate) fn is_complete(&self) -> bool {
        [&self.seconds, &self.minutes].iter().all(|ranking| {
            let counted = ranking.lifetime(Log::Request).count;
            counted == self.good && ranking.ranked() + ranking.late() == self.good
        })
    }
}

/// Returns whether two times are no more than thirty days apart.
fn are_near(one: Timestamp, other: Timestamp) -> bool {
    one - other <= LEAD && other - one <= LEAD
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of these seconds of a day, and those of another year among them.
    fn log(lines: &[(&str, u64)]) -> Replay {
        let line = |(year, second): &(&str, u64)| {
            format!(r#"h - - [21/Nov/{year}:00:00:{second:02} +0000] "GET /" 200 1 "-" "-""#)
        };
        let lines: Vec<String> = lines.iter().map(line).collect();
        run(lines.join("\n").as_bytes(), 60).expect("a slice can be read")
    }

    fn busiest(replay: &Replay) -> Vec<(u64, u64)> {
        let busiest = replay.seconds.busiest().iter();
        busiest.map(|b| (b.start().as_nanos() / 1_000_000_000 % 60, b.sum(Log::Request))).collect()
    }

    /// A single line of another year, before, behind or between any others, changes no rank.
    #[test]
    fn one_line_of_a_wrong_year_is_a_stray() {
        let good = [1, 1, 2, 7, 7, 7, 5, 9].map(|second| ("2026", second));
        let ranks = busiest(&log(&good));
        assert_eq!(ranks, [(7, 3), (1, 2), (2, 1), (5, 1), (9, 1)]);
        for wrong in ["1970", "2025", "2027", "2553"] {
            for place in 0..=good.len() {
                let mut lines = good.to_vec();
                lines.insert(place, (wrong, 4));
                let replay = log(&lines);
                assert_eq!(busiest(&replay), ranks, "{wrong} at {place}");
                assert_eq!((replay.strays, replay.leaps, replay.out_of_order), (1, 0, 1));
                assert_eq!((replay.seconds.late(), replay.minutes.late()), (1, 1));
                let span = replay.span.map(|(oldest, newest)| (newest - oldest).as_secs());
                assert!(replay.is_complete() && span == Some(8), "{span:?}");
            }
        }
    }

    /// Logs of several years, one behind the other in any order, are ranked each in its own time.
    #[test]
    fn a_log_that_leaps_is_followed() {
        for years in [["2025", "2026", "2027"], ["2027", "2025", "2026"], ["2026", "2025", "2027"]]
        {
            let of_year = |year| [(year, 1), (year, 3), (year, 2), (year, 3)];
            let replay = log(&years.map(of_year).concat());
            assert_eq!(replay.seconds.busiest().len(), 9);
            assert_eq!((replay.strays, replay.leaps, replay.out_of_order), (0, 2, 3));
            assert_eq!((replay.good, replay.seconds.late()), (12, 0));
            assert!(replay.is_complete());
        }
    }

    /// The log has no two lines of one time.
    #[test]
    fn a_log_of_leaps_alone_is_counted() {
        let years: Vec<String> = (0..40).map(|n| (1971 + 13 * n % 400).to_string()).collect();
        let lines: Vec<(&str, u64)> = years.iter().map(|year| (year.as_str(), 1)).collect();
        for count in 0..lines.len() {
            let replay = log(&lines[..count]);
            assert!(replay.is_complete(), "{count} lines");
            assert_eq!(replay.good, count as u64);
        }
    }

    #[test]
    fn a_log_of_one_line_is_ranked() {
        let replay = log(&[("2026", 5)]);
        assert_eq!((busiest(&replay), replay.strays), (vec![(5, 1)], 0));
        assert!(replay.is_complete());
    }

    #[test]
    fn malformed_lines_stop_nothing() {
        let mut log = b"\xff\xfe\0garbage\n".repeat(20);
        log.extend(br#"h - - [21/Nov/2026:03:52:01 +0100] "GET /" 200 1 "-" "-""#);
        let replay = run(&log[..], 5).unwrap();
        assert_eq!((replay.lines, replay.good, replay.malformed.len()), (21, 1, SHOWN));
        assert!(replay.is_complete());
        assert_eq!(replay.minutes.busiest().len(), 1);
    }

    #[test]
    fn an_empty_log_is_complete() {
        let replay = run(&b""[..], 5).unwrap();
        assert_eq!((replay.lines, replay.span), (0, None));
        assert!(replay.is_complete());
    }
}
