//! The replay itself: every line into both windows.

use std::io::{self, BufRead};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use windrow::Timestamp;

use crate::entry::{self, Entry};
use crate::lines::Lines;
use crate::ranking::{Log, Ranking};

/// How many malformed lines are kept to be shown.
const SHOWN: usize = 10;

/// A line that is not in the combined format.
pub(crate) struct Malformed {
    pub(crate) line: u64,
    pub(crate) reason: &'static str,
    pub(crate) text: String,
}

/// What came of a log.
pub(crate) struct Replay {
    pub(crate) lines: u64,
    pub(crate) good: u64,
    /// Good lines that were older than one before them.
    pub(crate) out_of_order: u64,
    /// The first of the malformed lines.
    pub(crate) malformed: Vec<Malformed>,
    /// The oldest and the newest time in the log.
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
    let progress = ProgressBar::no_length().with_style(style());
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

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{human_pos} lines").expect("the template is sound")
}

impl Replay {
    fn count(&mut self, entry: &Entry) {
        let (oldest, newest) = self.span.unwrap_or((entry.at, entry.at));
        self.out_of_order += u64::from(entry.at < newest);
        self.span = Some((oldest.min(entry.at), newest.max(entry.at)));
        self.good += 1;
        self.seconds.count(entry);
        self.minutes.count(entry);
    }

    /// Whether both windows hold every good line: in a bucket that was ranked, or among the late.
    pub(crate) fn is_complete(&self) -> bool {
        [&self.seconds, &self.minutes].iter().all(|ranking| {
            let counted = ranking.lifetime(Log::Request).count;
            counted == self.good && ranking.ranked() + ranking.late() == self.good
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
