//! Random histories, answered by the library and by an oracle that is too simple to be wrong.
//!
//! After every step every answer is compared: sums, rates, statistics, snapshots, bucket by bucket,
//! spans, what each tier holds, lifetimes and late counts. `PROPTEST_CASES` sets the number of
//! histories of each test.

mod counters;
mod held_up;
mod random;

use std::sync::{Mutex, MutexGuard, PoisonError};

use proptest::prelude::*;

use random::{History, local, wild};
use testkit::alone;
use testkit::oracle::{EVENTS, Op, Pair};

fn config() -> ProptestConfig {
    // A failure prints its shrunk history; it becomes a named test, not a file of seeds.
    ProptestConfig { failure_persistence: None, ..ProptestConfig::default() }
}

fn answers_agree((plan, begin, ops): History) -> Result<(), TestCaseError> {
    let _turn = turn_by_epochs();
    let mut pair = Pair::new(&plan, begin);
    pair.compare(0)?;
    tell(&mut pair, &ops)
}

fn tell(pair: &mut Pair, ops: &[Op]) -> Result<(), TestCaseError> {
    for (step, op) in ops.iter().enumerate() {
        pair.apply(op).map_err(|error| at_step(step, op, &error))?;
        pair.compare(step).map_err(|error| at_step(step, op, &error))?;
    }
    Ok(())
}

/// By epochs, a bucket is closed before the next one is retired only if no other thread is pinned;
/// and only then does a tier know where each of its buckets begins.
fn turn_by_epochs() -> Option<MutexGuard<'static, ()>> {
    static TURN: Mutex<()> = Mutex::new(());
    let takes_turns = windrow::diagnostics::strategy() == windrow::diagnostics::Strategy::Epochs;
    takes_turns.then(|| TURN.lock().unwrap_or_else(PoisonError::into_inner))
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
fn windows_without_sequences_answer_as_the_oracle_does() {
    for way in &alone::WAYS[1..] {
        alone::run("answers_in_this_process", way);
    }
}
