//! The memory of epochs: allocated once for each thread, and not because of other threads.

use std::cell::RefCell;
use std::sync::{Arc, mpsc};
use std::thread;

use windrow::clock::Manual;
use windrow::{SlidingWindow, diagnostics::Strategy};

use crate::counting::{allocations, live_bytes, while_adding};
use testkit::alone::in_each_strategy;

use crate::Http;
use testkit::{at_ns, ns, window};

const LENGTH: u64 = 10;

type Window = SlidingWindow<Http, Manual>;

/// Changes the geometry `changes` times.
fn reshape(window: &Window, changes: u32) {
    for change in 0..changes {
        let buckets = 2 + change % 2;
        window.reconfigure(ns(LENGTH) * buckets, buckets as usize).expect("a sound geometry");
        window.add(Http::Pass, 1);
    }
}

/// Defect: a guard of another crate's, in the default collector, kept every generation of ours
/// alive.
#[test]
fn a_pin_of_another_crate_costs_64_kilobytes_at_most() {
    in_each_strategy("epochs::under_a_pin_of_another");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn under_a_pin_of_another() {
    let window = window::<Http>(ns(LENGTH), 2, &Manual::default());
    reshape(&window, 1_000);
    let (pinned, when_pinned) = mpsc::channel();
    let (over, when_over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        scope.spawn(move || {
            let guard = crossbeam_epoch::pin();
            pinned.send(()).expect("a thread waits");
            let _ = when_over.recv(); // an error, too, says that it is over
            drop(guard);
        });
        when_pinned.recv().expect("it is pinned");
        let before = live_bytes();
        reshape(&window, 10_000);
        let grown = live_bytes() - before;
        println!("{:?}: {grown} bytes more", windrow::diagnostics::strategy());
        assert!(grown <= 64 << 10, "{grown} bytes more after 10 000 changes of geometry");
        drop(over);
    });
    assert_eq!(window.lifetime(Http::Pass).count, 11_000);
}

/// Returns the number of allocations in `calls`.
fn allocated(calls: impl FnOnce()) -> u64 {
    let before = allocations();
    while_adding(calls);
    allocations() - before
}

#[test]
fn a_thread_allocates_at_its_first_pin_alone() {
    in_each_strategy("epochs::first_pins");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn first_pins() {
    let window = window::<Http>(ns(LENGTH), 2, &Manual::default());
    window.add(Http::Pass, 1);
    window.sum(Http::Pass);
    let read = || {
        window.sum(Http::Pass);
        window.stats(Http::Rt);
        window.previous();
    };
    let add = || {
        window.add(Http::Pass, 1);
        window.record(Http::Rt, 1);
    };
    for _ in 0..100 {
        // By name: a scope alone ends before what its threads leave behind is freed.
        thread::scope(|scope| {
            let reads =
                scope.spawn(|| (allocated(read), allocated(|| (0..1_000).for_each(|_| read()))));
            assert_eq!(reads.join().expect("it reads"), (1, 0), "by the first read, and later");
            let adds =
                scope.spawn(|| (allocated(add), allocated(|| (0..1_000).for_each(|_| add()))));
            let (first, later) = adds.join().expect("it adds");
            // The first add pins, or takes a slot that another thread has left, if there is one.
            let most = u64::from(windrow::diagnostics::strategy() != Strategy::PerCore);
            assert!(first <= most, "{first} allocations by the first add");
            assert_eq!(later, 0, "by later adds");
        });
    }
}

/// A sum at once does not pin.
#[test]
fn a_sum_allocates_nothing_at_all() {
    in_each_strategy("epochs::sums");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn sums() {
    let clock = Manual::default();
    clock.set(at_ns(1_000 * LENGTH));
    let window = window::<Http>(ns(LENGTH), 60, &clock);
    for _ in 0..100 {
        clock.advance(ns(LENGTH));
        window.add(Http::Pass, 1);
    }
    thread::scope(|scope| {
        let sum = scope.spawn(|| allocated(|| assert_eq!(window.sum(Http::Pass), 60)));
        assert_eq!(sum.join().expect("it reads"), 0);
    });
}

/// Uses its window when the thread has come to its end.
struct AtTheEnd(Arc<Window>);

thread_local! {
    static AT_THE_END: RefCell<Option<AtTheEnd>> = const { RefCell::new(None) };
}

impl Drop for AtTheEnd {
    fn drop(&mut self) {
        let AtTheEnd(window) = self;
        let before = window.sum(Http::Pass);
        for n in 1..=100 {
            window.add(Http::Pass, 1);
            window.record(Http::Rt, n);
            assert_eq!(window.sum(Http::Pass), before + n);
            assert_eq!(window.stats(Http::Pass).sum, before + n); // which pins
            window.reconfigure(ns(LENGTH) * 2, 2 + n as usize % 2 * 3).expect("a sound geometry");
        }
    }
}

/// Behind its own handle a thread is registered for each pin anew: that works, and leaves nothing.
#[test]
fn last_moments_leave_nothing_behind() {
    in_each_strategy("epochs::last_moments");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn last_moments() {
    let window = Arc::new(window::<Http>(ns(LENGTH), 2, &Manual::default()));
    let end = |first_pin_first: bool| {
        let window = Arc::clone(&window);
        let body = move || {
            if first_pin_first {
                window.previous();
            }
            AT_THE_END.set(Some(AtTheEnd(Arc::clone(&window))));
            window.add(Http::Pass, 1);
            window.previous();
        };
        thread::spawn(body).join().expect("its end is as good as any moment");
    };
    let rounds = |rounds: u64| (0..rounds).for_each(|round| end(round % 2 == 0));
    rounds(50);
    let before = live_bytes();
    rounds(200);
    let grown = live_bytes() - before;
    println!("{:?}: {grown} bytes more", windrow::diagnostics::strategy());
    assert!(grown <= 64 << 10, "{grown} bytes more after 200 threads");
    assert_eq!(window.lifetime(Http::Pass).count, 250 * 101);
    assert_eq!(window.lifetime(Http::Rt).sum, 250 * 5_050);
}
