//! The replay itself: every line into both windows.
//!
//! The windows begin at the first line, and follow the log by at most thirty days at once: one line
//! of a wrong year does not take them with it, and is counted as late.

use std::io::{self, BufRead};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use windrow::Timestamp;

use crate::entry::{self, Entry};
use crate::lines::Lines;
use crate::ranking::{LEAD, Log, Ranking};

/// The number of malformed lines that are kept to be shown.
const SHOWN: usize = 10;

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
    /// The oldest and the newest time in the log, but for lines of another year.
    pub(crate) span: Option<(Timestamp, Timestamp)>,
    pub(crate) seconds: Ranking,
    pub(crate) minutes: Ranking,
}

/// Replays a log to its end, ranking the busiest `top` seconds and minutes.
pub(crate) fn run(log: impl BufRead, top: usize) -> io::Result<Replay> {
    let mut replay = Replay {
        lines: 0,
        good: 0,
        out_of_order: 0,
        malformed: Vec::new(),
        span: None,
        seconds: Ranking::new(Duration::from_secs(1), top),
        minutes: Ranking::new(Duration::from_secs(60), top),
    };
    // A sign of life on standard error, where it is a terminal.
    let style = ProgressStyle::with_template("{human_pos} lines").expect("the template is sound");
    let progress = ProgressBar::no_length().with_style(style);
    let mut lines = Lines::of(log);
    while let Some(line) = lines.next()? {
        replay.lines += 1;
        progress.inc(1);
        match entry::parse(&line) {
            Ok(entry) => replay.count(&entry),
            Err(reason) if replay.malformed.len() < SHOWN => {
                let text = line.chars().take(50).collect();
                replay.malformed.push(Malformed { line: replay.lines, reason, text });
            }
            Err(_) => {}
        }
    }
    progress.finish_and_clear();
    replay.seconds.finish();
    replay.minutes.finish();
    Ok(replay)
}

impl Replay {
    fn count(&mut self, entry: &Entry) {
        let at = entry.at;
        let (oldest, newest) = *self.span.get_or_insert_with(|| {
            self.seconds.begin(at);
            self.minutes.begin(at);
            (at, at)
        });
        self.good += 1;
        self.out_of_order += u64::from(at < newest);
        if at - newest <= LEAD && newest - at <= LEAD {
            self.span = Some((oldest.min(at), newest.max(at)));
        }
        self.seconds.count(entry);
        self.minutes.count(entry);
    }

    /// Returns whether both windows hold every good line: in a bucket that was ranked, or among the
    /// late.
    pub(crate) fn is_complete(&self) -> bool {
        [&self.seconds, &self.minutes].iter().all(|ranking| {
            let counted = ranking.lifetime(Log::Request).count;
            counted == self.good && ranking.ranked + ranking.late() == self.good
        })
    }
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
        let busiest = replay.seconds.busiest.iter();
        busiest.map(|b| (b.start().as_nanos() / 1_000_000_000 % 60, b.sum(Log::Request))).collect()
    }

    /// A single line of another year, behind or between any others, changes no rank.
    #[test]
    fn one_line_of_a_wrong_year_is_late() {
        let good = [1, 1, 2, 7, 7, 7, 5, 9].map(|second| ("2026", second));
        let ranks = busiest(&log(&good));
        assert_eq!(ranks, [(7, 3), (1, 2), (2, 1), (5, 1), (9, 1)]);
        for wrong in ["1970", "2025", "2027", "2553"] {
            for place in 1..=good.len() {
                let mut lines = good.to_vec();
                lines.insert(place, (wrong, 4));
                let replay = log(&lines);
                assert_eq!(busiest(&replay), ranks, "{wrong} at {place}");
                assert_eq!(replay.out_of_order, 1 + u64::from(wrong < "2026"));
                assert_eq!((replay.seconds.late(), replay.minutes.late()), (1, 1));
                let span = replay.span.map(|(oldest, newest)| (newest - oldest).as_secs());
                assert!(replay.is_complete() && span == Some(8), "{span:?}");
            }
        }
    }

    #[test]
    fn a_log_of_one_line_is_ranked() {
        let replay = log(&[("2026", 5)]);
        assert_eq!(busiest(&replay), [(5, 1)]);
        assert!(replay.is_complete());
    }

    #[test]
    fn malformed_lines_stop_nothing() {
        let mut log = b"\xff\xfe\0garbage\n".repeat(20);
        log.extend(br#"h - - [21/Nov/2026:03:52:01 +0100] "GET /" 200 1 "-" "-""#);
        let replay = run(&log[..], 5).unwrap();
        assert_eq!((replay.lines, replay.good, replay.malformed.len()), (21, 1, SHOWN));
        assert!(replay.is_complete());
        assert_eq!(replay.minutes.busiest.len(), 1);
    }

    #[test]
    fn an_empty_log_is_complete() {
        let replay = run(&b""[..], 5).unwrap();
        assert_eq!((replay.lines, replay.span), (0, None));
        assert!(replay.is_complete());
    }
}
