//! Sequential consistency, where the caller asks for it.
//!
//! Explores two threads that each write one thing and then read the other's: one of them at least
//! must see what the other has written.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use windrow::{Counter, Gauge};
use windrow_loom_tests::Model;
use windrow_loom_tests::engine::sync::Arc;
use windrow_loom_tests::engine::sync::atomic::{AtomicU64, fence};
use windrow_loom_tests::engine::thread;

/// Explores `one` against `other`, both of which return whether they have found nothing.
fn explore<T: Send + Sync + 'static>(
    name: &'static str,
    make: fn() -> T,
    one: fn(&T) -> bool,
    other: fn(&T) -> bool,
) {
    Model::new(name).explore(move || {
        let shared = Arc::new(make());
        let thread = thread::spawn({
            let shared = Arc::clone(&shared);
            move || other(&shared)
        });
        let nothing = one(&shared);
        assert!(!(thread.join().unwrap() && nothing), "neither has seen the other");
    });
}

fn write_and_fence(flag: &AtomicU64) {
    flag.store(1, Relaxed);
    fence(SeqCst);
}

/// A load as an atomic's: after the caller's own fence, or a store that has one behind it.
#[test]
fn of_a_load() {
    explore(
        "order_asked_for::of_a_load",
        || (AtomicU64::new(0), Counter::new()),
        |(flag, counter)| {
            flag.store(1, Relaxed);
            counter.load(SeqCst) == 0
        },
        |(flag, counter)| {
            counter.add(1);
            fence(SeqCst);
            flag.load(Relaxed) == 0
        },
    );
}

#[test]
fn of_a_load_of_a_gauge() {
    explore(
        "order_asked_for::of_a_load_of_a_gauge",
        || (AtomicU64::new(0), Gauge::new()),
        |(flag, gauge)| {
            flag.store(1, Relaxed);
            gauge.load(SeqCst) == 0
        },
        |(flag, gauge)| {
            gauge.add(1);
            fence(SeqCst);
            flag.load(Relaxed) == 0
        },
    );
}

/// An add per core, or in a leased row. (In a row that threads share it is one operation of that
/// order, which loom treats as a weaker one.)
#[test]
fn of_an_add() {
    if !cfg!(any(windrow_per_core, windrow_announced)) {
        return;
    }
    explore(
        "order_asked_for::of_an_add",
        || (AtomicU64::new(0), Counter::new()),
        |(flag, counter)| {
            write_and_fence(flag);
            counter.sum() == 0
        },
        |(flag, counter)| {
            counter.fetch_add(1, SeqCst);
            flag.load(Relaxed) == 0
        },
    );
}
