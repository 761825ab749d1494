//! Shuttle: random orders of a model's steps, the first half of them with few preemptions.
//!
//! A walk that chooses the next thread at random at every step switches all the time, and hardly
//! ever stops one thread for long; *probabilistic concurrency testing* (Burckhardt and others,
//! 2010) does the opposite, and finds with a known probability each failure that takes a few
//! preemptions. Either finds failures that the other misses, so half of the schedules come from
//! each.
//!
//! A failure prints its schedule. `WINDROW_SCHEDULE`, set to that, runs the model in this one
//! order.

use std::sync::Arc;

use shuttle::rand::RngCore;
use shuttle::scheduler::{PctScheduler, RandomScheduler, ReplayScheduler, Scheduler};
use shuttle::{Config, MaxSteps, Runner};
pub use shuttle::{sync, thread, thread_local};

use super::Explored;
use crate::progress::{Progress, number};

/// Shuttle may switch at every atomic operation: there is nothing to hint at.
pub fn turn() {}

/// Returns a random number, which is a part of the schedule.
#[must_use]
pub fn random() -> u64 {
    RngCore::next_u64(&mut shuttle::rand::thread_rng())
}

/// The number of schedules of a model without `WINDROW_SCHEDULES`.
const SCHEDULES: usize = 1_000;

/// Points at which a schedule with few preemptions has one, and one more.
const DEPTH: usize = 4;

/// Steps that one execution may take. Far more than any does: an endless one shall fail.
const STEPS: usize = 100_000;

/// For the frames of a thread, a window's reads and a panic's message among them.
const STACK: usize = 256 << 10;

/// Runs a model in random orders.
pub(crate) fn run(
    name: &str,
    _preemptions: Option<usize>,
    body: impl Fn() + Send + Sync + 'static,
) -> Explored {
    if let Ok(schedule) = std::env::var("WINDROW_SCHEDULE") {
        let executions = under(ReplayScheduler::new_from_encoded(&schedule), body);
        return Explored { executions, orders: "the order that was given".to_owned() };
    }
    let schedules = number("WINDROW_SCHEDULES", SCHEDULES);
    let progress = Progress::begin(name, schedules);
    let count = progress.count();
    let body = Arc::new(move || {
        count.note();
        body();
    });
    let (few, walks) = (schedules.div_ceil(2), schedules / 2);
    let preempted = under(PctScheduler::new(DEPTH, few), {
        let body = Arc::clone(&body);
        move || body()
    });
    let walked = under(RandomScheduler::new(walks), move || body());
    Explored { executions: preempted + walked, orders: "random orders".to_owned() }
}

fn under(scheduler: impl Scheduler + 'static, body: impl Fn() + Send + Sync + 'static) -> usize {
    let mut config = Config::new();
    config.stack_size = STACK;
    config.max_steps = MaxSteps::FailAfter(STEPS);
    config.silence_warnings = true; // that orderings are not modelled: loom's part
    Runner::new(scheduler, config).run(body)
}
