//! Running a model, with its progress.

use std::time::Instant;

use crate::engine::{self, Explored};

/// True if each add takes locks, on which there are more turns to take.
const SLOW: bool = cfg!(any(windrow_per_core, windrow_announced));

/// A model's name, and loom's bounds.
///
/// Unbounded, loom explores every order of steps. With a bound, only those with at most that number
/// of preemptions: stops of a thread that could have gone on. The other engines ignore the bound.
#[derive(Debug)]
pub struct Model {
    name: &'static str,
    preemptions: Option<usize>,
}

impl Model {
    /// Returns a model without bound.
    #[must_use]
    pub fn new(name: &'static str) -> Model {
        Model { name, preemptions: None }
    }

    /// Returns a model that takes minutes: with two preemptions, or with one where there is more to
    /// take turns on than over the checking reclaimer, and wherever `WINDROW_QUICK` is set, as in
    /// `cargo xtask ci`.
    #[must_use]
    pub fn long(name: &'static str) -> Model {
        let quick = std::env::var_os("WINDROW_QUICK").is_some();
        let few = quick || !cfg!(windrow_checker) || SLOW;
        Model::new(name).bounded(if few { 1 } else { 2 })
    }

    /// Returns a model that takes minutes with one preemption. With `WINDROW_QUICK`, as in
    /// `cargo xtask ci`, it has none: then threads change where one waits or ends.
    #[must_use]
    pub fn longest(name: &'static str) -> Model {
        let quick = std::env::var_os("WINDROW_QUICK").is_some();
        if quick { Model::new(name).bounded(0) } else { Model::long(name) }
    }

    /// Bounds the preemptions with any reclaimer: for three threads.
    #[must_use]
    pub fn bounded(self, preemptions: usize) -> Model {
        Model { preemptions: Some(preemptions), ..self }
    }

    /// Bounded over `crossbeam-epoch` alone, whose own steps are too many for all orders.
    #[must_use]
    pub fn bounded_over_epoch(self, preemptions: usize) -> Model {
        if cfg!(windrow_checker) { self } else { self.bounded(preemptions) }
    }

    /// Bounded over the per-core strategy and over announced buckets alone, where each add takes
    /// locks in place of what the kernel does.
    #[must_use]
    pub fn bounded_per_core(self, preemptions: usize) -> Model {
        if SLOW { self.bounded(preemptions) } else { self }
    }

    /// Explores the model, and prints the number of executions.
    ///
    /// # Panics
    ///
    /// If the model fails in some execution.
    pub fn explore(self, body: impl Fn() + Send + Sync + 'static) {
        let begin = Instant::now();
        let Explored { executions, orders } = engine::run(self.name, self.preemptions, body);
        println!(
            "model {}: {executions} executions in {:.1} s, {orders}, over {}",
            self.name,
            begin.elapsed().as_secs_f64(),
            over(),
        );
    }
}

/// Returns what of the library a model is run over.
fn over() -> &'static str {
    if cfg!(windrow_per_core) {
        "the per-core strategy"
    } else if cfg!(windrow_announced) {
        "announced buckets"
    } else if cfg!(windrow_checker) {
        "the checker"
    } else if !cfg!(loom)
        && windrow::diagnostics::strategy() == windrow::diagnostics::Strategy::PerCore
    {
        "restartable sequences"
    } else {
        "crossbeam-epoch"
    }
}
