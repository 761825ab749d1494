//! Histories in the middle of which another thread stays pinned, so that no bucket is closed: what
//! tiers miss is missed once, they say where they begin, and it passes.

use proptest::prelude::*;
use testkit::alone;
use testkit::oracle::{EVENTS, Op, Pair, Time};
use testkit::pinned::while_another_is_pinned;

use crate::random::{History, in_two_parts};
use crate::{config, tell};

fn is_held_up_for_a_while(
    ((plan, begin, before), during): (History, Vec<Op>),
) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(&plan, begin);
    tell(&mut pair, &before)?;
    pair.hold_up(true);
    let (mut pair, outcome) = while_another_is_pinned(move || {
        let outcome = tell(&mut pair, &during);
        (pair, outcome)
    });
    outcome?;
    pair.let_go()?;
    pair.compare(0)?;
    // Until all buckets that were not closed have left the tiers, which reach back by at most six
    // of the longest buckets.
    for _ in 0..8 {
        for tier in 0..=3 {
            pair.apply(&Op::Set(Time::FromNewest(0, 0)))?; // it may be ahead of the clock
            pair.apply(&Op::Set(Time::Coarse(tier, 7, 0)))?;
            pair.apply(&Op::Add(0, 1))?;
            pair.close()?;
            pair.compare(tier)?;
        }
    }
    pair.hold_up(false);
    let after = [Op::Add(1, 7), Op::Set(Time::Coarse(1, 1, 0)), Op::Add(0, 2), Op::Add(2, 4)];
    tell(&mut pair, &after)
}

proptest! {
    #![proptest_config(config())]

    #[test]
    #[ignore = "run by the test below, in a process whose strategy is the other one"]
    fn in_this_process(history in in_two_parts(EVENTS.len())) {
        is_held_up_for_a_while(history)?;
    }
}

#[test]
fn what_is_held_up_is_counted_once_and_it_passes() {
    alone::run("held_up::in_this_process", &[("WINDROW_STRATEGY", "epochs")]);
}
