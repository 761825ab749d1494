//! A file as the source of an exporter.

use std::time::Duration;

use windrow::export::{Catalog, Form, Value};
use windrow_mapped::{File, FileSource, Reader};

use crate::forked::{fork, has_succeeded};

/// A metric of the program's own.
static OWN: windrow::Counter = windrow::Counter::new();

/// A series as text: `name{label=value} sum`.
fn shown(catalog: &Catalog) -> Vec<String> {
    let mut lines = Vec::new();
    for metric in catalog {
        metric.source.visit(&mut |series| {
            let mut labels = Vec::new();
            series.labels(&mut |label, value| labels.push(format!("{label}={value}")));
            let reading = series.metric().read();
            for part in reading.form.parts() {
                reading.samples(part, &mut |sample| {
                    let value = match sample.value {
                        Value::Count(count) => count.to_string(),
                        Value::Real(value) => format!("{value:.1}"),
                        _ => panic!("no other values are exported"),
                    };
                    lines.push(format!("{}{{{}}} {value}", metric.name, labels.join(",")));
                });
            }
        });
    }
    lines
}

#[test]
fn a_catalog_has_the_metrics_of_a_file_beside_its_own() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    file.counter("calls", &[("route", "cart"), ("code", "200")]).unwrap().add(3);
    file.counter("calls", &[("route", "pay")]).unwrap().add(4);
    file.counter("own", &[]).unwrap().add(5);
    file.maximum("plain", &[]).unwrap().record(6);

    let mut catalog = Catalog::new();
    catalog.add("own", "One of the program's own", &OWN).unwrap();
    let source = FileSource::new(Reader::open(&path).unwrap());
    assert_eq!(source.add_to(&mut catalog).unwrap(), 2);
    let expected = ["own{} 0", "calls{code=200,route=cart} 3", "calls{route=pay} 4", "plain{} 6.0"];
    assert_eq!(shown(&catalog), expected);
    let outline = catalog.iter().nth(1).unwrap().source.outline();
    assert_eq!(
        (outline.form, &*outline.labels),
        (Form::Counter, &["code", "route"].map(String::from)[..])
    );

    // New series of a name come by themselves, new names when they are asked for.
    file.counter("calls", &[]).unwrap().add(1);
    file.counter("new", &[]).unwrap().add(2);
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while shown(&catalog).len() < 5 {
        assert!(std::time::Instant::now() < deadline, "the reading stays old");
        std::thread::yield_now();
    }
    assert_eq!(shown(&catalog)[3], "calls{} 1");
    assert_eq!(source.add_to(&mut catalog).unwrap(), 1);
    assert_eq!(shown(&catalog)[5], "new{} 2");
    assert!(source.error().is_none());
}

/// An exporter that is started anew is not a restart of the counters: a backend that heeds start
/// times would add all of them once more.
#[test]
fn a_counter_starts_with_its_file_and_a_window_with_its_reader() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    File::open(&path).unwrap().counter("calls", &[]).unwrap().add(3);
    let created = std::fs::metadata(&path).unwrap().created().ok();

    let minute = Duration::from_secs(60);
    let whole = FileSource::new(Reader::open(&path).unwrap());
    let windows = FileSource::with_windows(Reader::open(&path).unwrap(), minute, 60).unwrap();
    for (source, expected) in [(whole, created), (windows, None)] {
        let mut catalog = Catalog::new();
        assert_eq!(source.add_to(&mut catalog).unwrap(), 1);
        let calls = catalog.iter().next().unwrap();
        calls.source.visit(&mut |series| assert_eq!(series.created(), expected));
    }
}

#[test]
fn levels_of_the_living_and_of_the_dead_have_names_of_their_own() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    for (label, level) in [("a", 3), ("b", -2)] {
        let gauge = file.gauge("open", &[("of", label)]).unwrap();
        gauge.add(level);
        assert!(has_succeeded(fork(|| {
            gauge.add(10 * level);
            true
        })));
    }
    let calls = file.in_flight("calls", &[]).unwrap();
    let _guard = calls.enter();
    file.counter("calls_dead", &[]).unwrap().add(4); // has the name that it has
    let mut catalog = Catalog::new();
    let source = FileSource::new(Reader::open(&path).unwrap());
    assert_eq!(source.add_to(&mut catalog).unwrap(), 4);
    let expected = [
        "open{of=a} 3.0",
        "open{of=b} -2.0",
        "calls{} 1.0",
        "calls_dead{} 4",
        "open_dead{of=a} 30.0",
        "open_dead{of=b} -20.0",
    ];
    assert_eq!(shown(&catalog), expected);
    let forms: Vec<Form> = catalog.iter().map(|metric| metric.source.outline().form).collect();
    assert_eq!(forms, [Form::Real, Form::Real, Form::Counter, Form::Real]);
    assert_eq!(source.add_to(&mut catalog).unwrap(), 0);
    // Two series of a name have two numbers.
    let mut numbers = Vec::new();
    catalog.iter().next().unwrap().source.visit(&mut |series| numbers.push(series.number()));
    assert_ne!(numbers[0], numbers[1]);
}

#[test]
fn numbers_of_series_are_unique_and_stay() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    for label in ["a", "b"] {
        file.counter("calls", &[("label", label)]).unwrap();
    }
    let numbers = || {
        let mut catalog = Catalog::new();
        FileSource::new(Reader::open(&path).unwrap()).add_to(&mut catalog).unwrap();
        let mut numbers = Vec::new();
        catalog.iter().next().unwrap().source.visit(&mut |series| numbers.push(series.number()));
        numbers
    };
    let first = numbers();
    assert_eq!(first.len(), 2);
    assert_ne!(first[0], first[1]);
    file.counter("calls", &[]).unwrap();
    assert_eq!(numbers()[..2], first);
}

#[test]
fn several_files_are_told_apart_by_a_label() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [blue, green] = ["blue", "green"].map(|name| folder.path().join(name));
    for (path, calls) in [(&blue, 3), (&green, 4)] {
        let file = File::open(path).unwrap();
        file.counter("calls", &[("route", "cart")]).unwrap().add(calls);
    }
    let other = File::open(&green).unwrap();
    other.counter("calls", &[("file", "own"), ("exported_file", "both")]).unwrap().add(5);
    other.counter("green_alone", &[]).unwrap().add(6);
    // A name has one kind: that of the first file.
    File::open(&blue).unwrap().gauge("level", &[]).unwrap().add(7);
    other.counter("level", &[]).unwrap().add(8);

    let readers = [&blue, &green].map(|path| Reader::open(path).unwrap());
    let [first, second] = readers;
    let mut catalog = Catalog::new();
    let source = FileSource::several("file", [("a", first), ("b", second)]).unwrap();
    assert_eq!(source.add_to(&mut catalog).unwrap(), 4);
    let expected = [
        "calls{file=a,route=cart} 3",
        "calls{file=b,route=cart} 4",
        "calls{file=b,exported_exported_file=both,exported_file=own} 5",
        "level{file=a} 7.0",
        "green_alone{file=b} 6",
        "level_dead{file=a} 0.0",
    ];
    assert_eq!(shown(&catalog), expected);
    let labels = catalog.iter().next().unwrap().source.outline().labels;
    assert_eq!(labels[..], ["exported_exported_file", "exported_file", "file", "route"]);
    let mut numbers = Vec::new();
    for metric in &catalog {
        metric.source.visit(&mut |series| numbers.push(series.number()));
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 5); // both parts of a level have that of the level

    // A file that cannot be read leaves the others.
    let cut = std::fs::OpenOptions::new().write(true).open(&blue).unwrap();
    cut.set_len(0).unwrap();
    let deadline = std::time::Instant::now() + Duration::from_secs(60);
    while source.error().is_none() {
        assert!(std::time::Instant::now() < deadline, "the reading stays old");
        std::thread::yield_now();
    }
    assert_eq!(shown(&catalog), [expected[1], expected[2], expected[4]]);
    assert!(FileSource::several("", [("a", Reader::open(&green).unwrap())]).is_err());
}
