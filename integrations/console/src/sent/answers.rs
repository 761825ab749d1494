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

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::oneshot::Receiver;

use super::answer::{Answer, Asked};
use super::making::make;
use super::queue::Queue;
use crate::read::audit::Turn;
use crate::shown::registry::Shown;
use crate::unusual::keeper::Keeper;

/// The greatest number of different scrapes in one making: each reads all series. Scrapers of a
/// service have one or two, and a client that asks for each there is waits.
const FORMATS: usize = 4;

/// The longest rest between two makings.
const MOST_REST: Duration = Duration::from_secs(1);

/// The rest is this many times as long as the making before it.
const REST: u32 = 9;

/// The time for which the thread waits for a request.
const LINGER: Duration = Duration::from_secs(5);

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
        if !matches!(asked, Asked::Metrics(..)) || scrapes.contains(asked) {
            return true;
        }
        if scrapes.len() < FORMATS {
            scrapes.push(asked.clone());
            return true;
        }
        false
    };
    waiting.extract_if(.., has_turn).collect()
}

#[cfg(test)]
mod tests {
    use windrow_prometheus::Format;

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
