//! The past that a log has: `/past`, by a thread of its own.
//!
//! A question waits, without blocking a thread, for the thread of this module. It reads the lines
//! that the log has grown by, at most [`STEP`] at a time, and answers from the sums that it keeps.
//! After each turn it rests for as long as the turn took, so it costs at most half a core. When it
//! begins, it reads the whole log in such steps, between questions; an answer has the number of
//! bytes that are not read yet. A file that cannot be read is tried again with the next question:
//! an answer has the numbers of the others, and the error. The thread starts with the first
//! question, and ends when the log is read and no question has come for [`LINGER`]. The sums stay.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use http::{Request, StatusCode};
use serde_json::{Value, json};
use tokio::sync::oneshot::Receiver;
use windrow_log::{Past, PastEvent, ReadError, Run, Span, Total};

use super::json::exact;
use super::queue::{Answer, LINGER, Queue, Waiting};
use crate::query::{asked_series, parameter};
use crate::read::buckets;

/// The number of bytes that a turn reads of the lines that are new.
const STEP: u64 = 4 << 20;

/// The greatest number of bins of an answer.
const BINS: usize = 400;

/// The greatest number of questions that wait.
const WAITING: usize = 64;

/// A question for a series over a span.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Move {
    /// The name of the series in the log.
    resource: String,
    /// Milliseconds since 1970.
    from: i64,
    to: i64,
}

impl Move {
    /// Returns the question of a request with these parameters; `None` if a time is no number. It
    /// is the last day if they have no times.
    fn of(key: &str, from: Option<&str>, to: Option<&str>, now: i64) -> Option<Move> {
        const DAY: i64 = 86_400_000;
        let to = to.map_or(Some(now), |to| to.parse().ok())?;
        let from = from.map_or(Some(to.saturating_sub(DAY)), |from| from.parse().ok())?;
        Some(Move { resource: name_of(key), from, to })
    }
}

/// Returns the name in the log of a series with this key. They differ only in line feeds, which a
/// key has as `\n`.
fn name_of(key: &str) -> String {
    let parts = key.split(r"\\").map(|part| part.replace(r"\n", "\n"));
    parts.collect::<Vec<_>>().join(r"\\")
}

/// The log, and the questions that wait for an answer.
pub(crate) struct Logged {
    past: Mutex<Past>,
    queue: Queue<Move>,
}

impl Logged {
    pub(crate) fn new(directory: &Path) -> Logged {
        Logged { past: Mutex::new(Past::new(directory)), queue: Queue::new(WAITING) }
    }

    /// Asks for the answer to a request; or returns a refusal.
    pub(crate) fn answer<B>(
        self: &Arc<Logged>,
        request: &Request<B>,
    ) -> Result<Receiver<Answer>, (StatusCode, &'static str)> {
        let key = asked_series(request)
            .ok_or((StatusCode::BAD_REQUEST, "It needs a series: /past?series=NAME.\n"))?;
        let [from, to] = ["from", "to"].map(|name| parameter(request, name));
        let asked = Move::of(&key, from, to, millis(SystemTime::now()))
            .ok_or((StatusCode::BAD_REQUEST, "`from` and `to` are milliseconds since 1970.\n"))?;
        self.ask(asked).ok_or((StatusCode::SERVICE_UNAVAILABLE, "Too many requests wait.\n"))
    }

    /// Asks for an answer; returns `None` if too many questions wait. Its sender is dropped without
    /// one if the thread cannot be started.
    fn ask(self: &Arc<Logged>, asked: Move) -> Option<Receiver<Answer>> {
        let logged = Arc::clone(self);
        self.queue.ask(asked, "windrow-past", move || logged.run())
    }

    /// Runs the thread, until the log is read and no question has come for a while.
    fn run(&self) {
        let mut linger = Duration::ZERO;
        while let Some(waiting) = self.queue.next(linger, mem::take) {
            // If it panics, these questions have no answer.
            let turn = half(|| catch_unwind(AssertUnwindSafe(|| self.turn(waiting))));
            linger = if turn.unwrap_or(false) { Duration::ZERO } else { LINGER };
        }
    }

    /// Reads on, and answers. Returns whether there is more to read.
    fn turn(&self, waiting: Waiting<Move>) -> bool {
        let mut past = self.past.lock().unwrap_or_else(PoisonError::into_inner);
        let left = past.catch_up(STEP);
        for (asked, sender) in waiting {
            if sender.is_closed() {
                continue;
            }
            let span = past.span(&asked.resource, time(asked.from), time(asked.to), BINS);
            let answer = written(&span, left.as_ref().err());
            let _ = sender.send(Answer::Made(answer.into(), None)); // the client may have left
        }
        left.is_ok_and(|left| left > 0)
    }
}

/// Works, and then rests for as long as that took.
fn half<T>(work: impl FnOnce() -> T) -> T {
    let begun = Instant::now();
    let done = work();
    thread::sleep(begun.elapsed());
    done
}

/// Returns the moment of milliseconds since 1970, as far as there is such a moment.
fn time(millis: i64) -> SystemTime {
    let since = Duration::from_millis(millis.unsigned_abs());
    let time =
        if millis < 0 { UNIX_EPOCH.checked_sub(since) } else { UNIX_EPOCH.checked_add(since) };
    time.unwrap_or(UNIX_EPOCH)
}

/// Returns the milliseconds from 1970 to a moment.
fn millis(time: SystemTime) -> i64 {
    let millis = |since: Duration| i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => millis(since),
        Err(before) => -millis(before.duration()),
    }
}

/// Returns an answer: see the README.
fn written(span: &Span, failed: Option<&ReadError>) -> String {
    let event = |event: &PastEvent| {
        let numbers = |number: fn(&Total) -> Option<i128>| -> Value {
            event.bins.iter().map(|bin| number(bin).map(exact)).collect()
        };
        let mut all = json!({ "name": event.name, "count": numbers(|bin| Some(bin.count)) });
        // A `Count` has nothing more.
        if event.bins.iter().any(|bin| bin.sum != bin.count || bin.max.is_some()) {
            all["sum"] = numbers(|bin| Some(bin.sum));
            all["min"] = numbers(|bin| bin.min.map(i128::from));
            all["max"] = numbers(|bin| bin.max.map(i128::from));
        }
        all
    };
    let start = |run: &Run| {
        json!([exact(millis(run.started)), run.id.chars().take(64).collect::<String>()])
    };
    let held = span.held.into_iter().flat_map(|(first, last)| [first, last]);
    let mut answer = json!({
        "from": exact(millis(span.start)),
        "bin_ms": exact(buckets::millis(span.bin)),
        "bins": span.bins,
        "events": span.events.iter().map(event).collect::<Value>(),
        "more_events": span.has_more_events,
        "starts": span.runs.iter().map(start).collect::<Value>(),
        "earlier_starts": exact(span.earlier_runs),
        "dropped": exact(span.dropped),
        "unread": exact(span.unread),
        "unreadable": exact(span.unreadable),
        "held": held.map(|time| exact(millis(time))).collect::<Value>(),
    });
    // The first file that cannot be read, and the number of others.
    let mut errors = failed.into_iter().chain(span.failed.iter().map(|error| &**error));
    if let Some(first) = errors.next() {
        let more = match errors.count() {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        answer["error"] = format!("{first}{more}").into();
    }
    answer.to_string()
}

#[cfg(test)]
mod tests;
