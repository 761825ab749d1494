//! Counters and windows under everything that interrupts a thread, all at once. Nothing is lost,
//! and no bucket has the adds of another.
//!
//! `TORTURE_SECONDS=60 cargo test --release --test torture` runs it for longer. Each test
//! runs in a process of its own: each strategy, and fewer rows than processors.

#![cfg(target_os = "linux")]

mod book;
mod churn;
mod counters;
mod rations;
mod reader;
mod round;
mod stats;
mod windows;

use std::time::{Duration, Instant};

use testkit::interrupts;
use windrow::diagnostics::{Strategy, aborts, strategy};

windrow::events! {
    /// One of each kind, and two that must stay untouched beside them.
    pub(crate) enum Seen { Pass: Count, Idle: Count, Rt: Value, Still: Value, Peak: Maximum }
}

/// Returns the time of each torture.
fn seconds() -> Duration {
    let told = std::env::var("TORTURE_SECONDS").ok();
    Duration::from_secs_f64(told.and_then(|told| told.parse().ok()).unwrap_or(0.6))
}

/// A torture that has not reached everything in its time may take this many times as long: a
/// machine that others keep busy, or that is emulated, gives its threads little time.
const PATIENCE: u32 = 100;

/// Returns whether a torture that has begun at `begin` goes on: for its time, and until it has
/// `reached` everything that it is for.
fn goes_on(begin: Instant, reached: impl FnOnce() -> bool) -> bool {
    let passed = begin.elapsed();
    passed < seconds() || passed < seconds() * PATIENCE && !reached()
}

/// Returns whether signals have interrupted threads, and the kernel a sequence, if there are any.
fn are_interrupted() -> bool {
    interrupts::signals().1 > 100 && (strategy() != Strategy::PerCore || aborts() > 0)
}

/// Fails if signals have not interrupted threads, or if their adds are not exact. Prints what has
/// interrupted `done`.
fn check_interruptions(done: &str) {
    let (counted, handled) = interrupts::signals();
    assert_eq!(counted, handled);
    println!("{:?}: {done}, {handled} signals, {} sequences aborted", strategy(), aborts());
    assert!(are_interrupted(), "the torture has not reached the adds");
}

/// Makes the tests that run one ignored test in processes of its own, one for each way to count.
macro_rules! everywhere {
    ($module:ident :: $torture:ident) => {
        const TORTURE: &str = concat!(stringify!($module), "::", stringify!($torture));

        #[test]
        fn with_the_strategy_of_this_machine() {
            testkit::alone::run(TORTURE, &testkit::alone::WAYS[0]);
        }

        #[test]
        fn with_each_strategy_of_other_machines() {
            for way in &testkit::alone::WAYS[1..] {
                testkit::alone::run(TORTURE, way);
            }
        }

        /// Kernels before 6.3 number no threads.
        #[test]
        fn with_rows_by_processor() {
            testkit::alone::run(TORTURE, &testkit::alone::BY_PROCESSOR);
        }

        /// On a machine with more processors than rows, a sequence that runs on one of them must
        /// leave the cells behind the last row alone, and add to the shared cell.
        #[test]
        fn with_fewer_rows_than_processors() {
            use testkit::alone::{BY_PROCESSOR, WAYS};

            for [strategy, leases] in WAYS.into_iter().chain([BY_PROCESSOR]) {
                testkit::alone::run(TORTURE, &[strategy, leases, ("WINDROW_ROWS", "1")]);
            }
        }
    };
}
use everywhere;
