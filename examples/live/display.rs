//! What the window says, drawn as a table or told in a line.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use windrow::{Snapshot, Stats};

use crate::numbers::{grouped, milliseconds};
use crate::service::{Http, Window};

const COUNTS: [Http; 4] = [Http::Pass, Http::Block, Http::Exception, Http::Success];

/// The window as a table: a row for each event, with its buckets as bars.
pub(crate) fn table(window: &Window) -> String {
    let second = window.previous();
    let snapshot = window.snapshot();
    let mut text = String::new();
    let _ = writeln!(
        text,
        "{:<10}{:>12}{:>12}{:>14}   bars: {} buckets",
        "event",
        "last second",
        "last 10 s",
        "in all",
        snapshot.buckets().len()
    );
    for event in COUNTS {
        let _ = writeln!(
            text,
            "{:<10}{:>12}{:>12}{:>14}   {}",
            format!("{event:?}"),
            format!("{}/s", grouped(second.sum(event))),
            grouped(snapshot.sum(event)),
            grouped(window.lifetime(event).count),
            bars(&snapshot, |bucket| bucket.sum(event) as f64),
        );
    }
    let _ = writeln!(text);
    let rows: [(&str, Measure); 3] = [
        ("mean", |stats| stats.mean()),
        ("min", |stats| stats.min.map(|us| us as f64)),
        ("max", |stats| stats.max.map(|us| us as f64)),
    ];
    for (name, of) in rows {
        let _ = writeln!(
            text,
            "{:<10}{:>12}{:>12}{:>14}   {}",
            format!("{name}, ms"),
            milliseconds(of(second.stats(Http::Rt))),
            milliseconds(of(snapshot.stats(Http::Rt))),
            milliseconds(of(window.lifetime(Http::Rt))),
            bars(&snapshot, |bucket| of(bucket.stats(Http::Rt)).unwrap_or(0.0)),
        );
    }
    let _ = writeln!(text, "\n{} adds a second", grouped(adds(&second)));
    text
}

/// The window in one line: its last whole second.
pub(crate) fn line(window: &Window, seconds: u64) -> String {
    let second = window.previous();
    let time = second.stats(Http::Rt);
    let mut text = format!("{seconds:>4} s ");
    for event in COUNTS {
        let name = format!("{event:?}").to_lowercase();
        let _ = write!(text, "  {name} {}/s", grouped(second.sum(event)));
    }
    let _ = writeln!(
        text,
        "  rt {} ms ({} to {})  {} adds/s",
        milliseconds(time.mean()),
        milliseconds(time.min.map(|us| us as f64)),
        milliseconds(time.max.map(|us| us as f64)),
        grouped(adds(&second)),
    );
    text
}

type Bucket = windrow::BucketSnapshot<Http>;

/// What is told of response times.
type Measure = fn(Stats) -> Option<f64>;

/// How often the window was added to in a second's bucket.
fn adds(second: &Bucket) -> u64 {
    COUNTS.iter().map(|&event| second.sum(event)).sum::<u64>() + second.stats(Http::Rt).count
}

/// One character for each bucket, oldest first; the last is the second that is being counted.
fn bars(snapshot: &Snapshot<Http>, height: impl Fn(&Bucket) -> f64) -> String {
    let heights: Vec<f64> = snapshot.buckets().iter().map(height).collect();
    let highest = heights.iter().copied().fold(0.0, f64::max);
    // The lowest bar that is not too low; nothing has none.
    let bar = |height: f64| {
        let high_enough = |bar: &(u8, char)| f64::from(bar.0) * highest >= 8.0 * height;
        (0..).zip("·▁▂▃▄▅▆▇█".chars()).find(high_enough).map_or('?', |(_, bar)| bar)
    };
    heights.into_iter().map(bar).collect()
}

/// Writes to standard output. A reader that has gone away does not stop the count.
pub(crate) fn say(text: &str) {
    let mut out = io::stdout().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
