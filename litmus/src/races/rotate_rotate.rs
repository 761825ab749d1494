//! Two threads that move on at the same time: to the same bucket, or one of them to the bucket
//! after; that one then adds to the bucket that it has passed, too.
//!
//! One of two that open the same bucket must lose, give its block back, and add to the other's. One
//! that passes a bucket which has just become current must put it into its slot before it does:
//! otherwise the next add there finds the slot empty, and opens the bucket again.
//!
//! *Missing*: one start has two buckets, and the slot leads to one of them. *Another's*:
//! a loser gave back a block that was in use.

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden, interesting};

pub(super) struct RotateRotate;

/// Returns whether the second thread goes one bucket further in this turn.
fn further(turn: u64) -> bool {
    turn % 2 == 1
}

impl Race for RotateRotate {
    const NAME: &'static str = "rotate_rotate";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("the same bucket, each saw both adds"),
        expected("the same bucket, one saw both adds"),
        interesting("the same bucket, neither saw the other's add"),
        expected("two buckets, the older one opened first"),
        expected("two buckets, the older one opened last or meanwhile"),
        forbidden("an add is missing in its bucket"),
        forbidden("a bucket has another's add, or one twice"),
        forbidden("the lifetime is wrong, or an add is late"),
        forbidden("a sum is not between the adds done and those begun"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(8)
    }

    fn prepare(state: &Window, turn: u64) {
        state.at(begin(turn)).add(Seen::Pass, 1);
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let next = begin(turn) + LENGTH;
        if actor == 1 && further(turn) {
            state.at(next + LENGTH).add(Seen::Pass, 1);
            state.at(next).add(Seen::Pass, 1);
        } else {
            state.at(next).add(Seen::Pass, 1);
        }
        let sum = state.at(next).sum(Seen::Pass);
        [sum, 0, 0, 0]
    }

    fn judge(state: &Window, turn: u64, answers: &[Answer]) -> Verdict {
        let further = u64::from(further(turn));
        state.compare_lifetime(3 + further).map_err(|text| (7, text))?;
        if state.window.late(Seen::Pass).sum > 0 {
            return Err((7, "an add is late".to_owned()));
        }
        state
            .compare(begin(turn), &[1, 2, further, 0])
            .map_err(|(less, text)| (6 - usize::from(less), text))?;
        match (further, answers[0][0], answers[1][0]) {
            (0, 3, 3) => Ok(0),
            (0, 2, 3) | (0, 3, 2) => Ok(1),
            (0, 2, 2) => Ok(2),
            (1, 2, 2 | 3) => Ok(3),
            (1, 3, 2 | 3) => Ok(4),
            (_, one, other) => Err((8, format!("sums of {one} and {other}"))),
        }
    }
}
