//! The last calls: at rest the totals are those of the last n, whatever met before; none drifts.
//!
//! Explores records that meet in one slot and in two.

use windrow::LastCalls;
use windrow::last_calls::{CallTotals, Outcome};
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::{Model, turn};

const BAD: Outcome = Outcome { failed: true, slow: true };

fn calls(size: usize) -> Arc<LastCalls> {
    Arc::new(LastCalls::new(size).expect("a sound size"))
}

/// Runs `body` in another thread.
fn spawn(calls: &Arc<LastCalls>, body: impl FnOnce(&LastCalls) + Send + 'static) -> JoinHandle<()> {
    let calls = Arc::clone(calls);
    thread::spawn(move || {
        turn();
        body(&calls);
    })
}

/// Replaces all calls by good ones: any difference that is missing or doubled stays in the totals.
fn assert_no_drift(calls: &LastCalls, size: u64) {
    (0..size).for_each(|_| calls.record(Outcome::default()));
    let good = CallTotals { calls: size, failed: 0, slow: 0 };
    assert_eq!(calls.totals(), good);
}

/// Both tickets have one slot: the later one stays.
#[test]
fn record_against_record_in_one_slot() {
    Model::new("last_calls::record_against_record_in_one_slot").explore(|| {
        let calls = calls(1);
        let other = spawn(&calls, |calls| calls.record(BAD));
        calls.record(Outcome::default());
        let failed = calls.totals().failed;
        assert!(failed <= 1, "{failed}");
        other.join().unwrap();
        let totals = calls.totals();
        assert_eq!((totals.calls, totals.failed), (1, totals.slow));
        assert_no_drift(&calls, 1);
    });
}

/// The last two of three bad calls and one good one have at least a bad one.
#[test]
fn records_that_overtake_a_record() {
    Model::new("last_calls::records_that_overtake_a_record").explore(|| {
        let calls = calls(2);
        let other = spawn(&calls, |calls| calls.record(Outcome::default()));
        (0..3).for_each(|_| calls.record(BAD));
        other.join().unwrap();
        let totals = calls.totals();
        assert_eq!((totals.calls, totals.failed), (2, totals.slow));
        assert!(totals.failed >= 1, "{totals:?}");
        assert_no_drift(&calls, 2);
    });
}
