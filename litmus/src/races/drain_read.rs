//! Sums of a counter, while another thread adds and drains.
//!
//! A sum is the scan less the baseline, as if both were of the same moment: it must notice a drain
//! in between.
//!
//! *Impossible*: with a baseline from before the drain and a scan from after it, a sum includes
//! drained adds; with the opposite order it is negative.

use windrow::Counter;

use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden};

pub(super) struct DrainRead;

const BEFORE: u64 = 16;
/// The number of reads in a trial.
const READS: usize = 8;

impl Race for DrainRead {
    const NAME: &'static str = "drain_read";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("all sums are from before the drain"),
        expected("the drain came between two sums"),
        expected("all sums are from after the drain"),
        forbidden("a sum has a value that the counter never had"),
        forbidden("a drain and the rest do not add up"),
    ];
    type State = Counter;

    fn state() -> Counter {
        Counter::new()
    }

    fn prepare(state: &Counter, _: u64) {
        state.add(BEFORE);
    }

    fn act(state: &Counter, _: u64, actor: usize) -> Answer {
        if actor == 0 {
            state.increment();
            let drained = state.take();
            state.increment();
            return [drained, 0, 0, 0];
        }
        let mut answer = [0; 4]; // sums before, sums after, whether one is wrong, which
        for _ in 0..READS {
            match state.sum() {
                sum if sum == BEFORE || sum == BEFORE + 1 => answer[0] += 1,
                0 | 1 => answer[1] += 1,
                sum => (answer[2], answer[3]) = (1, sum),
            }
        }
        answer
    }

    fn judge(state: &Counter, _: u64, answers: &[Answer]) -> Verdict {
        let (drained, rest) = (answers[0][0], state.take());
        if (drained, rest) != (BEFORE + 1, 1) {
            return Err((4, format!("{drained} drained and {rest} left")));
        }
        match answers[1] {
            [_, _, 1, sum] => Err((3, format!("a sum of {sum}"))),
            [_, 0, ..] => Ok(0),
            [0, ..] => Ok(2),
            _ => Ok(1),
        }
    }
}
