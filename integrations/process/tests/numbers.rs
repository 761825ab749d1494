//! The numbers of this process are true, as far as it can know them by itself.

use std::collections::BTreeMap;
use std::fs::File;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use windrow::export::{Catalog, PartKind, Value};

/// Reads all numbers by name, once the last reading is over.
fn numbers(catalog: &Catalog) -> BTreeMap<String, f64> {
    thread::sleep(Duration::from_millis(150));
    let mut numbers = BTreeMap::new();
    for listed in catalog {
        listed.source.visit(&mut |series| {
            let reading = series.metric().read();
            for part in reading.form.parts() {
                reading.samples(part, &mut |sample| {
                    let (number, kind) = match sample.value {
                        Value::Real(number) => (number, PartKind::RealGauge),
                        Value::RealTotal(number) => (number, PartKind::RealCounter),
                        other => panic!("{other:?}"),
                    };
                    assert_eq!(kind, part.kind);
                    numbers.insert(listed.name.clone(), number);
                });
            }
        });
    }
    numbers
}

#[cfg(target_os = "linux")] // macOS, Windows and FreeBSD have most of them
#[test]
fn the_process_sees_itself() {
    let mut catalog = Catalog::new();
    windrow_process::add_to(&mut catalog).unwrap();
    let before = numbers(&catalog);
    let of = |name: &str| before[&format!("process_{name}")];

    assert!(of("resident_memory_bytes") > 100_000.0);
    assert!(of("virtual_memory_bytes") >= of("resident_memory_bytes"));
    assert!(of("open_fds") >= 3.0 && of("threads") >= 1.0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
    assert!(of("start_time_seconds") <= now && of("start_time_seconds") > now - 3_600.0);

    // A tenth of a second of work, 64 MiB, three descriptors and four threads more.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_millis(200) {
        std::hint::black_box(begun);
    }
    let memory = vec![7_u8; 64 << 20];
    let files = [(); 3].map(|()| File::open("/dev/null").unwrap());
    let threads = [(); 4].map(|()| thread::spawn(thread::park));
    let after = numbers(&catalog);
    let more = |name: &str| after[&format!("process_{name}")] - of(name);
    assert!(more("cpu_seconds") > 0.0 && more("cpu_seconds") < 60.0, "{}", more("cpu_seconds"));
    assert!(more("resident_memory_bytes") > 60e6, "{}", more("resident_memory_bytes"));
    assert!(more("open_fds") >= 3.0 && more("threads") >= 4.0);
    assert!(more("start_time_seconds").abs() < 0.001);
    drop((memory, files));
    for thread in threads {
        thread.thread().unpark();
        thread.join().unwrap();
    }
}

#[test]
fn each_number_has_a_name_and_a_unit() {
    let mut catalog = Catalog::new();
    windrow_process::add_to(&mut catalog).unwrap();
    let units: Vec<_> =
        catalog.iter().map(|metric| (metric.name.as_str(), metric.unit.as_str())).collect();
    assert_eq!(units.len(), 8);
    assert!(units.contains(&("process_cpu_seconds", "s")));
    assert!(units.contains(&("process_open_fds", "")));
}
