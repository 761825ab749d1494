//! Loom: every order of a model's steps, or all with a bounded number of preemptions.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

pub use loom::{sync, thread, thread_local};

use super::Explored;

loom::lazy_static! {
    static ref TURN: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
}

/// Stands before each call whose order against other threads' calls matters.
///
/// Loom looks for another order only where it sees two steps meet, and of each atomic it remembers
/// the last access alone: a load by one thread is forgotten behind a load by the other, and the
/// store that follows it seems to meet no access. Taking a turn is a read-modify-write on one
/// atomic, which nothing hides; it orders no memory.
pub fn turn() {
    TURN.fetch_add(1, Ordering::Relaxed);
}

/// Steps that one execution may take. Far more than any does: an endless one shall fail.
const STEPS: usize = 20_000;

/// Explores a model.
pub(crate) fn run(
    _name: &str,
    preemptions: Option<usize>,
    body: impl Fn() + Send + Sync + 'static,
) -> Explored {
    let mut builder = loom::model::Builder::new();
    builder.max_branches = STEPS;
    // Loom's own variable, LOOM_MAX_PREEMPTIONS, makes the bound narrower, never wider.
    builder.preemption_bound = [preemptions, builder.preemption_bound].into_iter().flatten().min();
    let orders = match builder.preemption_bound {
        None => "all orders".to_owned(),
        Some(bound) => format!("at most {bound} preemptions"),
    };
    let executions = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&executions);
    builder.check(move || {
        count.fetch_add(1, Ordering::Relaxed);
        turn(); // makes the atomic before there are other threads
        body();
    });
    Explored { executions: executions.load(Ordering::Relaxed), orders }
}
