//! Random histories, answered by the library and by an oracle that is too simple to be wrong.
//!
//! After every step every answer is compared: sums, rates, statistics, snapshots, bucket by bucket,
//! lifetimes and late counts. `PROPTEST_CASES` sets the number of histories of each test.

mod counters;
mod random;

use proptest::prelude::*;

use random::{History, local, wild};
use testkit::alone;
use testkit::oracle::{EVENTS, Op, Pair};

fn config() -> ProptestConfig {
    // A failure prints its shrunk history; it becomes a named test, not a file of seeds.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn answers_agree((geometry, begin, ops): History) -> Result<(), TestCaseError> {
    let mut pair = Pair::new(geometry, begin);
    pair.compare(0)?;
    for (step, op) in ops.iter().enumerate() {
        pair.apply(op).map_err(|error| at_step(step, op, &error))?;
        pair.compare(step).map_err(|error| at_step(step, op, &error))?;
    }
    Ok(())
}

fn at_step(step: usize, op: &Op, error: &TestCaseError) -> TestCaseError {
    TestCaseError::fail(format!("after step {step}, {op:?}: {error}"))
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn windows_answer_as_the_oracle_does(history in wild(EVENTS.len())) {
        answers_agree(history)?;
    }

    #[test]
    fn small_windows_answer_as_the_oracle_does(history in local(EVENTS.len())) {
        answers_agree(history)?;
    }

    #[test]
    #[ignore = "run by the test below, in a process whose strategy is the other one"]
    fn answers_in_this_process(history in prop_oneof![wild(EVENTS.len()), local(EVENTS.len())]) {
        answers_agree(history)?;
    }
}

#[test]
fn portable_windows_answer_as_the_oracle_does() {
    alone::run("answers_in_this_process", &[("WINDROW_STRATEGY", "portable")]);
}
