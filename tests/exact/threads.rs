//! The threads that the library starts: only those requested, and they end.
//!
//! The test runs in a process of its own, because it counts the threads of the process.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use testkit::alone;
use windrow::clock::{Coarse, Precise, Ticker};
use windrow::{Clock, Counter, SlidingWindow};

windrow::events! {
    /// One event is enough.
    enum Hits { Hit: Count }
}

fn threads() -> usize {
    fs::read_dir("/proc/self/task").expect("a list of threads").count()
}

/// Uses a window on `clock` for a few buckets of 100 ms, without waiting for any.
fn use_window(clock: impl Clock) {
    let window = SlidingWindow::<Hits>::builder()
        .interval(Duration::from_secs(1))
        .buckets(10)
        .clock(clock)
        .build()
        .expect("a valid window");
    (0..1000).for_each(|_| window.add(Hits::Hit, 1));
    assert_eq!(window.lifetime(Hits::Hit).count, 1000);
    window.snapshot();
}

/// Defect: a tick thread at 50 % of a core. Here a thread ticks only for a `Ticker`, all its
/// handles share one, and it ends when the last of them has gone.
#[test]
fn b13_no_thread_unless_asked_for() {
    alone::run("threads::counted", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counted() {
    let before = threads();
    Counter::new().increment();
    use_window(Coarse::default());
    use_window(Precise::default());
    assert_eq!(threads(), before);

    let ticker = Ticker::start(Duration::from_millis(1));
    assert_eq!(threads(), before + 1);
    let handle = ticker.clone();
    drop(ticker);
    let first = handle.now();
    wait_until("the thread still ticks for the other handle", || handle.now() > first);
    use_window(handle);
    wait_until("the thread ends with its last handle", || threads() == before);
}

/// Waits far longer than it can take; the actual time is not the test's concern.
fn wait_until(what: &str, done: impl Fn() -> bool) {
    let begin = Instant::now();
    while !done() {
        assert!(begin.elapsed() < Duration::from_secs(20), "in vain: {what}");
        thread::yield_now();
    }
}
