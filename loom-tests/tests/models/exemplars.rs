//! Exemplars: each that is read is of one add, whole, and that add is counted.
//!
//! Explores two writers of one slot, and a reader beside a writer. In a model all threads share one
//! row of slots.

use windrow::Counter;
use windrow::exemplar::TraceContext;
use windrow_loom_tests::engine::{
    sync::Arc,
    thread::{self, JoinHandle},
};
use windrow_loom_tests::{Model, turn};

/// Adds `n` with ids that belong to it.
fn add(counter: &Counter, n: u64) {
    turn();
    let trace_id = u128::from(n) << 64 | u128::from(n);
    counter.add_with_exemplar(n, TraceContext { trace_id, span_id: n });
}

fn spawn(counter: &Arc<Counter>, n: u64) -> JoinHandle<()> {
    let counter = Arc::clone(counter);
    thread::spawn(move || add(&counter, n))
}

/// Returns the exemplar's value, which is in the sum; zero if there is none.
fn read(counter: &Counter) -> u64 {
    let Some(found) = counter.exemplar() else { return 0 };
    let n = found.value;
    let trace_id = u128::from(n) << 64 | u128::from(n);
    assert_eq!(found.trace, TraceContext { trace_id, span_id: n }, "of two adds");
    assert!(counter.sum() >= n, "{n} is not counted");
    n
}

/// Returns a counter with an exemplar, in memory that is there.
fn counter() -> Arc<Counter> {
    let counter = Counter::new();
    add(&counter, 1);
    Arc::new(counter)
}

/// The reader finds the old one, the new one, or that it is being written.
#[test]
fn read_against_a_write() {
    Model::new("exemplars::read_against_a_write").bounded(3).explore(|| {
        let counter = counter();
        let other = spawn(&counter, 2);
        turn();
        let found = read(&counter);
        assert!(found <= 2, "{found}");
        other.join().unwrap();
        assert_eq!(read(&counter), 2);
    });
}

/// The first exemplar of two threads, which both make the memory.
#[test]
fn the_first_ones_of_two_threads() {
    Model::new("exemplars::the_first_ones_of_two_threads").bounded(2).explore(|| {
        let counter = Arc::new(Counter::new());
        let other = spawn(&counter, 1);
        add(&counter, 2);
        assert!(read(&counter) <= 2);
        other.join().unwrap();
        let found = read(&counter);
        assert!(found == 1 || found == 2, "{found}");
    });
}

/// Two writers of one slot: one of them gives up, or they come one after the other, and the last
/// one is whole.
#[test]
fn write_against_write() {
    Model::new("exemplars::write_against_write").explore(|| {
        let counter = counter();
        let other = spawn(&counter, 2);
        add(&counter, 3);
        other.join().unwrap();
        let found = read(&counter);
        assert!(found == 2 || found == 3, "{found}");
    });
}
