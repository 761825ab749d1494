//! Two threads that take closed buckets out of one window, while one of them opens another bucket.
//!
//! Each bucket is handed out once, in the order in which they were live, with all that it has.
//!
//! *Twice*: two drains used the same turn of the cursor. *Missing*: the cursor passed over a bucket
//! that was not closed yet. *Wrong numbers*: a bucket was handed out before it was final.

use std::thread;
use std::time::{Duration, Instant};

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden, interesting};

pub(super) struct DrainClosed;

/// The number of buckets when the trial begins; the last is live.
const OPENED: u64 = 5;
/// The time for which the judge drains the rest, in the end. On the portable path a bucket cannot
/// be closed while a thread is pinned, and the kernel may have stopped such a thread for a while.
const PATIENCE: Duration = Duration::from_secs(10);

/// Drains, and notes each bucket's number of passes, which tells which it is: the first has 1.
/// Those of the turn before are passed over.
fn drain(state: &Window, begin: u64) -> u64 {
    let mut noted = 0;
    state.window.drain_closed(|bucket| {
        if let Some(since) = bucket.start().as_nanos().checked_sub(begin) {
            let (place, passes) = (since / LENGTH + 1, bucket.sum(Seen::Pass));
            let right = if place == passes { place } else { WRONG };
            noted = noted << 4 | right;
        }
    });
    noted
}

/// Stands for a bucket with wrong contents.
const WRONG: u64 = 15;

impl Race for DrainClosed {
    const NAME: &'static str = "drain_closed";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("one thread was handed all buckets"),
        expected("each was handed some"),
        interesting("some could not be closed until later"),
        forbidden("a bucket was handed out with other numbers than its own"),
        forbidden("a bucket was handed out twice"),
        forbidden("a bucket was never handed out"),
        forbidden("a thread was handed buckets out of order"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(16)
    }

    fn prepare(state: &Window, turn: u64) {
        for index in 0..OPENED {
            state.at(begin(turn) + index * LENGTH).add(Seen::Pass, index + 1);
        }
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let begin = begin(turn);
        if actor == 0 {
            state.at(begin + OPENED * LENGTH).add(Seen::Pass, OPENED + 1);
        }
        [drain(state, begin), drain(state, begin), 0, 0]
    }

    fn judge(state: &Window, turn: u64, answers: &[Answer]) -> Verdict {
        let begin = begin(turn);
        state.at(begin + (OPENED + 1) * LENGTH).add(Seen::Pass, OPENED + 2);
        let mut handed: Vec<Vec<u64>> = answers
            .iter()
            .map(|answer| answer[..2].iter().flat_map(|noted| unpacked(*noted)).collect())
            .collect();
        let mut rest = Vec::new();
        let count = |handed: &[Vec<u64>]| handed.iter().map(Vec::len).sum::<usize>();
        let asked = Instant::now();
        while count(&handed) + rest.len() <= OPENED as usize && asked.elapsed() < PATIENCE {
            rest.extend(unpacked(drain(state, begin)));
            thread::yield_now();
        }
        let left = rest.len();
        handed.push(rest);
        let text = || format!("the threads were handed {handed:?}, the last of them in the end");
        let mut all: Vec<u64> = handed.concat();
        all.sort_unstable();
        if all.contains(&WRONG) {
            return Err((3, text()));
        }
        if !handed.iter().all(|handed| handed.is_sorted()) {
            return Err((6, text()));
        }
        if all.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err((4, text()));
        }
        if !all.iter().copied().eq(1..=OPENED + 1) {
            return Err((5, text()));
        }
        // The bucket that was live in the trial could be closed only in the end.
        if left > 1 {
            return Ok(2);
        }
        Ok(usize::from(!handed[0].is_empty() && !handed[1].is_empty()))
    }
}

/// Returns the places that were noted, in order.
fn unpacked(noted: u64) -> impl Iterator<Item = u64> {
    (0..16).rev().map(move |place| noted >> (4 * place) & 15).filter(|place| *place > 0)
}
