//! An add, while another thread moves on to the next bucket and the one after.
//!
//! The adder's time lies in the bucket that is live when the trial begins. If it comes before the
//! rotation, it counts in the live bucket's block; if it comes after, it is back-dated. In between
//! it has loaded the bucket and not yet added: then the rotation must not take the block's totals,
//! and no bucket may get the block, before the add is made. The mover opens two buckets, so that a
//! block which is free too early is in use again at once.
//!
//! *Missing*: totals were written down before the adder was done; the barrier or the grace period
//! did not wait for it. *Another's*: another bucket got the block before that.

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden, interesting};

pub(super) struct AddRotate;

impl Race for AddRotate {
    const NAME: &'static str = "add_rotate";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("the bucket was closed with the add"),
        expected("the add came after it was closed"),
        interesting("the bucket was not closed yet"),
        forbidden("an add is missing in its bucket"),
        forbidden("a bucket has another's add, or one twice"),
        forbidden("the lifetime is wrong, or an add is late"),
        forbidden("a bucket that was closed had neither one nor two"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(8)
    }

    fn prepare(state: &Window, turn: u64) {
        state.at(begin(turn)).add(Seen::Pass, 1);
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let begin = begin(turn);
        if actor == 0 {
            state.at(begin).add(Seen::Pass, 1);
            return [0; 4];
        }
        let window = state.at(begin + LENGTH);
        window.add(Seen::Pass, 1);
        let previous = window.previous();
        state.at(begin + 2 * LENGTH).add(Seen::Pass, 1);
        [previous.is_closed().into(), previous.sum(Seen::Pass), 0, 0]
    }

    fn judge(state: &Window, turn: u64, answers: &[Answer]) -> Verdict {
        state.compare_lifetime(4).map_err(|text| (5, text))?;
        if state.window.late(Seen::Pass).sum > 0 {
            return Err((5, "an add is late".to_owned()));
        }
        // One more rotation: what a straggler did to a free block is seen in its next bucket.
        state
            .compare(begin(turn), &[2, 1, 1, 0])
            .map_err(|(less, text)| (4 - usize::from(less), text))?;
        match answers[1] {
            [1, 2, ..] => Ok(0),
            [1, 1, ..] => Ok(1),
            [0, ..] => Ok(2),
            [_, sum, ..] => Err((6, format!("a closed bucket had {sum}"))),
        }
    }
}
