//! Reads of a bucket to which no thread adds, while another closes it and reuses its block.
//!
//! The numbers cannot change: while the bucket is open they are the block's sums less its base,
//! and afterwards its totals. A reader in the middle of the difference when the base moves must
//! see that the bucket was closed.
//!
//! *Wrong*: the base moved, or the extremes were reset, before CLOSED was published; or the
//! reader did not check it afterwards.

use windrow::Stats;

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden};

pub(super) struct CloseRead;

const PASSES: u64 = 1_000_003;
const VALUES: [u64; 2] = [17, 71];
/// The number of reads in a trial.
const READS: usize = 6;

const RIGHT: u64 = 0;
const WRONG_SUM: u64 = 1;
const WRONG_STATS: u64 = 2;

impl Race for CloseRead {
    const NAME: &'static str = "close_read";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("all reads were made before the bucket was closed"),
        expected("it was closed between two reads"),
        expected("all reads were made after it was closed"),
        forbidden("a sum is not that of the adds"),
        forbidden("count, sum, minimum, maximum are not those of the values"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(8)
    }

    fn prepare(state: &Window, turn: u64) {
        let window = state.at(begin(turn));
        window.add(Seen::Pass, PASSES);
        for value in VALUES {
            window.record(Seen::Rt, value);
        }
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let begin = begin(turn);
        if actor == 0 {
            for step in 1..=3 {
                let window = state.at(begin + step * LENGTH);
                window.add(Seen::Pass, 1);
                window.record(Seen::Rt, 40);
            }
            return [0; 4];
        }
        let is_closed = || state.at(begin + LENGTH).previous().is_closed();
        let before = is_closed();
        for _ in 0..READS {
            let window = state.at(begin);
            let sum = window.sum(Seen::Pass);
            if sum != PASSES {
                return [0, 0, WRONG_SUM, sum];
            }
            let Stats { count, sum, min, max } = window.stats(Seen::Rt);
            let right = (2, VALUES[0] + VALUES[1], Some(VALUES[0]), Some(VALUES[1]));
            if (count, sum, min, max) != right {
                return [0, 0, WRONG_STATS, sum];
            }
        }
        [before.into(), is_closed().into(), RIGHT, 0]
    }

    fn judge(_: &Window, _: u64, answers: &[Answer]) -> Verdict {
        match answers[1] {
            [_, 0, RIGHT, _] => Ok(0),
            [0, _, RIGHT, _] => Ok(1),
            [_, _, RIGHT, _] => Ok(2),
            [_, _, WRONG_SUM, sum] => Err((3, format!("a sum of {sum}"))),
            [.., sum] => Err((4, format!("values whose sum is {sum}"))),
        }
    }
}
