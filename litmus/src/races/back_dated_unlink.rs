//! A back-dated add, while its bucket leaves the ring and is reused.
//!
//! The ring has two buckets. The adder names the older one, which no thread has opened in half of
//! the trials; the mover goes on by three, so that the older one's slot is used for another, and
//! then its memory is reused. The add counts in its bucket, or it is refused or late; never
//! elsewhere.
//!
//! *Another's*: a thread acts on a bucket without a reference, or does not check after it took one.
//! *The lifetime is wrong*: `shared_total` and the bucket do not agree, or an add was both refused
//! and counted.

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden};

pub(super) struct BackDatedUnlink;

impl Race for BackDatedUnlink {
    const NAME: &'static str = "back_dated_unlink";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("the add was counted in its bucket"),
        expected("the add was refused or late: the bucket had left the ring"),
        forbidden("an add is missing in its bucket"),
        forbidden("a bucket has another's add, or one twice"),
        forbidden("the lifetime is wrong"),
        forbidden("more or less is late than was said"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(2)
    }

    fn prepare(state: &Window, turn: u64) {
        if turn.is_multiple_of(2) {
            state.at(begin(turn)).add(Seen::Pass, 1);
        }
        state.at(begin(turn) + LENGTH).add(Seen::Pass, 1);
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let begin = begin(turn);
        if actor == 0 {
            let late = || state.window.late(Seen::Pass).sum;
            let before = late();
            let refused = if turn % 4 < 2 {
                let window = state.at(begin + LENGTH);
                window.add_at(windrow::Timestamp::from_nanos(begin), Seen::Pass, 1).is_err()
            } else {
                state.at(begin).add(Seen::Pass, 1);
                false
            };
            return [refused.into(), late() - before, 0, 0];
        }
        for step in 2..=4 {
            state.at(begin + step * LENGTH).add(Seen::Pass, 1);
        }
        [0; 4]
    }

    fn judge(state: &Window, turn: u64, answers: &[Answer]) -> Verdict {
        let [refused, late, ..] = answers[0];
        let before = 1 + (turn + 1) % 2;
        state.compare_lifetime(before + 3 + 1 - refused).map_err(|text| (4, text))?;
        state
            .compare(begin(turn) + 3 * LENGTH, &[1, 1])
            .map_err(|(less, text)| (3 - usize::from(less), text))?;
        if refused + late > 1 {
            return Err((5, format!("{refused} refused and {late} late")));
        }
        Ok(usize::from(refused + late > 0))
    }
}
