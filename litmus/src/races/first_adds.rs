//! The first adds of all to a counter, by two threads.
//!
//! A counter has a cell of its own, and claims a column when it is first added to. Of two threads
//! that claim one, one must give it back; and adds in the meantime must be in the sum, once.
//!
//! *Missing or twice*: an add went to a column that was given back, or the counter's own cell is
//! not part of its sum.

use windrow::Counter;

use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden, interesting};
use crate::stage::TURNS;

pub(super) struct FirstAdds;

impl Race for FirstAdds {
    const NAME: &'static str = "first_adds";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("each saw both adds"),
        expected("one saw both adds"),
        interesting("neither saw the other's add"),
        forbidden("an add is missing"),
        forbidden("an add is counted twice, or was never made"),
        forbidden("a sum is not between the adds done and those begun"),
    ];
    /// A counter for each turn: only the first adds are of interest.
    type State = Vec<Counter>;

    fn state() -> Vec<Counter> {
        (0..TURNS).map(|_| Counter::new()).collect()
    }

    fn prepare(_: &Vec<Counter>, _: u64) {}

    fn act(state: &Vec<Counter>, turn: u64, actor: usize) -> Answer {
        let counter = &state[turn as usize];
        counter.add(1 + actor as u64);
        [counter.sum(), 0, 0, 0]
    }

    fn judge(state: &Vec<Counter>, turn: u64, answers: &[Answer]) -> Verdict {
        let sum = state[turn as usize].sum();
        if sum != 3 {
            return Err((3 + usize::from(sum > 3), format!("a sum of {sum}")));
        }
        match (answers[0][0], answers[1][0]) {
            (3, 3) => Ok(0),
            (1, 3) | (3, 2) => Ok(1),
            (1, 2) => Ok(2),
            (one, other) => Err((5, format!("sums of {one} and {other}"))),
        }
    }
}
