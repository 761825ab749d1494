//! A forked child has its parent's counts as they were, and goes on from there.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use windrow::clock::Manual;

use crate::Seen;
use crate::work::Work;
use testkit::{Finish, alone, ns, window};

/// Runs `body` in a forked child, and fails if it fails.
pub(crate) fn in_child(body: impl FnOnce()) {
    // SAFETY: the child runs `body`, which takes no lock that another thread may have held (but the
    // allocator's, which glibc and musl see to), and ends without unwinding into frames of the
    // parent.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "no process");
    if child == 0 {
        // SAFETY: kills a child that hangs, long after any that does not has ended.
        unsafe { libc::alarm(100) };
        let failed = catch_unwind(AssertUnwindSafe(body)).is_err();
        // SAFETY: ends the child at once.
        unsafe { libc::_exit(i32::from(failed)) };
    }
    let mut status = 0;
    // SAFETY: waits for the child, which only this thread waits for.
    assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
    assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "status {status:#x}");
}

#[test]
fn children_count() {
    alone::in_each_strategy("fork::forked_at_rest");
}

#[test]
fn children_of_busy_parents_count() {
    alone::in_each_strategy("fork::forked_while_threads_count");
}

/// Defect: the bucket in which a parent's thread was adding was never closed in the child.
#[test]
fn children_close_what_threads_of_their_parents_were_adding_to() {
    for strategy in ["portable", "fenced"] {
        alone::run("fork::forked_in_the_middle_of_adds", &[("WINDROW_STRATEGY", strategy)]);
    }
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forked_in_the_middle_of_adds() {
    let clock = Manual::default();
    let window = window::<Seen>(ns(10), 20, &clock);
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    (0..1_000).for_each(|_| window.add(Seen::Pass, 1));
                }
            });
        }
        let finish = Finish(&finished);
        for _ in 0..40 {
            in_child(|| {
                let before = window.lifetime(Seen::Pass).count;
                for _ in 0..10 {
                    clock.advance(ns(10));
                    window.add(Seen::Pass, 1);
                }
                let snapshot = window.snapshot();
                let (_, closed) = snapshot.buckets().split_last().expect("buckets");
                assert!(
                    closed.iter().all(windrow::snapshot::BucketSnapshot::is_closed),
                    "one is left open"
                );
                assert_eq!(snapshot.totals().sum(Seen::Pass), before + 10);
            });
            thread::yield_now();
        }
        drop(finish);
    });
}

/// Counts in new metrics of a child, in threads of its own.
fn count_anew() {
    let work = Work::new();
    let books: Vec<_> = thread::scope(|scope| {
        let run = |thread| {
            let work = &work;
            move || work.run(thread)
        };
        let threads = [0, 1, 2].map(|thread| scope.spawn(run(thread)));
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    work.check(0..3, &books);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forked_at_rest() {
    // Before anything was counted: the child decides for itself.
    in_child(count_anew);
    let work = Work::new();
    in_child(|| work.check(0..1, &[work.run(0)]));
    let books = [work.run(0)];
    in_child(|| {
        work.check(0..1, &books);
        work.grows_exactly();
        // And a child's child.
        in_child(|| work.grows_exactly());
        count_anew();
    });
    work.check(0..1, &books);
    work.grows_exactly();
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forked_while_threads_count() {
    let work = Work::new();
    let (finished, started) = (AtomicBool::new(false), Barrier::new(4));
    thread::scope(|scope| {
        for thread in 0..3 {
            let (work, finished, started) = (&work, &finished, &started);
            scope.spawn(move || {
                started.wait();
                while !finished.load(Ordering::Acquire) {
                    work.run(thread);
                }
            });
        }
        let finish = Finish(&finished);
        // While a thread starts, std holds a lock that a child would wait for to start its own.
        started.wait();
        for _ in 0..8 {
            in_child(|| {
                work.grows_exactly();
                count_anew();
            });
        }
        drop(finish);
    });
    work.grows_exactly();
}
