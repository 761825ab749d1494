//! Windows in statics: made at the first use, by whichever thread comes first, and then as any
//! other.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use testkit::{Finish, alone, race};
use windrow::clock::Ticker;
use windrow::{BucketSnapshot, SlidingWindow, Strategy, events};

events! {
    enum Http { Pass: Count, Rt: Histogram }
}

type Window = SlidingWindow<Http>;

const MINUTE: Duration = Duration::from_secs(60);

static READ_FIRST: Window = SlidingWindow::of(MINUTE, 60);
static ADDED_FIRST: Window = SlidingWindow::of(MINUTE, 6);
static CHANGED_FIRST: Window = SlidingWindow::of(Duration::from_secs(1), 10);

#[test]
fn each_first_use_makes_it() {
    assert_eq!((READ_FIRST.interval(), READ_FIRST.buckets()), (MINUTE, 60));
    assert_eq!((READ_FIRST.sum(Http::Pass), READ_FIRST.lifetime(Http::Pass).count), (0, 0));
    ADDED_FIRST.add(Http::Pass, 3);
    ADDED_FIRST.record(Http::Rt, 7);
    assert_eq!((ADDED_FIRST.sum(Http::Pass), ADDED_FIRST.lifetime(Http::Rt).sum), (3, 7));
    assert!(ADDED_FIRST.is_striped());
    CHANGED_FIRST.reconfigure(MINUTE, 30).expect("a geometry");
    CHANGED_FIRST.add(Http::Pass, 1);
    assert_eq!((CHANGED_FIRST.buckets(), CHANGED_FIRST.sum(Http::Pass)), (30, 1));
    let moment = READ_FIRST.moment();
    assert!(ADDED_FIRST.since(&moment).is_none(), "another window's");
}

#[test]
fn it_is_built_when_it_is_first_used() {
    let (window, other) = (Window::of(MINUTE, 60), Window::of(MINUTE, 60));
    let before = other.now();
    thread::sleep(Duration::from_millis(50));
    window.add(Http::Pass, 1);
    let built = window.built();
    assert!(built - before >= Duration::from_millis(40) && built <= window.now());
}

#[test]
fn threads_that_come_at_once_lose_nothing() {
    alone::in_each_strategy("raced");
    alone::run("raced", &alone::BY_PROCESSOR);
}

/// The first adds of all threads, some of which meet a window that is not made, or being made.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn raced() {
    const THREADS: usize = 6;
    for round in 0..400 {
        let window = Window::of(MINUTE, 60);
        race(THREADS, |thread| {
            if thread == 0 && round % 2 == 0 {
                assert!(window.stats(Http::Pass).count <= 10 * THREADS as u64);
            }
            for value in 0..10 {
                window.add(Http::Pass, 1);
                window.record(Http::Rt, value);
            }
        });
        let all = 10 * THREADS as u64;
        assert_eq!((window.sum(Http::Pass), window.lifetime(Http::Pass).sum), (all, all));
        assert_eq!(window.stats(Http::Rt).sum, 45 * THREADS as u64);
        let built = window.built();
        assert_eq!(window.built(), built, "made once");
    }
}

/// Neither what was never used, nor what was, is freed twice or not at all.
#[test]
fn one_that_is_no_static_may_be_dropped() {
    drop(Window::of(MINUTE, 60));
    for _ in 0..100 {
        let window = Window::of(MINUTE, 60);
        window.add(Http::Pass, 1);
        let moved = Some(window); // before and after it is made
        assert_eq!(moved.as_ref().map(|window| window.sum(Http::Pass)), Some(1));
    }
}

/// A ticker that does not tick closes nothing, and adds leave it to the ticker; one that ends
/// leaves it to adds again.
#[test]
fn a_ticker_closes_the_buckets_of_a_static() {
    static WINDOW: Window = SlidingWindow::of(Duration::from_secs(10), 100);
    if !matches!(windrow::strategy(), Strategy::PerCore | Strategy::Portable) {
        return; // no barriers
    }
    let closes = || {
        WINDOW.add(Http::Pass, 1);
        thread::sleep(WINDOW.bucket_length());
        WINDOW.add(Http::Pass, 1); // a bucket later, or two
        let all = WINDOW.snapshot();
        let mut used = all.iter().rev().filter(|bucket| bucket.sum(Http::Pass) > 0);
        used.nth(1).is_some_and(BucketSnapshot::is_closed)
    };
    let asleep = Ticker::start(Duration::from_secs(3_600));
    WINDOW.close_static_on(&asleep);
    assert!(!closes());
    drop(asleep);
    assert!(closes());
    assert_eq!(WINDOW.lifetime(Http::Pass).sum, 4);
}

/// Adds go on while others read, as of a window that was built.
#[test]
fn a_static_is_read_while_it_is_added_to() {
    static WINDOW: Window = SlidingWindow::of(MINUTE, 60);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let finish = Finish(&done);
        let reader = scope.spawn(|| {
            let mut last = 0;
            while !done.load(Ordering::Acquire) {
                let now = WINDOW.lifetime(Http::Pass).count;
                assert!(last <= now);
                last = now;
            }
        });
        race(3, |_| (0..20_000).for_each(|_| WINDOW.add(Http::Pass, 1)));
        drop(finish);
        reader.join().expect("no failure");
    });
    assert_eq!(WINDOW.sum(Http::Pass), 60_000);
}
