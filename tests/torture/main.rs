//! Counters and windows under everything that interrupts a thread, all at once. Nothing is lost,
//! and no bucket has the adds of another.
//!
//! `WINDROW_TORTURE_SECONDS=60 cargo test --release --test torture` runs it for longer. Each test
//! runs in a process of its own: each strategy, and fewer rows than processors.

#![cfg(target_os = "linux")]

mod agree;
mod book;
mod churn;
mod counters;
mod rations;
mod reader;
mod round;
mod windows;

use std::time::Duration;

windrow::events! {
    /// One of each kind, and two that must stay untouched beside them.
    pub(crate) enum Seen { Pass: Count, Idle: Count, Rt: Value, Still: Value, Peak: Maximum }
}

/// Returns the time of each torture.
fn seconds() -> Duration {
    let told = std::env::var("WINDROW_TORTURE_SECONDS").ok();
    Duration::from_secs_f64(told.and_then(|told| told.parse().ok()).unwrap_or(1.2))
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
