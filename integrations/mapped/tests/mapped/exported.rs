//! A file as the source of an exporter.

use windrow::export::{Catalog, Form, Value};
use windrow_mapped::{File, FileSource, Reader};

/// A metric of the program's own.
static OWN: windrow::Counter = windrow::Counter::new();

/// A series as text: `name{label=value} sum`.
fn shown(catalog: &Catalog) -> Vec<String> {
    let mut lines = Vec::new();
    for metric in catalog {
        metric.source().visit(&mut |series| {
            let mut labels = Vec::new();
            series.labels(&mut |label, value| labels.push(format!("{label}={value}")));
            let reading = series.metric().read();
            for part in reading.parts() {
                reading.samples(part, &mut |sample| {
                    let value = match sample.value {
                        Value::Count(count) => count.to_string(),
                        Value::Real(value) => format!("{value:.1}"),
                        _ => panic!("no other values are exported"),
                    };
                    lines.push(format!("{}{{{}}} {value}", metric.name(), labels.join(",")));
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
    let outline = catalog.iter().nth(1).unwrap().outline();
    assert_eq!(
        (outline.form, &*outline.labels),
        (Form::Counter, &["code", "route"].map(String::from)[..])
    );

    // New series of a name come by themselves, new names when they are asked for.
    file.counter("calls", &[]).unwrap().add(1);
    file.counter("new", &[]).unwrap().add(2);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while shown(&catalog).len() < 5 {
        assert!(std::time::Instant::now() < deadline, "the reading stays old");
        std::thread::yield_now();
    }
    assert_eq!(shown(&catalog)[3], "calls{} 1");
    assert_eq!(source.add_to(&mut catalog).unwrap(), 1);
    assert_eq!(shown(&catalog)[5], "new{} 2");
    assert!(source.error().is_none());
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
        catalog.iter().next().unwrap().source().visit(&mut |series| numbers.push(series.number()));
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

    let readers = [&blue, &green].map(|path| Reader::open(path).unwrap());
    let [first, second] = readers;
    let mut catalog = Catalog::new();
    let source = FileSource::several("file", [("a", first), ("b", second)]).unwrap();
    assert_eq!(source.add_to(&mut catalog).unwrap(), 2);
    let expected = [
        "calls{file=a,route=cart} 3",
        "calls{file=b,route=cart} 4",
        "calls{file=b,exported_exported_file=both,exported_file=own} 5",
        "green_alone{file=b} 6",
    ];
    assert_eq!(shown(&catalog), expected);
    let labels = &catalog.iter().next().unwrap().outline().labels;
    assert_eq!(labels[..], ["exported_exported_file", "exported_file", "file", "route"]);
    let mut numbers = Vec::new();
    for metric in &catalog {
        metric.source().visit(&mut |series| numbers.push(series.number()));
    }
    numbers.sort_unstable();
    numbers.dedup();
    assert_eq!(numbers.len(), 4);

    // A file that cannot be read leaves the others.
    let cut = std::fs::OpenOptions::new().write(true).open(&blue).unwrap();
    cut.set_len(0).unwrap();
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while source.error().is_none() {
        assert!(std::time::Instant::now() < deadline, "the reading stays old");
        std::thread::yield_now();
    }
    assert_eq!(shown(&catalog), expected[1..]);
    assert!(FileSource::several("", [("a", Reader::open(&green).unwrap())]).is_err());
}
