//! Records of values, while another thread closes their bucket.
//!
//! A value has four cells: count, sum, least, greatest. Those of a closed bucket are final and
//! agree, but for values that are back-dated into it. The block's extremes are reset when its
//! bucket is closed: one that is recorded after that, by an adder that has loaded the bucket
//! before, would be lost, and found in the block's next bucket.
//!
//! *Wrong at rest*: the barrier or the grace period did not wait for an adder, or an extreme was
//! reset before it was written down, or not at all.

use windrow::Stats;

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden, interesting};

pub(super) struct AddClose;

/// The values before the race, of the adder, and of the closer in its own buckets.
const BEFORE: u64 = 500;
const RECORDED: [u64; 2] = [3, 9_000];
const OWN: u64 = 700;

fn stats_of(values: &[u64]) -> Stats {
    Stats {
        count: values.len() as u64,
        sum: values.iter().sum(),
        min: values.iter().min().copied(),
        max: values.iter().max().copied(),
    }
}

impl Race for AddClose {
    const NAME: &'static str = "add_close";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("closed with both values"),
        expected("closed with one of them"),
        expected("closed before both"),
        interesting("a value was just being back-dated into the closed bucket"),
        interesting("the bucket was not closed yet"),
        forbidden("at rest a bucket's numbers are not those of its values"),
        forbidden("the lifetime is not that of all values"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(8)
    }

    fn prepare(state: &Window, turn: u64) {
        state.at(begin(turn)).record(Seen::Rt, BEFORE);
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let begin = begin(turn);
        if actor == 0 {
            for value in RECORDED {
                state.at(begin).record(Seen::Rt, value);
            }
            return [0; 4];
        }
        let window = state.at(begin + LENGTH);
        window.record(Seen::Rt, OWN);
        let previous = window.previous();
        state.at(begin + 2 * LENGTH).record(Seen::Rt, OWN);
        let Stats { count, sum, min, max } = previous.stats(Seen::Rt);
        let extremes = min.unwrap_or(0) << 32 | max.unwrap_or(0);
        [previous.is_closed().into(), count, sum, extremes]
    }

    fn judge(state: &Window, turn: u64, answers: &[Answer]) -> Verdict {
        let all = [BEFORE, RECORDED[0], RECORDED[1]];
        let buckets = [stats_of(&all), stats_of(&[OWN]), stats_of(&[OWN]), stats_of(&[])];
        for (index, expected) in (0..).zip(buckets) {
            let found = state.bucket(begin(turn) + index * LENGTH, Seen::Rt);
            if found != expected {
                return Err((5, format!("bucket {index} has {found:?} instead of {expected:?}")));
            }
        }
        let (found, turns) = (state.window.lifetime(Seen::Rt), turn + 1);
        let (count, sum) = (5 * turns, (all.iter().sum::<u64>() + 2 * OWN) * turns);
        let expected = Stats { count, sum, min: Some(RECORDED[0]), max: Some(RECORDED[1]) };
        if found != expected {
            return Err((6, format!("{found:?} instead of {expected:?}")));
        }
        let [closed, count, sum, extremes] = answers[1];
        if closed == 0 {
            return Ok(4);
        }
        let of = |values: &[u64]| {
            let Stats { count, sum, min, max } = stats_of(values);
            (count, sum, min.unwrap_or(0) << 32 | max.unwrap_or(0))
        };
        let seen = (count, sum, extremes);
        let [none, one, both] = [of(&all[..1]), of(&all[..2]), of(&all)];
        Ok(if seen == both {
            0
        } else if seen == one {
            1
        } else if seen == none {
            2
        } else {
            3
        })
    }
}
