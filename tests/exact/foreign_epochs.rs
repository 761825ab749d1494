//! Other users of `crossbeam-epoch` in the process do not affect the library.
//!
//! Each test runs in a process of its own, on each strategy, because the default collector is the
//! process's.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use testkit::{alone, ns, window};
use windrow::clock::Manual;

windrow::events! {
    /// One of each kind.
    enum Seen { Pass: Count, Rt: Value }
}

const LENGTH: u64 = 10;

thread_local! {
    /// True if this thread is in one of our calls.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// A foreign function ran in a call of ours.
static RAN_INSIDE: AtomicBool = AtomicBool::new(false);

/// Puts functions off until later, as another crate does: from a thread of its own, so that it is
/// not its end that runs them.
fn defer(function: fn()) {
    let other = move || {
        let guard = crossbeam_epoch::pin();
        (0..100).for_each(|_| guard.defer(function));
        guard.flush();
    };
    thread::spawn(other).join().expect("nothing runs yet");
}

/// Does everything that pins, often enough to run all deferred functions.
fn use_windows() {
    let clock = Manual::default();
    let window = window::<Seen>(ns(LENGTH), 4, &clock);
    for round in 0..2_000 {
        window.add(Seen::Pass, 1);
        window.record(Seen::Rt, round);
        window.sum(Seen::Pass);
        drop(window.snapshot());
        window.drain_closed(|_| ());
        if round % 4 == 0 {
            clock.advance(ns(LENGTH));
        }
        if round % 16 == 0 {
            let buckets = 4 + round as usize / 16 % 2;
            window.reconfigure(ns(LENGTH) * buckets as u32, buckets).expect("a sound geometry");
        }
    }
    assert_eq!(window.lifetime(Seen::Pass).count, 2_000);
    assert_eq!(window.lifetime(Seen::Rt).count, 2_000);
}

/// Defect: a deferred function of another crate's that slept made an add take as long.
#[test]
fn deferred_functions_of_others_do_not_run_in_our_calls() {
    alone::in_each_strategy("foreign_epochs::deferred_by_others");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn deferred_by_others() {
    defer(|| {
        if INSIDE.get() {
            RAN_INSIDE.store(true, Ordering::Relaxed);
        }
    });
    INSIDE.set(true);
    use_windows();
    INSIDE.set(false);
    assert!(!RAN_INSIDE.load(Ordering::Relaxed), "a call of ours ran another crate's function");
}

/// Defect: one that panicked unwound out of an add.
#[test]
fn panics_of_others_do_not_unwind_out_of_our_calls() {
    alone::in_each_strategy("foreign_epochs::panics_of_others");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn panics_of_others() {
    defer(|| panic!("of another crate's"));
    let used = catch_unwind(AssertUnwindSafe(use_windows));
    assert!(used.is_ok(), "a call of ours ran another crate's function, which panicked");
}
