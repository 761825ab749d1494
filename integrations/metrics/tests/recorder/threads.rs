//! Many threads at once: nothing is lost or counted twice.

#![allow(clippy::float_cmp, reason = "exact is what these numbers are")]

use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use metrics::{counter, gauge, histogram};
use windrow::histogram::Scale;
use windrow_metrics::{Handle, Matcher, Recorder, Value};

use crate::strict_reader;

const THREADS: u64 = 4;

fn recorder() -> Recorder {
    let cells = Matcher::Prefix("cells".into());
    let builder = Recorder::builder().buckets(&[1.0, 2.0, 3.0]);
    builder.cells_for(cells, Scale::DEFAULT, 1_000_000_000).build().expect("sound settings")
}

/// Has all threads do `work` at once, with `recorder` as theirs.
fn at_once(recorder: &Recorder, work: impl Fn(u64) + Sync) {
    let begin = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (work, begin) = (&work, &begin);
            scope.spawn(move || {
                begin.wait();
                metrics::with_local_recorder(recorder, || work(thread));
            });
        }
    });
}

fn counted(handle: &Handle, name: &str, labels: &[(&str, &str)]) -> u64 {
    match handle.snapshot().get(name, labels) {
        Some(Value::Counter(n)) => *n,
        other => panic!("{name}{labels:?} is {other:?}"),
    }
}

#[test]
fn every_count_of_every_thread_is_there_at_rest() {
    const TIMES: u64 = 20_000;
    let recorder = recorder();
    let handle = recorder.handle();
    at_once(&recorder, |thread| {
        let kept = counter!("kept");
        for n in 0..TIMES {
            counter!("one").increment(1);
            counter!("labelled", "method" => "GET", "status" => "200").increment(2);
            counter!("made", "n" => (n % 50).to_string()).increment(1);
            counter!("own", "thread" => thread.to_string()).increment(3);
            kept.increment(1);
            gauge!("open").increment(2);
            gauge!("open").decrement(1);
            histogram!("values").record((n % 4) as f64 + 0.5);
            histogram!("cells_values").record((n % 4) as f64 + 0.5);
        }
    });
    assert_eq!(counted(&handle, "one", &[]), THREADS * TIMES);
    let labels = [("status", "200"), ("method", "GET")];
    assert_eq!(counted(&handle, "labelled", &labels), 2 * THREADS * TIMES);
    assert_eq!(counted(&handle, "kept", &[]), THREADS * TIMES);
    for n in 0..50 {
        assert_eq!(counted(&handle, "made", &[("n", &n.to_string())]), THREADS * TIMES / 50);
    }
    for thread in 0..THREADS {
        assert_eq!(counted(&handle, "own", &[("thread", &thread.to_string())]), 3 * TIMES);
    }
    let snapshot = handle.snapshot();
    assert_eq!(snapshot.get("open", &[]), Some(&Value::Gauge((THREADS * TIMES) as f64)));
    let Some(Value::Histogram(values)) = snapshot.get("values", &[]) else { panic!() };
    let quarter = THREADS * TIMES / 4;
    let buckets: Vec<_> = values.buckets().map(|(_, count)| count).collect();
    assert_eq!(buckets, [quarter, 2 * quarter, 3 * quarter, 4 * quarter]);
    assert_eq!(values.sum(), (8 * quarter) as f64);
    let Some(Value::Histogram(values)) = snapshot.get("cells_values", &[]) else { panic!() };
    let cells: Vec<_> = values.cells().expect("cells").cells().map(|(_, count)| count).collect();
    assert_eq!((cells, values.sum()), (vec![quarter; 4], (8 * quarter) as f64));
    assert_eq!(snapshot.problems(), []);
}

#[test]
fn short_lived_threads_leave_all_they_counted() {
    let recorder = recorder();
    for _ in 0..100 {
        at_once(&recorder, |thread| {
            counter!("all").increment(1);
            counter!("of", "thread" => thread.to_string()).increment(1);
        });
    }
    let handle = recorder.handle();
    assert_eq!(counted(&handle, "all", &[]), 100 * THREADS);
    assert_eq!(counted(&handle, "of", &[("thread", "0")]), 100);
}

#[test]
fn a_counter_reaches_what_many_absolutes_ask_for_and_no_more() {
    let recorder = recorder();
    let handle = recorder.handle();
    for round in 1..200 {
        at_once(&recorder, |thread| {
            counter!("absolute").absolute(10 * round);
            counter!("absolute").absolute(10 * round - thread);
        });
        assert_eq!(counted(&handle, "absolute", &[]), 10 * round);
    }
}

#[test]
fn a_key_that_many_threads_see_first_has_one_place() {
    const KEYS: usize = 5_000;
    let recorder = recorder();
    at_once(&recorder, |_| {
        (0..KEYS).for_each(|n| counter!("new", "n" => n.to_string()).absolute(7));
    });
    let snapshot = recorder.handle().snapshot();
    let series = &snapshot.families()[0].series;
    assert_eq!(series.len(), KEYS);
    for series in series {
        assert_eq!(series.value, Value::Counter(7), "{series:?}");
    }
}

#[test]
fn a_text_that_is_rendered_beside_adds_is_sound_and_never_goes_back() {
    let recorder = recorder();
    let handle = recorder.handle();
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        let reading = scope.spawn(|| {
            let (mut before, mut renders) = ([0.0; 2], 0);
            while !done.load(Ordering::Relaxed) {
                let text = strict_reader::read(&handle.render()).expect("a sound text");
                let get = |name, labels: &[_]| text.get(name, labels).unwrap_or(0.0);
                let (count, sum) = (get("values_count", &[]), get("values_sum", &[]));
                let now = [get("one", &[]), count];
                assert!(now[0] >= before[0] && now[1] >= before[1], "{before:?}, {now:?}");
                assert!(sum >= count * 0.5, "{count} values of 0.5 and 1.5 have the sum {sum}");
                (before, renders) = (now, renders + 1);
            }
            renders
        });
        at_once(&recorder, |thread| {
            for n in 0..5_000_u64 {
                counter!("one").increment(1);
                histogram!("values").record((n % 2) as f64 + 0.5);
                counter!("new", "n" => (n / 20).to_string(), "t" => thread.to_string())
                    .increment(1);
            }
        });
        done.store(true, Ordering::Relaxed);
        assert!(reading.join().expect("no reader panics") > 0);
    });
    assert_eq!(counted(&handle, "one", &[]), 5_000 * THREADS);
}

/// Returns a recorder that has counted.
fn short_lived() -> Recorder {
    let recorder = recorder();
    metrics::with_local_recorder(&recorder, || counter!("x").increment(5));
    assert_eq!(counted(&recorder.handle(), "x", &[]), 5);
    recorder
}

#[test]
fn recorders_that_come_and_go_on_one_thread_do_not_mix() {
    let long = recorder();
    for n in 0..2_000 {
        let short = recorder();
        let handle = short.handle();
        metrics::with_local_recorder(&long, || {
            counter!("x").increment(1);
            metrics::with_local_recorder(&short, || {
                counter!("x").increment(2);
                drop(short_lived());
            });
            counter!("x").increment(1);
        });
        drop(short);
        assert_eq!(counted(&handle, "x", &[]), 2, "{n}");
    }
    assert_eq!(counted(&long.handle(), "x", &[]), 4_000);
}

#[test]
fn a_handle_counts_on_after_its_recorder_is_gone() {
    let recorder = recorder();
    let handle = recorder.handle();
    let kept = metrics::with_local_recorder(&recorder, || counter!("x"));
    drop(recorder);
    thread::scope(|scope| {
        for kept in [kept.clone(), kept] {
            scope.spawn(move || (0..1_000).for_each(|_| kept.increment(1)));
        }
    });
    assert_eq!(counted(&handle, "x", &[]), 2_000);
}
