//! Two drains of one counter, each after an add of the same thread.
//!
//! Every add is in exactly one result. A drain resets nothing: it moves the baseline from where it
//! has found it to what it has scanned, so a drain in between must be noticed.
//!
//! *Exceeds*: the cells were scanned before the baseline was read, so that a result is negative.
//! *Do not add up*: the baseline was moved without comparing it with the one that was read.

use windrow::Counter;

use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden};

pub(super) struct DrainDrain;

const BEFORE: u64 = 16;

impl Race for DrainDrain {
    const NAME: &'static str = "drain_drain";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("one result has everything"),
        expected("each result has one add"),
        forbidden("a result exceeds the sum of all adds"),
        forbidden("the results do not add up to the adds"),
        forbidden("an add that was drained is still there"),
    ];
    type State = Counter;

    fn state() -> Counter {
        Counter::new()
    }

    fn prepare(state: &Counter, _: u64) {
        state.add(BEFORE);
    }

    fn act(state: &Counter, _: u64, _: usize) -> Answer {
        state.increment();
        [state.take(), 0, 0, 0]
    }

    fn judge(state: &Counter, _: u64, answers: &[Answer]) -> Verdict {
        let (one, other, rest) = (answers[0][0], answers[1][0], state.take());
        let text = || format!("results of {one} and {other}, and {rest} left");
        let all = BEFORE + 2;
        if one.max(other) > all {
            Err((2, text()))
        } else if one + other + rest != all {
            Err((3, text()))
        } else if rest > 0 {
            Err((4, text())) // each was drained by the thread that had added it, or before
        } else {
            Ok(usize::from(one.max(other) < all))
        }
    }
}
