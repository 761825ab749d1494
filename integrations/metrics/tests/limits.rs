//! Keys that clients can choose freely: memory stays bounded, and nothing is lost without a report.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};
use std::thread;

use metrics::{counter, gauge, histogram};
use windrow_metrics::{Kind, Problem, Recorder, Snapshot, Value};

/// The bytes that are allocated and not freed.
static BYTES: AtomicIsize = AtomicIsize::new(0);

struct Counting;

// SAFETY: hands on to the system's allocator, and counts beside it.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        BYTES.fetch_add(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        BYTES.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Tests here look at the bytes of the process: one at a time.
static ALONE: Mutex<()> = Mutex::new(());

fn total(snapshot: &Snapshot, name: &str) -> u64 {
    let family = snapshot.families().iter().find(|family| family.name == name);
    let series = family.into_iter().flat_map(|family| &family.series);
    let count = |value: &Value| match value {
        Value::Counter(n) => *n,
        Value::Histogram(values) => values.count(),
        other => panic!("{other:?}"),
    };
    series.map(|series| count(&series.value)).sum()
}

#[test]
fn four_hundred_thousand_paths_take_no_more_memory_than_ten_thousand() {
    let _alone = ALONE.lock();
    let recorder = Recorder::builder().build().expect("sound settings");
    metrics::with_local_recorder(&recorder, || {
        let count = |n: u32| counter!("requests", "path" => format!("/{n:x}.php")).increment(1);
        (0..20_000).for_each(count);
        let before = BYTES.load(Ordering::Relaxed);
        (20_000..400_000).for_each(count);
        let more = BYTES.load(Ordering::Relaxed) - before;
        assert!(more < 4_096, "{more} bytes more");
        counter!("others").increment(1);
    });
    let snapshot = recorder.handle().snapshot();
    assert_eq!(snapshot.families().iter().map(|family| family.series.len()).sum::<usize>(), 10_003);
    assert_eq!(total(&snapshot, "requests"), 400_000);
    let overflow = snapshot.get("requests", &[("overflow", "true")]);
    assert_eq!(overflow, Some(&Value::Counter(390_000)));
    assert_eq!(total(&snapshot, "others"), 1);
    assert_eq!(snapshot.problems(), [Problem::Refused { kind: Kind::Counter, calls: 390_000 }]);
    let told = snapshot.get("windrow_metrics_refused_total", &[("kind", "counter")]);
    assert_eq!(told, Some(&Value::Counter(390_000)));
}

#[test]
fn a_thread_keeps_32_kib_at_most_however_many_keys_it_uses() {
    const KEYS: u32 = 20_000;
    let _alone = ALONE.lock();
    let recorder = Recorder::builder().keys_per_name(200_000).build().expect("sound settings");
    let count = || {
        for n in 0..KEYS {
            counter!("c", "path" => format!("/{n}")).increment(1);
            gauge!("g", "path" => format!("/{n}")).set(1);
            histogram!("h", "path" => format!("/{n}")).record(1);
            // As long a name as is kept, and a longer one.
            metrics::describe_counter!(format!("{n:_>56}"), "Described.");
            metrics::describe_counter!(format!("{n:_>57}"), "Described.");
        }
    };
    let kept = || {
        let before = BYTES.load(Ordering::Relaxed);
        metrics::with_local_recorder(&recorder, count);
        BYTES.load(Ordering::Relaxed) - before
    };
    // Another thread has made the series.
    thread::scope(|scope| drop(scope.spawn(kept).join()));
    let kept = thread::scope(|scope| scope.spawn(kept).join()).expect("no thread panics");
    // 192 slots of 32 bytes, and for each a handle of 128, or a name of that size.
    assert_eq!(kept, 192 * (32 + 128));
    assert!(kept <= 32_768);
}

#[test]
fn many_threads_beyond_the_limit_lose_nothing() {
    let _alone = ALONE.lock();
    let recorder = Recorder::builder()
        .keys_per_name(20)
        .global_label("zone", "eu")
        .build()
        .expect("sound settings");
    thread::scope(|scope| {
        for thread in 0..4 {
            let recorder = &recorder;
            scope.spawn(move || {
                metrics::with_local_recorder(recorder, || {
                    for n in 0..5_000 {
                        let path = format!("/{thread}/{}", n % 100);
                        counter!("c", "path" => path.clone()).increment(1);
                        histogram!("h", "path" => path).record(1);
                    }
                });
            });
        }
    });
    let snapshot = recorder.handle().snapshot();
    assert_eq!((total(&snapshot, "c"), total(&snapshot, "h")), (20_000, 20_000));
    for family in snapshot.families().iter().filter(|family| family.name.len() == 1) {
        assert_eq!(family.series.len(), 21);
        assert!(family.series.iter().all(|series| series.label("zone") == Some("eu")));
    }
}

#[test]
fn names_beyond_the_limit_count_together_by_kind() {
    let _alone = ALONE.lock();
    let recorder = Recorder::builder().keys(10).build().expect("sound settings");
    metrics::with_local_recorder(&recorder, || {
        for n in 0..100 {
            counter!(format!("c{n}")).increment(1);
            histogram!(format!("h{n}")).record(1);
            gauge!(format!("g{n}")).set(1);
            metrics::describe_counter!(format!("c{n}"), "One of many.");
        }
        counter!("c0").increment(1);
        counter!("c0", "path" => "/").increment(1);
        counter!("c0", "path" => "/").absolute(1_000);
    });
    let snapshot = recorder.handle().snapshot();
    let overflow = [("overflow", "true")];
    let counters = snapshot.get("windrow_metrics_overflow_counter", &overflow);
    assert_eq!(counters, Some(&Value::Counter(96)));
    assert_eq!(total(&snapshot, "windrow_metrics_overflow_histogram"), 97);
    assert_eq!(snapshot.get("c0", &[]), Some(&Value::Counter(2)));
    // `absolute` of a refused key is not counted: nothing remembers the key.
    assert_eq!(snapshot.get("c0", &overflow), Some(&Value::Counter(1)));
    let refused = |kind, calls| Problem::Refused { kind, calls };
    assert_eq!(
        snapshot.problems(),
        [
            refused(Kind::Counter, 98),
            refused(Kind::Gauge, 97),
            refused(Kind::Histogram, 97),
            Problem::Dropped { kind: Kind::Counter, updates: 1 },
            Problem::Dropped { kind: Kind::Gauge, updates: 97 },
        ]
    );
}

#[test]
fn a_recorder_that_is_gone_leaves_no_memory_but_what_threads_keep() {
    let _alone = ALONE.lock();
    let once = || {
        let recorder = Recorder::builder().build().expect("sound settings");
        thread::scope(|scope| {
            let recorder = &recorder;
            scope.spawn(move || {
                metrics::with_local_recorder(recorder, || {
                    for n in 0..3_000 {
                        counter!("c", "n" => n.to_string()).increment(1);
                        histogram!("h", "n" => n.to_string()).record(1);
                    }
                });
            });
        });
        assert_eq!(total(&recorder.handle().snapshot(), "h"), 3_000);
    };
    once();
    let before = BYTES.load(Ordering::Relaxed);
    (0..3).for_each(|_| once());
    let more = BYTES.load(Ordering::Relaxed) - before;
    assert!(more < 65_536, "{more} bytes more");
}
