//! The thread that reads the metrics, for the answers that need all of them.
//!
//! A request for numbers waits, without blocking a thread, for the thread of this module. The
//! thread makes one answer for all requests that have come by then. It reads each series once for
//! all of them, and once more for each format of a scrape, of which at most [`FORMATS`] have their
//! turn in one making. An answer therefore contains every add made before its request came. Then
//! the thread rests: nine times as long as it has worked, at most [`MOST_REST`]. So any number of
//! clients costs a tenth of one core, and a console that takes long makes at most one answer a
//! second.
//!
//! The thread starts with the first request, and ends when no request has come for [`LINGER`].

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot::Receiver;
use windrow::export::Series;
use windrow_prometheus::Format;

use super::queue::{Answer, LINGER, Queue};
use super::snapshot::{self, Snapshot};
use super::text::Text;
use super::walk::{Read, Walk};
use crate::read::audit::{Checks, Turn, audit};
use crate::read::ledger::Ledger;
use crate::shown::key::write_key;
use crate::shown::registry::Shown;
use crate::unusual::watches::Keeper;

/// The greatest number of different scrapes in one making: each reads all series. Scrapers of a
/// service have one or two, and a client that asks for each there is waits.
const FORMATS: usize = 4;

/// The longest rest between two makings.
const MOST_REST: Duration = Duration::from_secs(1);

/// The rest is this many times as long as the making before it.
const REST: u32 = 9;

/// The question of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Asked {
    Text,
    Snapshot,
    /// One series, by its key.
    Series(String),
    /// A scrape in a format, and whether it is to be compressed.
    Metrics(Format, bool),
}

/// The requests that wait for an answer, and the thread that makes it.
pub(crate) struct Answers {
    shown: Arc<Shown>,
    keeper: Arc<Keeper>,
    queue: Queue<Asked>,
}

impl Answers {
    pub(crate) fn new(shown: Arc<Shown>, keeper: Arc<Keeper>) -> Answers {
        Answers { shown, keeper, queue: Queue::new(usize::MAX) }
    }

    /// Asks for an answer. Its sender is dropped without one if a function that reads a metric
    /// panics, or if the thread cannot be started.
    pub(crate) fn ask(self: &Arc<Answers>, asked: Asked) -> Receiver<Answer> {
        let answers = Arc::clone(self);
        let receiver = self.queue.ask(asked, "windrow-answers", move || answers.run());
        receiver.expect("any number may wait")
    }

    /// Runs the thread, until no request has come for a while.
    fn run(&self) {
        let mut turn = Turn::default();
        while let Some(waiting) = self.queue.next(LINGER, take_turn) {
            let begun = Instant::now();
            let asked = waiting.iter().filter(|(_, sender)| !sender.is_closed());
            let asked: Vec<Asked> = asked.map(|(asked, _)| asked.clone()).collect();
            // A function that reads a metric may panic: then these requests have no answer.
            let answer = AssertUnwindSafe(|| make(&self.shown, &self.keeper, asked, &mut turn));
            let made = catch_unwind(answer).unwrap_or_default();
            for (asked, sender) in waiting {
                if let Some(answer) = made.get(&asked) {
                    let _ = sender.send(answer.clone()); // the client may have left
                }
            }
            thread::sleep((begun.elapsed() * REST).min(MOST_REST));
        }
    }
}

/// Takes the requests that have their turn: all but those for one scrape too many.
fn take_turn<T>(waiting: &mut Vec<(Asked, T)>) -> Vec<(Asked, T)> {
    let mut scrapes: Vec<Asked> = Vec::new();
    let has_turn = |(asked, _): &mut (Asked, T)| {
        let is_new = matches!(asked, Asked::Metrics(..)) && !scrapes.contains(asked);
        let has_turn = !is_new || scrapes.len() < FORMATS;
        if is_new && has_turn {
            scrapes.push(asked.clone());
        }
        has_turn
    };
    waiting.extract_if(.., has_turn).collect()
}

/// Makes the answers to these questions. `turn` has the series to audit.
fn make(
    shown: &Shown,
    keeper: &Arc<Keeper>,
    asked: Vec<Asked>,
    turn: &mut Turn,
) -> HashMap<Asked, Answer> {
    let mut made: HashMap<_, _> =
        asked.into_iter().map(|asked| (asked, Answer::NoSeries)).collect();
    let mut text = made.contains_key(&Asked::Text).then(Text::default);
    let mut snapshot = made.contains_key(&Asked::Snapshot).then(Snapshot::default);
    let mut checks = Checks::default();
    let mut walk = (text.is_some() || snapshot.is_some()).then(|| Walk::begin(shown, keeper));
    for (index, metric) in shown.metrics.iter().enumerate() {
        let is_asked =
            |asked: &Asked| matches!(asked, Asked::Series(key) if key.starts_with(&metric.name));
        let has_series = made.keys().any(is_asked);
        let mut one = |key: &str, series: &dyn Series| {
            if has_series && let Some(one) = made.get_mut(&Asked::Series(key.to_owned())) {
                *one = Answer::Made(snapshot::one(shown, metric, key, series).into(), None);
            }
        };
        if let Some(walk) = &mut walk {
            walk.metric(index, |read| {
                let Read { key, series, .. } = *read;
                if turn.places().contains(&read.place) {
                    checks.note(key, audit(series.metric(), &mut Ledger::default()));
                }
                if let Some(text) = &mut text {
                    text.series(shown, metric, read);
                }
                if let Some(snapshot) = &mut snapshot {
                    snapshot.series(metric, key, series);
                }
                one(key, series);
            });
        } else if has_series {
            let mut key = String::new();
            metric.source.visit(&mut |series| {
                write_key(&mut key, &metric.name, series);
                one(&key, series);
            });
        }
        if let Some(text) = &mut text {
            text.metric(metric);
        }
        if let Some(snapshot) = &mut snapshot {
            snapshot.metric(shown, metric);
        }
    }
    if let Some(walk) = walk {
        let (unusual, walked) = walk.end();
        turn.end(walked);
        if let Some(text) = text {
            let text = text.finish(shown, &checks, &unusual);
            made.insert(Asked::Text, Answer::Made(text.into(), None));
        }
        if let Some(snapshot) = snapshot {
            let snapshot = snapshot.finish(shown, &checks, &unusual);
            made.insert(Asked::Snapshot, Answer::Made(snapshot.into(), None));
        }
    }
    for (asked, answer) in &mut made {
        if let Asked::Metrics(format, prefers_gzip) = asked {
            let scrape = shown.scraped.respond_in(*format, *prefers_gzip);
            *answer = Answer::Made(scrape.body.into(), scrape.content_encoding);
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_making_has_few_scrapes_and_the_others_have_their_turn() {
        let formats = [Format::TEXT, Format::TEXT_1_0_0, Format::OPENMETRICS];
        let scrapes = formats.into_iter().flat_map(|format| {
            [false, true].map(|prefers_gzip| Asked::Metrics(format, prefers_gzip))
        });
        let mut asked: Vec<Asked> = scrapes.collect();
        asked.extend(asked.clone());
        asked.push(Asked::Text);
        let mut waiting: Vec<(Asked, usize)> = asked.iter().cloned().zip(0..).collect();
        let places = |turn: Vec<(Asked, usize)>| turn.into_iter().map(|(_, place)| place);
        let first: Vec<usize> = places(take_turn(&mut waiting)).collect();
        assert_eq!(first, [0, 1, 2, 3, 6, 7, 8, 9, 12], "four scrapes, each asked for twice");
        let second: Vec<usize> = places(take_turn(&mut waiting)).collect();
        assert_eq!(second, [4, 5, 10, 11]);
        assert!(waiting.is_empty());
    }
}
