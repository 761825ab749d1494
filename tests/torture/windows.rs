//! Windows under everything that interrupts a thread, all at once: writers under timer signals and
//! forced migration, yields, short-lived threads, readers, windows that come and go; and each of
//! storms of rotations, a thread that stays pinned, clocks that step back, changes of geometry.
//!
//! Round after round, each with a window of its own. At rest every bucket that can be read is what
//! the writers' books say.

use std::time::{Duration, Instant};

use crate::round::{Plan, Round};
use crate::{are_interrupted, check_interruptions, goes_on};
use testkit::interrupts;

const PLAN: Plan = Plan {
    real: false,
    geometries: &[],
    back_one_in: 0,
    pinned: false,
    time: Duration::from_millis(60),
};

/// Microseconds, in nanoseconds.
const US: u64 = 1_000;

/// Goes through the plans, over and over, until the time is up.
fn torture(plans: &[Plan]) {
    windrow::diagnostics::strategy();
    interrupts::count_signals();
    let (begin, mut rounds) = (Instant::now(), 0);
    while goes_on(begin, are_interrupted) || rounds < plans.len() {
        let plan = plans[rounds % plans.len()];
        // Not the same plans every time.
        Round::run(Plan { pinned: (rounds / plans.len() + rounds) % 2 == 1, ..plan });
        rounds += 1;
    }
    check_interruptions(&format!("{rounds} rounds"));
}

/// Buckets of 100 microseconds and of one, by the real time: in long rings, of which every bucket
/// that there was is looked at in the end, and in short ones, where everything is soon used again.
const ROTATIONS: &[Plan] = &[
    Plan { real: true, geometries: &[(100 * US, 8)], ..PLAN },
    Plan { real: true, geometries: &[(US, 20_000)], time: Duration::from_millis(15), ..PLAN },
    Plan { real: true, geometries: &[(US, 8)], ..PLAN },
    Plan { real: true, geometries: &[(100 * US, 10_000)], ..PLAN },
    Plan { real: true, geometries: &[(100 * US, 100), (50 * US, 400), (400 * US, 50)], ..PLAN },
];

/// Clocks that the writers push on, so that buckets are as short as can be; and that step back, by
/// up to twice the interval.
const STEPS: &[Plan] = &[
    Plan { geometries: &[(10, 64)], ..PLAN },
    Plan { geometries: &[(10, 64)], back_one_in: 200, ..PLAN },
    Plan { geometries: &[(20, 10_000)], back_one_in: 200, ..PLAN },
    Plan { geometries: &[(10, 40), (20, 30), (5, 90), (40, 10)], back_one_in: 400, ..PLAN },
    Plan { geometries: &[(1, 300)], ..PLAN },
    Plan { geometries: &[(30, 2)], back_one_in: 100, ..PLAN },
];

mod rotations {
    crate::everywhere!(windows::rotations_in_this_process);
}

mod steps {
    crate::everywhere!(windows::steps_in_this_process);
}

#[test]
#[ignore = "run by the tests above, each in a process of its own"]
fn rotations_in_this_process() {
    torture(ROTATIONS);
}

#[test]
#[ignore = "run by the tests above, each in a process of its own"]
fn steps_in_this_process() {
    torture(STEPS);
}
