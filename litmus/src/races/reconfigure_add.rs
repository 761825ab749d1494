//! Adds, while another thread changes the geometry there and back.
//!
//! A bucket begins at the same time in all geometries here, so the adds are in one bucket,
//! whichever ring they went into.
//!
//! *Missing*: the next generation does not inherit a ring that is still written to, or is carried
//! too early. *Twice*: a bucket is both inherited and carried.

use std::time::Duration;

use super::windows::{LENGTH, Seen, Window, begin};
use crate::race::{Answer, Outcome, Race, Verdict, expected, forbidden};

pub(super) struct ReconfigureAdd;

/// The numbers of buckets of the interval, whose length stays the same.
const BUCKETS: [usize; 3] = [8, 4, 2];
const INTERVAL: u64 = 8 * LENGTH;
const ADDS: u64 = 3;

impl Race for ReconfigureAdd {
    const NAME: &'static str = "reconfigure_add";
    const ACTORS: usize = 2;
    const OUTCOMES: &'static [Outcome] = &[
        expected("all adds were made before the change, or after the way back"),
        expected("the geometry changed between the adds"),
        forbidden("an add is missing in its bucket"),
        forbidden("an add is counted twice"),
        forbidden("the lifetime is wrong, or an add is late"),
    ];
    type State = Window;

    fn state() -> Window {
        Window::new(8)
    }

    fn prepare(state: &Window, turn: u64) {
        state.at(begin(turn)).add(Seen::Pass, 1);
    }

    fn act(state: &Window, turn: u64, actor: usize) -> Answer {
        let window = state.at(begin(turn));
        if actor == 0 {
            let before = window.buckets();
            (0..ADDS).for_each(|_| window.add(Seen::Pass, 1));
            return [(before != window.buckets()).into(), 0, 0, 0];
        }
        for step in 0..=turn % 3 {
            let buckets = BUCKETS[(turn + step) as usize % BUCKETS.len()];
            window.reconfigure(Duration::from_nanos(INTERVAL), buckets).expect("a valid geometry");
        }
        window.add(Seen::Pass, 1);
        [0; 4]
    }

    fn judge(state: &Window, turn: u64, answers: &[Answer]) -> Verdict {
        let (begin, all) = (begin(turn), 1 + ADDS + 1);
        let window = state.at(begin + INTERVAL / 2);
        window.add(Seen::Pass, 1);
        let (lifetime, late) = (window.lifetime(Seen::Pass).sum, window.late(Seen::Pass).sum);
        if (lifetime, late) != ((all + 1) * (turn + 1), 0) {
            return Err((4, format!("a lifetime of {lifetime}, and {late} late")));
        }
        for (time, expected) in [(begin, all), (begin + INTERVAL / 2, all + 1)] {
            let found = state.at(time).sum(Seen::Pass);
            if found != expected {
                let less = usize::from(found < expected);
                return Err((3 - less, format!("a sum of {found} instead of {expected}")));
            }
        }
        Ok(answers[0][0] as usize)
    }
}
