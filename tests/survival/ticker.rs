//! A forked child has the clock that its parent's thread has ticked for, and not that thread.

use std::panic::catch_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use windrow::clock::{Manual, Ticker};
use windrow::{Clock, SlidingWindow, diagnostics::Strategy};

use crate::Seen;
use crate::fork::in_child;
use crate::refused::refuse;
use testkit::{Finish, alone, ms};

type Window = SlidingWindow<Seen, Ticker>;

/// Returns a window with buckets of 10 ms.
fn window(ticker: &Ticker) -> Window {
    let builder = SlidingWindow::<Seen>::builder().interval(ms(60_000)).buckets(6_000);
    builder.clock(ticker.clone()).build().expect("a sound window")
}

/// Waits far longer than it can take.
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(20), "in vain: {what}");
        thread::sleep(ms(1));
    }
}

/// Waits until the clock has moved twice.
fn moves(ticker: &Ticker) {
    for _ in 0..2 {
        let seen = ticker.now();
        wait_until("the ticker moves", || ticker.now() > seen);
    }
}

/// Adds until there are counts in some buckets more, and every one of them is somewhere.
fn counts(window: &Window) {
    let begin = window.lifetime(Seen::Pass).count;
    let buckets =
        || window.snapshot().buckets().iter().filter(|bucket| bucket.sum(Seen::Pass) > 0).count();
    let before = buckets();
    let mut added = 0;
    for _ in 0..2_000 {
        window.add(Seen::Pass, 1);
        added += 1;
        if buckets() > before + 2 {
            break;
        }
        thread::sleep(ms(10));
    }
    assert!(buckets() > before + 2, "the window has moved on");
    assert_eq!(window.lifetime(Seen::Pass).count, begin + added);
    assert_eq!(window.late(Seen::Pass).count, 0);
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("a list of threads").count()
}

/// Defect: a forked child's ticker stood still forever, and panicked when it was dropped.
#[test]
fn tickers_of_forked_children_move() {
    alone::in_each_strategy("ticker::forked");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forked() {
    let ticker = Ticker::start(ms(1));
    let window = window(&ticker);
    window.add(Seen::Pass, 1);
    let alone = threads() - 1;
    let mut held = Some((ticker, window));
    for _ in 0..3 {
        // In any order of a child's uses: reading the clock, an add, or dropping it.
        in_child(|| {
            let (ticker, window) = held.take().expect("the parent's");
            moves(&ticker);
            counts(&window);
            in_child(|| {
                counts(&window);
                moves(&ticker);
            });
            moves(&ticker);
            drop((ticker, window));
            wait_until("its thread ends", || threads() == 1);
            moves(&Ticker::default());
        });
        in_child(|| {
            let (ticker, window) = held.take().expect("the parent's");
            assert_eq!(threads(), 1);
            window.add(Seen::Pass, 1);
            assert_eq!(threads(), 2, "the add has found no ticking thread");
            window.add(Seen::Pass, 1);
            assert_eq!(ticker.clone().resolution(), ms(1));
            counts(&window);
            drop((window, ticker));
            wait_until("its thread ends", || threads() == 1);
        });
        in_child(|| {
            drop(held.take());
            assert_eq!(threads(), 1);
        });
        // A child that forks without having used it.
        in_child(|| in_child(|| counts(&held.take().expect("the parent's").1)));
    }
    let (ticker, window) = held.take().expect("no thread has taken it in this process");
    moves(&ticker);
    counts(&window);
    drop((ticker, window));
    wait_until("its thread ends", || threads() == alone);
}

#[test]
fn forked_while_tickers_come_and_go() {
    alone::run("ticker::forked_in_the_middle", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn forked_in_the_middle() {
    let finished = AtomicBool::new(false);
    let ticker = Ticker::start(ms(1));
    let mut window = Some(window(&ticker));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !finished.load(Ordering::Acquire) {
                    let others = [(); 3].map(|()| Ticker::default());
                    drop(others);
                }
            });
        }
        let finish = Finish(&finished);
        for _ in 0..25 {
            in_child(|| {
                counts(&window.take().expect("the parent's"));
                moves(&ticker);
                moves(&Ticker::default());
            });
        }
        drop(finish);
    });
}

/// Then each call reads the system's clock.
#[test]
fn forked_children_without_a_thread_have_the_time() {
    alone::in_each_strategy("ticker::no_thread_in_a_child");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn no_thread_in_a_child() {
    let ticker = Ticker::start(ms(1));
    let window = window(&ticker);
    window.add(Seen::Pass, 1);
    let mut held = Some((ticker, window));
    in_child(|| {
        let (ticker, window) = held.take().expect("the parent's");
        refuse(libc::SYS_clone3);
        refuse(libc::SYS_clone);
        let other = catch_unwind(|| Ticker::start(ms(1)));
        assert!(other.is_err(), "there is a thread to be had");
        counts(&window);
        moves(&ticker);
        moves(&ticker);
        drop((window, ticker));
        assert_eq!(threads(), 1);
    });
}

/// Defect: a child that was forked while another thread used the ticker's list of windows waited
/// for it forever. And no thread closed the buckets of a window with `close_on` and a ticker which
/// did not tick there.
#[test]
fn forked_children_close_on_a_ticker() {
    alone::run("ticker::closed_in_a_child", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn closed_in_a_child() {
    let ticker = Ticker::start(Duration::ZERO);
    let clock = Manual::default();
    let window = || {
        let builder = SlidingWindow::<Seen>::builder().interval(ms(100)).buckets(10);
        Arc::new(builder.clock(clock.clone()).build().expect("a sound window"))
    };
    let closed: Vec<_> = (0..64).map(|_| window()).collect();
    for window in &closed {
        window.close_on(&ticker);
    }
    let ours = window();
    for _ in 0..200 {
        in_child(|| {
            ours.close_on(&ticker);
            for _ in 0..4 {
                ours.add(Seen::Pass, 1);
                clock.advance(ms(10));
            }
            ours.add(Seen::Pass, 1);
            wait_until("all buckets but one are closed", || {
                let open = ours.snapshot();
                let open = open.buckets().iter().filter(|bucket| !bucket.is_closed());
                open.count() == 1 || windrow::diagnostics::strategy() == Strategy::Epochs
            });
        });
    }
}
