//! Running a model, and saying how far it got.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

loom::lazy_static! {
    static ref TURN: loom::sync::atomic::AtomicUsize = loom::sync::atomic::AtomicUsize::new(0);
}

/// Stands before each call whose order against other threads' calls matters.
///
/// Loom looks for another order only where it sees two steps meet, and of each atomic it remembers
/// the last access alone: a load by one thread is forgotten behind a load by the other, and the
/// store that follows it seems to meet nobody. Taking a turn is a read-modify-write on one atomic,
/// which nothing hides; it orders no memory.
pub fn turn() {
    TURN.fetch_add(1, Ordering::Relaxed);
}

/// Steps that one execution may take. Far more than any does: an endless one shall fail.
const STEPS: usize = 20_000;

/// A model's name and bounds.
///
/// Unbounded, loom explores every order of steps. With a bound, only those in which no more than
/// that many times a thread is stopped that could have gone on.
#[derive(Debug)]
pub struct Model {
    name: &'static str,
    preemptions: Option<usize>,
}

impl Model {
    /// A model without bound.
    #[must_use]
    pub fn new(name: &'static str) -> Model {
        Model { name, preemptions: None }
    }

    /// Bounded, whatever the reclaimer: for three threads.
    #[must_use]
    pub fn bounded(self, preemptions: usize) -> Model {
        Model { preemptions: Some(preemptions), ..self }
    }

    /// Bounded over `crossbeam-epoch` alone, whose own steps are too many for all orders.
    #[must_use]
    pub fn bounded_over_epoch(self, preemptions: usize) -> Model {
        if cfg!(windrow_checker) { self } else { self.bounded(preemptions) }
    }

    /// Bounded over the per-core strategy alone, whose scheduler is one more thing to take turns on.
    #[must_use]
    pub fn bounded_per_core(self, preemptions: usize) -> Model {
        if cfg!(windrow_per_core) { self.bounded(preemptions) } else { self }
    }

    /// Explores the model, and prints how many executions that took.
    ///
    /// # Panics
    ///
    /// If the model fails in some execution.
    pub fn explore(self, body: impl Fn() + Send + Sync + 'static) {
        let mut builder = loom::model::Builder::new();
        builder.max_branches = STEPS;
        // Loom's own variable, LOOM_MAX_PREEMPTIONS, makes the bound narrower, never wider.
        let bounds = [self.preemptions, builder.preemption_bound];
        builder.preemption_bound = bounds.into_iter().flatten().min();
        let bound = builder.preemption_bound;
        let executions = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&executions);
        let begin = Instant::now();
        builder.check(move || {
            count.fetch_add(1, Ordering::Relaxed);
            turn(); // makes the atomic before there is anybody else
            body();
        });
        println!(
            "model {}: {} executions in {:.1} s, {}, over {}",
            self.name,
            executions.load(Ordering::Relaxed),
            begin.elapsed().as_secs_f64(),
            match bound {
                None => "all orders".to_owned(),
                Some(bound) => format!("at most {bound} preemptions"),
            },
            match (cfg!(windrow_per_core), cfg!(windrow_checker)) {
                (true, _) => "the per-core strategy",
                (false, true) => "the checker",
                (false, false) => "crossbeam-epoch",
            },
        );
    }
}
