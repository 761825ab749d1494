//! The counts in the lines and those outside of them add up to all counts.

use std::path::Path;
use std::sync::LazyLock;
use std::time::Duration;

use windrow::clock::Manual;
use windrow::export::AnyWindow;
use windrow::{
    Clock, Event, Family, SlidingWindow, Stats, Timestamp, events, histogram::Distribution, labels,
};
use windrow_log::{Entry, Log, Options, Skipped, Unwritten};

events! { enum Http { Pass: Count, Open: Signed, Rt: Value, Depth: Maximum, Bytes: Histogram } }
labels! { struct Route { route: str, status: u16 } }

type Window = SlidingWindow<Http, Manual>;

/// Returns a minute of seconds.
fn window() -> (Window, Manual) {
    let clock = Manual::default();
    clock.set(Timestamp::from_secs(100_000));
    let builder = SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
    (builder.clock(clock.clone()).build().expect("sound"), clock)
}

fn second() -> Duration {
    Duration::from_secs(1)
}

/// Returns all entries, of files in which nothing is wrong.
fn entries(directory: &Path) -> Vec<Entry> {
    let mut entries = windrow_log::read(directory).unwrap().all();
    let all = entries.by_ref().map(Result::unwrap).collect();
    assert_eq!(entries.skipped(), Skipped::default());
    all
}

/// Returns what the lines of a resource say of an event.
fn logged(directory: &Path, resource: &str, event: &str) -> Stats {
    let of = |entry: &Entry| match entry {
        Entry::Bucket(bucket) if bucket.resource == resource => bucket.stats(event),
        _ => Stats::default(),
    };
    entries(directory).iter().map(of).sum()
}

/// Returns how the lines of a resource say that the values of an event are distributed.
fn distributed(directory: &Path, resource: &str, event: &str) -> Distribution {
    let of = |entry: Entry| match entry {
        Entry::Bucket(bucket) if bucket.resource == resource => Some(bucket.distribution(event)),
        _ => None,
    };
    let add = |mut all: Distribution, part: Distribution| {
        all.merge(&part).unwrap();
        all
    };
    entries(directory).into_iter().filter_map(of).reduce(add).unwrap()
}

/// Returns what no drain has handed out yet.
fn newest(window: &Window, event: Event<Http>) -> Stats {
    window.snapshot().buckets().last().unwrap().stats(event)
}

#[test]
fn lines_the_newest_bucket_and_what_was_late_are_all_that_was_counted() {
    let directory = tempfile::tempdir().unwrap();
    let directory = directory.path();
    let (window, clock) = window();
    // Restarts of the log, and small files.
    for run in 0_u64..5 {
        let options = Options::default().file_size(2_000).files(1_000);
        let mut log = Log::open(directory, options).unwrap();
        for step in 1..=40_u64 {
            window.add(Http::Pass, step);
            window.add(Http::Open, if step % 3 == 0 { -5 } else { 2 });
            window.record(Http::Rt, step * 10 + run);
            window.record(Http::Depth, step % 7);
            window.record(Http::Bytes, 1_000 << (step % 7));
            if step % 10 == 0 {
                // An hour back: late.
                clock.set(Timestamp::from_nanos(clock_now(&window) - 3_600_000_000_000));
                window.add(Http::Pass, 1_000);
                clock.set(Timestamp::from_nanos(clock_now(&window) + 3_600_000_000_000));
            }
            clock.advance(second());
            if step % 4 != 0 {
                log.write("/cart", &window).unwrap();
            }
        }
        window.add(Http::Pass, 7); // and the window is not done with this bucket
        log.write("/cart", &window).unwrap();
        assert_eq!(log.unwritten().waiting, 0);
    }
    let files = std::fs::read_dir(directory).unwrap().count();
    assert!(files > 10, "{files} files");
    for event in Http::ALL {
        let name = event.name();
        let there =
            logged(directory, "/cart", name) + newest(&window, event) + late(&window, event);
        assert_eq!(there, window.lifetime(event), "{name}");
    }
    let mut bytes = distributed(directory, "/cart", "Bytes");
    bytes.merge(&window.snapshot().buckets().last().unwrap().distribution(Http::Bytes)).unwrap();
    assert_eq!(bytes, window.lifetime_distribution(Http::Bytes));
    assert_eq!(logged(directory, "/cart", "Depth").max, Some(6));
    let runs: Vec<_> = entries(directory)
        .into_iter()
        .filter_map(|entry| if let Entry::Run(run) = entry { Some(run.id) } else { None })
        .collect();
    assert_eq!(runs.len(), 5, "each run is returned once: {runs:?}");
}

fn clock_now(window: &Window) -> u64 {
    window.clock().now().as_nanos()
}

fn late(window: &Window, event: Event<Http>) -> Stats {
    let late = window.late(event);
    Stats { min: None, max: None, ..late }
}

/// The last bucket before a pause is in the log, though no add closes it, and though the pause is
/// longer than the ring.
#[test]
fn a_pause_takes_no_bucket_with_it() {
    let directory = tempfile::tempdir().unwrap();
    let (window, clock) = window();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    for pause in [1, 59, 60, 61, 500] {
        window.add(Http::Pass, 1);
        for _ in 0..pause {
            clock.advance(second());
            log.write("/", &window).unwrap();
        }
    }
    assert_eq!(logged(directory.path(), "/", "Pass").sum, 5);
    assert_eq!(entries(directory.path()).len(), 1 + 5, "an empty bucket has no line");
}

#[test]
fn each_series_of_a_family_adds_up_by_its_name() {
    let directory = tempfile::tempdir().unwrap();
    let (_, clock) = window();
    let its = clock.clone();
    let family: Family<Route, Window, _> = Family::with_constructor(move || {
        let builder =
            SlidingWindow::<Http>::builder().interval(Duration::from_secs(60)).buckets(60);
        builder.clock(its.clone()).build().expect("sound")
    });
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    let routes = ["/", "/a|b", "/\"x\"\\", "/\n\u{1}", &"long".repeat(250)];
    for step in 0..100 {
        let route = routes[step as usize % routes.len()];
        family.with(Route { route, status: 200 + step % 2 }).add(Http::Pass, u64::from(step));
        clock.advance(second());
        log.write("http", &family).unwrap();
    }
    let mut sum = 0;
    for series in &family {
        let name = windrow_log::name("http", &series);
        let logged = logged(directory.path(), &name, "Pass").sum;
        assert_eq!(logged, series.lifetime(Http::Pass).sum, "{name}");
        sum += logged;
    }
    assert_eq!((sum, family.len()), ((0..100).sum(), 10));
}

#[test]
fn ranges_that_follow_each_other_add_up() {
    let directory = tempfile::tempdir().unwrap();
    let begun = std::time::SystemTime::now();
    let window = SlidingWindow::<Http>::builder()
        .interval(second() * 10)
        .buckets(1_000)
        .clock(windrow::clock::Precise::default())
        .build()
        .unwrap();
    let mut log = Log::open(directory.path(), Options::default().file_size(3_000)).unwrap();
    for _ in 0..60 {
        window.add(Http::Pass, 1);
        std::thread::sleep(Duration::from_millis(5));
        log.write("/", &window).unwrap();
    }
    std::thread::sleep(Duration::from_millis(12));
    log.write("/", &window).unwrap(); // closes the last
    let Unwritten { waiting, dropped, overdue, .. } = log.unwritten();
    assert_eq!((waiting, dropped, overdue), (0, 0, 0));
    let all = logged(directory.path(), "/", "Pass").sum;
    assert_eq!(all, 60);
    let mut sum = 0;
    for part in 0..100 {
        let from = begun + Duration::from_millis(7) * part - Duration::from_millis(100);
        let to = if part == 99 { begun + second() * 60 } else { from + Duration::from_millis(7) };
        for entry in windrow_log::read(directory.path()).unwrap().between(from, to) {
            if let Entry::Bucket(bucket) = entry.unwrap() {
                let end = bucket.start + bucket.length;
                assert!(from < end && end <= to, "{end:?}");
                sum += bucket.stats("Pass").sum;
            }
        }
    }
    assert_eq!(sum, all);
}

/// A function that fills a batch may panic, and a caller may return early: drained buckets are not
/// lost.
#[test]
fn a_batch_that_is_dropped_goes_with_the_next() {
    let directory = tempfile::tempdir().unwrap();
    let (window, clock) = window();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    window.add(Http::Pass, 3);
    clock.advance(second());
    log.batch().add("/", &window);
    assert_eq!((log.unwritten().waiting, logged(directory.path(), "/", "Pass").sum), (1, 0));
    assert_eq!(log.write("/", &window).unwrap(), 1);
    assert_eq!(logged(directory.path(), "/", "Pass").sum, 3);
    // And where the log itself is dropped.
    window.add(Http::Pass, 4);
    clock.advance(second());
    log.batch().add("/", &window);
    drop(log);
    assert_eq!(logged(directory.path(), "/", "Pass").sum, 7);
}

/// Buckets of ten seconds, a minute, an hour and a day in one log, for two days: none is lost to
/// another, and no file is ended for one. The same holds for windows that are written one after the
/// other, ten minutes apart.
#[test]
fn windows_of_all_lengths_keep_all_lines() {
    for is_seldom in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let clock = Manual::default();
        clock.set(Timestamp::from_secs(86_400 * 1_000));
        let lengths: [u64; 4] = if is_seldom { [60, 60, 60, 120] } else { [10, 60, 3_600, 86_400] };
        let window = |secs: u64| -> Window {
            let builder = SlidingWindow::<Http>::builder().buckets(60);
            builder
                .interval(Duration::from_secs(secs) * 60)
                .clock(clock.clone())
                .build()
                .expect("sound")
        };
        let windows = lengths.map(window);
        let period = if is_seldom { 600 } else { 10 };
        // Some seventy lines a file, of some three hundred a day at least.
        let options = Options::default().file_size(1 << 20).files(16);
        let mut log = Log::open(directory.path(), options).unwrap();
        for step in 1..=2 * 86_400 / 10_u64 {
            for window in &windows {
                window.add(Http::Pass, 1);
            }
            clock.advance(Duration::from_secs(10));
            if step * 10 % period == 0 {
                for (window, length) in windows.iter().zip(lengths) {
                    log.write(&length.to_string(), window).unwrap();
                }
            }
        }
        assert_eq!(log.unwritten().overdue, 0);
        let mut lines = [0; 4];
        for entry in entries(directory.path()) {
            if let Entry::Bucket(bucket) = entry {
                let length = bucket.length.as_secs();
                lines[lengths.iter().position(|other| *other == length).unwrap()] += 1;
            }
        }
        let expected = if is_seldom {
            [3 * 2_880, 0, 0, 1_440]
        } else {
            lengths.map(|length| 2 * 86_400 / length)
        };
        assert_eq!(lines, expected, "is_seldom: {is_seldom}");
    }
}

#[test]
fn the_windows_among_several_metrics_are_written_each_under_its_field() {
    static CLOCK: LazyLock<Manual> = LazyLock::new(Manual::default);
    windrow::metrics! {
        struct Endpoint {
            retries: windrow::Counter,
            calls: Window =
                SlidingWindow::builder().clock(CLOCK.clone()).build().expect("the default"),
        }
        struct Counts { retries: windrow::Counter }
    }

    let directory = tempfile::tempdir().unwrap();
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    let endpoints = Family::<Route, Endpoint>::new();
    let endpoint = endpoints.handle(Route { route: "/", status: 200 });
    endpoint.retries.increment();
    endpoint.calls.add(Http::Pass, 3);
    CLOCK.advance(endpoint.calls.bucket_length());
    log.write("http", &endpoints).unwrap();
    let resource = r#"http_calls{route="/",status="200"}"#;
    assert_eq!(logged(directory.path(), resource, "Pass").sum, 3);

    let counts = Family::<Route, Counts>::new();
    counts.with(Route { route: "/", status: 200 }).retries.increment();
    let error = log.write("http", &counts).unwrap_err();
    assert!(error.to_string().contains("http"), "{error}");
}
