//! The thread that writes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::sleep;
use std::time::{Duration, Instant};

use windrow::clock::Precise;
use windrow::{SlidingWindow, events};
use windrow_log::{Entry, Log, LogError, Options};

events! { enum Http { Pass: Count } }

fn window() -> Arc<SlidingWindow<Http, Precise>> {
    let builder = SlidingWindow::<Http>::builder().interval(Duration::from_secs(10)).buckets(1_000);
    Arc::new(builder.clock(Precise::default()).build().unwrap())
}

fn passed(directory: &Path) -> u64 {
    let entries = windrow_log::read(directory).unwrap().all();
    let of = |entry| if let Entry::Bucket(bucket) = entry { bucket.stats("Pass").sum } else { 0 };
    entries.map(|entry| of(entry.unwrap())).sum()
}

#[test]
fn the_last_write_has_all_buckets_that_are_over() {
    let directory = tempfile::tempdir().unwrap();
    let window = window();
    let logged = Arc::clone(&window);
    let log = Log::open(directory.path(), Options::default()).unwrap();
    // It never comes to its first period.
    let logging = log.every(Duration::from_secs(3_600), move |batch| batch.add("/", &logged));
    window.add(Http::Pass, 5);
    sleep(Duration::from_millis(12));
    assert_eq!(passed(directory.path()), 0);
    let begun = Instant::now();
    logging.finish().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(600), "it waited for its period");
    assert_eq!(passed(directory.path()), 5);
    drop(Log::open(directory.path(), Options::default()).unwrap()); // it is not locked
}

#[test]
fn it_writes_in_each_period_and_when_it_is_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let (window, turns) = (window(), Arc::new(AtomicU64::new(0)));
    let (logged, counted) = (Arc::clone(&window), Arc::clone(&turns));
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let logging = log.every(Duration::from_millis(5), move |batch| {
        batch.add("/", &logged);
        counted.fetch_add(1, Ordering::Relaxed);
    });
    for round in 1..=3 {
        window.add(Http::Pass, 1);
        while passed(directory.path()) < round {
            sleep(Duration::from_millis(1));
        }
    }
    assert!(turns.load(Ordering::Relaxed) >= 3);
    assert_eq!(logging.unwritten().waiting, 0);
    window.add(Http::Pass, 1);
    sleep(Duration::from_millis(12));
    drop(logging);
    assert_eq!(passed(directory.path()), 4);
}

#[test]
fn errors_are_told_and_the_thread_goes_on() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("log");
    let window = window();
    let logged = Arc::clone(&window);
    let log = Log::open(&directory, Options::default()).unwrap();
    let logging = log.every(Duration::from_millis(2), move |batch| batch.add("/", &logged));
    std::fs::remove_dir_all(&directory).unwrap();
    window.add(Http::Pass, 3);
    let error = loop {
        match logging.error() {
            Some(error) => break error,
            None => sleep(Duration::from_millis(1)),
        }
    };
    assert!(matches!(error, LogError::Failed { path, .. } if path.starts_with(&directory)));
    assert_eq!(logging.unwritten().waiting, 1);
    std::fs::create_dir(&directory).unwrap();
    while logging.unwritten().waiting > 0 {
        sleep(Duration::from_millis(1));
    }
    logging.finish().unwrap();
    assert_eq!(passed(&directory), 3);
}

#[test]
fn finish_says_that_lines_are_lost() {
    let parent = tempfile::tempdir().unwrap();
    let directory = parent.path().join("log");
    let window = window();
    let logged = Arc::clone(&window);
    let log = Log::open(&directory, Options::default()).unwrap();
    let logging = log.every(Duration::from_secs(3_600), move |batch| batch.add("/", &logged));
    std::fs::remove_dir_all(&directory).unwrap();
    window.add(Http::Pass, 3);
    sleep(Duration::from_millis(12));
    assert!(matches!(logging.finish(), Err(LogError::Failed { .. })));
}

/// A write that comes later than the ring reaches may have missed buckets: here it has.
#[test]
fn a_write_that_comes_too_late_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let clock = windrow::clock::Manual::default();
    clock.set(windrow::Timestamp::from_secs(100_000));
    let builder = SlidingWindow::<Http>::builder().interval(Duration::from_millis(40)).buckets(4);
    let window = builder.clock(clock.clone()).build().unwrap();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    window.add(Http::Pass, 1);
    log.write("/", &window).unwrap();
    clock.advance(Duration::from_millis(50));
    window.add(Http::Pass, 1);
    log.write("/", &window).unwrap();
    assert_eq!(log.unwritten().overdue, 1);
    assert_eq!(passed(directory.path()), 0);
}

/// A window that has its turn seldom is late, though others have theirs in time; a window that has
/// just been built is not, nor one that is written in time for the first time.
#[test]
fn each_window_is_late_for_itself() {
    let directory = tempfile::tempdir().unwrap();
    let clock = windrow::clock::Manual::default();
    clock.set(windrow::Timestamp::from_secs(100_000));
    let window = |buckets: u32| {
        let builder = SlidingWindow::<Http>::builder().buckets(buckets as usize);
        let builder = builder.interval(Duration::from_secs(1) * buckets);
        builder.clock(clock.clone()).build().unwrap()
    };
    let (often, seldom) = (window(4), window(4));
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    for second in 0..360_u64 {
        often.add(Http::Pass, 1);
        seldom.add(Http::Pass, 1);
        clock.advance(Duration::from_secs(1));
        log.write("often", &often).unwrap();
        if second % 10 == 9 {
            log.write("seldom", &seldom).unwrap();
        }
        let young = window(4);
        young.add(Http::Pass, 1);
        log.write(&format!("young {second}"), &young).unwrap();
    }
    // Three of the ten buckets are present at the turn.
    assert_eq!(passed(directory.path()), 360 + 36 * 3);
    // All but the first turn, before which the clock of this test has passed, and no time.
    assert_eq!(log.unwritten().overdue, 35);
}

/// A panic of the function is reported, the windows that it had added are written, and it is called
/// again.
#[test]
fn a_function_that_panics_once_does_not_end_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let (window, turns) = (window(), Arc::new(AtomicU64::new(0)));
    let (logged, counted) = (Arc::clone(&window), Arc::clone(&turns));
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let logging = log.every(Duration::from_millis(5), move |batch| {
        batch.add("/", &logged);
        let turn = counted.fetch_add(1, Ordering::Relaxed);
        assert!(turn != 2, "turn {turn}");
    });
    let (mut told, begun) = (None, Instant::now());
    for round in 1..=20 {
        window.add(Http::Pass, 1);
        while passed(directory.path()) < round {
            assert!(begun.elapsed() < Duration::from_secs(100), "round {round}: no line comes");
            sleep(Duration::from_millis(1));
        }
        told = logging.error().or(told);
    }
    match told {
        Some(LogError::Panicked { message }) => assert_eq!(message, "turn 2"),
        other => panic!("{other:?}"),
    }
    logging.finish().unwrap();
}

/// It panics each time: `finish` says so, and all lines are there.
#[test]
fn a_function_that_panics_is_told_by_finish() {
    let directory = tempfile::tempdir().unwrap();
    let window = window();
    let logged = Arc::clone(&window);
    let log = Log::open(directory.path(), Options::default()).unwrap();
    let logging = log.every(Duration::from_millis(1), move |batch| {
        batch.add("/", &logged);
        panic!("each time");
    });
    window.add(Http::Pass, 3);
    sleep(Duration::from_millis(12));
    let error = logging.finish().unwrap_err();
    assert!(error.to_string().ends_with("panicked: each time"), "{error}");
    assert_eq!(passed(directory.path()), 3);
}
