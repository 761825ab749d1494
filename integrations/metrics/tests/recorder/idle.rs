//! Keys that are removed when they are idle, keys that are too long, and the problems of dropped
//! updates.

use std::thread;
use std::time::Duration;

use metrics::{counter, gauge, histogram};
use windrow_metrics::{Handle, Kind, Problem, Recorder, Value};

fn series(handle: &Handle) -> usize {
    handle.snapshot().families().iter().map(|family| family.series.len()).sum()
}

fn counted(handle: &Handle, name: &str, labels: &[(&str, &str)]) -> Option<u64> {
    match handle.snapshot().get(name, labels)? {
        Value::Counter(n) => Some(*n),
        Value::Histogram(values) => Some(values.count()),
        other => panic!("{other:?}"),
    }
}

/// Counts on a thread that ends, once with each key.
fn count(recorder: &Recorder, keys: std::ops::Range<u32>) {
    let work = || {
        for n in keys {
            counter!("c", "n" => n.to_string()).increment(1);
            gauge!("g", "n" => n.to_string()).set(2);
            histogram!("h", "n" => n.to_string()).record(3);
        }
    };
    thread::scope(|scope| {
        // Joined: otherwise the thread's handles by key may be dropped a moment later.
        let counting = scope.spawn(|| metrics::with_local_recorder(recorder, work));
        counting.join().expect("no thread panics");
    });
}

#[test]
fn keys_leave_that_are_not_used_and_make_room_and_come_back_at_zero() {
    let builder = Recorder::builder().keys(900).idle(Duration::ZERO);
    let recorder = builder.build().expect("sound settings");
    let handle = recorder.handle();
    count(&recorder, 0..300);
    // It is found to be quiet, and shown, before it leaves.
    assert_eq!(series(&handle), 900);
    assert_eq!(series(&handle), 0);
    count(&recorder, 300..600);
    assert_eq!(counted(&handle, "h", &[("n", "450")]), Some(1));
    assert_eq!(handle.snapshot().problems(), []);
    count(&recorder, 0..1);
    assert_eq!(counted(&handle, "c", &[("n", "0")]), Some(1));
    assert_eq!(handle.render(), "");
}

#[test]
fn no_key_leaves_of_itself_unless_it_is_said() {
    let recorder = Recorder::builder().build().expect("sound settings");
    count(&recorder, 0..50);
    for _ in 0..5 {
        assert_eq!(series(&recorder.handle()), 150);
    }
}

#[test]
fn a_key_that_is_used_or_kept_stays_with_all_that_it_counts() {
    let recorder = Recorder::builder().idle(Duration::ZERO).build().expect("sound settings");
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        let kept = counter!("kept");
        for round in 1..=50 {
            kept.increment(1);
            counter!("used", "n" => "1").increment(1);
            gauge!("used_gauge").set(7);
            assert_eq!(counted(&handle, "used", &[("n", "1")]), Some(round));
            assert_eq!(counted(&handle, "kept", &[]), Some(round));
            assert_eq!(handle.snapshot().get("used_gauge", &[]), Some(&Value::Gauge(7.0)));
        }
        // Not used by macros, and added to between looks alone.
        drop(kept);
        counter!("other").increment(1);
        assert_eq!(counted(&handle, "kept", &[]), Some(50));
    });
}

#[test]
fn all_that_threads_count_is_shown_before_its_key_leaves() {
    const TIMES: u64 = 3_000;
    let recorder = Recorder::builder().idle(Duration::ZERO).build().expect("sound settings");
    let handle = recorder.handle();
    let shown = thread::scope(|scope| {
        let counting: Vec<_> = (0..3)
            .map(|thread: u64| {
                let recorder = &recorder;
                scope.spawn(move || {
                    metrics::with_local_recorder(recorder, || {
                        for n in 0..TIMES {
                            // Each thread has keys of its own, and each key is used once.
                            counter!("c", "n" => (thread * TIMES + n).to_string()).increment(1);
                        }
                    });
                })
            })
            .collect();
        let mut seen = std::collections::HashMap::new();
        let mut look = || {
            for family in handle.snapshot().families() {
                for series in &family.series {
                    let Value::Counter(n) = &series.value else { panic!("{series:?}") };
                    seen.insert(series.label("n").expect("its label").to_owned(), *n);
                }
            }
        };
        while !counting.iter().all(thread::ScopedJoinHandle::is_finished) {
            look();
        }
        for thread in counting {
            thread.join().expect("no thread panics");
        }
        look();
        look();
        seen
    });
    assert_eq!((shown.len() as u64, shown.values().sum::<u64>()), (3 * TIMES, 3 * TIMES));
    while series(&handle) > 0 {}
}

#[test]
fn keys_of_one_series_stay_since_what_it_counts_must_not_go_back() {
    let recorder = Recorder::builder().idle(Duration::ZERO).build().expect("sound settings");
    let handle = recorder.handle();
    let once = |name: &'static str| {
        thread::scope(|scope| {
            scope.spawn(|| {
                metrics::with_local_recorder(&recorder, || counter!(name).increment(1));
            });
        });
    };
    once("http.requests");
    once("http_requests");
    for _ in 0..5 {
        assert_eq!(counted(&handle, "http_requests", &[]), Some(2));
    }
}

#[test]
fn keys_that_are_too_long_are_counted_with_the_refused_ones() {
    let recorder = Recorder::builder().build().expect("sound settings");
    let handle = recorder.handle();
    let long = "x".repeat(100_000);
    metrics::with_local_recorder(&recorder, || {
        counter!("c", "path" => "/").increment(1);
        counter!("c", "path" => long.clone()).increment(2);
        counter!("c", long.clone() => "/").increment(4);
        counter!(long.clone()).increment(8);
        histogram!("h", "path" => long.clone()).record(1);
        gauge!("g", "path" => long.clone()).set(1);
        metrics::describe_counter!(long.clone(), "Long.");
        // As long as may be: 1024 bytes with its name, its label's, and 4.
        counter!("c", "path" => "y".repeat(1_024 - 9)).increment(16);
        counter!("c", "path" => "z".repeat(1_024 - 8)).increment(32);
    });
    let overflow = [("overflow", "true")];
    assert_eq!(counted(&handle, "c", &overflow), Some(2 + 4 + 32));
    assert_eq!(counted(&handle, "c", &[("path", &"y".repeat(1_024 - 9))]), Some(16));
    assert_eq!(counted(&handle, "windrow_metrics_overflow_counter", &overflow), Some(8));
    assert_eq!(counted(&handle, "windrow_metrics_overflow_histogram", &overflow), Some(1));
    assert!(handle.render().len() < 4_096);
    let refused = |kind, calls| Problem::Refused { kind, calls };
    let dropped = Problem::Dropped { kind: Kind::Gauge, updates: 1 };
    let [counters, gauges, histograms] =
        [refused(Kind::Counter, 4), refused(Kind::Gauge, 1), refused(Kind::Histogram, 1)];
    assert_eq!(handle.snapshot().problems(), [counters, gauges, histograms, dropped]);
}

#[test]
fn what_refused_gauges_are_told_is_counted_while_it_happens() {
    let recorder = Recorder::builder().keys(1).build().expect("sound settings");
    let handle = recorder.handle();
    metrics::with_local_recorder(&recorder, || {
        gauge!("there").set(1);
        let kept = gauge!("beyond");
        let refused = counter!("beyond");
        for n in 1..=10_u64 {
            kept.set(n as f64);
            kept.increment(1);
            refused.absolute(n);
            let text = handle.render();
            let gauges = format!("windrow_metrics_dropped_total{{kind=\"gauge\"}} {}\n", 2 * n);
            let counters = format!("windrow_metrics_dropped_total{{kind=\"counter\"}} {n}\n");
            assert!(text.contains(&gauges) && text.contains(&counters), "{text}");
        }
    });
}
