//! A log of days, of which the test has a book.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use windrow_log::{Log, Options};

pub(crate) const MINUTE: u64 = 60_000;
pub(crate) const DAY: u64 = 86_400_000;

/// A line: a bucket of a minute.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// The end of the bucket, in milliseconds since 1970.
    pub(crate) end: u64,
    pub(crate) pass: u64,
    pub(crate) failed: u64,
    /// The sum of the times of all operations in nanoseconds, and their limits.
    pub(crate) rt: u64,
    pub(crate) min: u64,
    pub(crate) max: u64,
}

/// A log, its lines, and the times at which its processes were started.
pub(crate) struct Week {
    pub(crate) directory: tempfile::TempDir,
    pub(crate) lines: Vec<Line>,
    pub(crate) starts: Vec<u64>,
}

pub(crate) fn at(millis: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(millis)
}

pub(crate) fn now() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    u64::try_from(now.as_millis()).unwrap()
}

impl Week {
    /// Writes a series of eight days until `end`, by the minute, in four files. A process was
    /// started at the beginning of each.
    pub(crate) fn write(resource: &str, end: u64) -> Week {
        let directory = tempfile::tempdir().unwrap();
        let (mut lines, mut starts) = (Vec::new(), Vec::new());
        let (begin, length) = (end - 8 * DAY, 2 * DAY);
        for number in 0..4 {
            let started = begin + number * length + 1_234;
            starts.push(started);
            let of_file: Vec<Line> = (1..=length / MINUTE)
                .map(|minute| Line::of(begin + number * length + minute * MINUTE, minute))
                .collect();
            write_file(directory.path(), number + 1, resource, started, &of_file);
            lines.extend(of_file);
        }
        Week { directory, lines, starts }
    }

    /// Begins another run, now, with no lines: returns the log, and when that was.
    pub(crate) fn restart(&mut self) -> Log {
        let log = Log::open(self.directory.path(), Options::default()).unwrap();
        self.starts.push(now());
        log
    }

    /// Returns the sums of the lines that ended after `from`, and at `to` or before.
    pub(crate) fn sum(&self, from: u64, to: u64) -> Line {
        let mut all = Line { end: to, pass: 0, failed: 0, rt: 0, min: u64::MAX, max: 0 };
        for line in self.lines.iter().filter(|line| line.end > from && line.end <= to) {
            all.pass += line.pass;
            all.failed += line.failed;
            all.rt += line.rt;
            (all.min, all.max) = (all.min.min(line.min), all.max.max(line.max));
        }
        all
    }
}

impl Line {
    fn of(end: u64, minute: u64) -> Line {
        let pass = 600 + minute * 7_919 % 311;
        let (min, max) = (1_000_000 + minute % 97, 50_000_000 + minute * 104_729 % 9_999_991);
        Line { end, pass, failed: minute % 13, rt: pass * 2_000_000 + minute, min, max }
    }
}

fn write_file(directory: &Path, number: u64, resource: &str, started: u64, lines: &[Line]) {
    let time = |millis| jiff::Timestamp::try_from(at(millis)).unwrap();
    let mut text = format!(
        "{{\"run\":{{\"windrow\":1,\"id\":\"{number:016x}\",\"started\":\"{}\"}}}}\n",
        time(started)
    );
    let resource = serde_json::Value::from(resource);
    for line in lines {
        let Line { end, pass, failed, rt, min, max } = line;
        let line = format!(
            "{{\"bucket\":{{\"resource\":{resource},\"start\":\"{}\",\"length_ns\":60000000000,\"at_ns\":7,\"events\":{{\
             \"Pass\":{{\"count\":{pass},\"sum\":{pass}}},\"Exception\":{{\"count\":{failed},\"sum\":{failed}}},\
             \"Rt\":{{\"count\":{pass},\"sum\":{rt},\"min\":{min},\"max\":{max}}}}}}}}}\n",
            time(end - MINUTE)
        );
        text.push_str(&line);
    }
    fs::write(directory.join(format!("windrow-{number:010}.jsonl")), text).unwrap();
}
