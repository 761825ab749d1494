//! Histograms: of several processes, of each scale, and beside those of the library.

use std::time::Duration;

use windrow::export::{AnyMetric, Catalog, Form};
use windrow_mapped::{
    Distribution, File, FileSource, Histogram, Kind, MappedError, Reader, Scale, Value,
};

use crate::child;

const CHILD: &str = "histograms::the_child_records";

/// The records of each process.
const RECORDS: u64 = 100_000;

fn value(number: u64) -> u64 {
    number * number * 7_919 % 2_000_003
}

/// Runs in a child: records by two threads.
#[test]
fn the_child_records() {
    let Some((path, task)) = child::task() else { return };
    let first: u64 = task.parse().unwrap();
    let file = File::open(path).unwrap();
    let values = file.histogram("values", Scale::DEFAULT, &[]).unwrap();
    std::thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || {
                let own = (first..first + RECORDS).filter(|number| number % 2 == half);
                own.for_each(|number| values.record(value(number)));
            });
        }
    });
}

#[test]
fn records_of_several_processes_are_exact_to_the_unit() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let mut children = [0, 1, 2].map(|number| {
        let mut command = child::command(CHILD, &path, &(number * RECORDS).to_string());
        if number == 1 {
            command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
        }
        command.spawn().unwrap()
    });
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let own = windrow::Histogram::new();
    (0..3 * RECORDS).for_each(|number| own.record(value(number)));
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let metric = reading.get("values", &[]).unwrap().unwrap();
    let read = metric.distribution().unwrap();
    let (count, sum) = (3 * RECORDS, own.sum());
    assert_eq!(metric.value(), Value::Values { count, sum });
    is_same(&read, &own.distribution());
    let file = File::open(&path).unwrap();
    is_same(&file.histogram("values", Scale::DEFAULT, &[]).unwrap().distribution(), &read);
}

/// Checks that two distributions have the same cells and the same sum.
fn is_same(one: &Distribution, other: &Distribution) {
    assert!(one.cells().eq(other.cells()), "{one:?} is not {other:?}");
    assert_eq!((one.count(), one.sum(), one.scale()), (other.count(), other.sum(), other.scale()));
}

#[test]
fn each_scale_has_the_cells_of_the_library() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().columns(30_000).open(&path).unwrap();
    let ranges =
        [(1, 1), (1, 1000), (513, 1 << 36), (1, u64::MAX), (1 << 63, u64::MAX), (2, 1 << 63)];
    let mut all: Vec<(Scale, Histogram, windrow::Histogram)> = Vec::new();
    for schema in 0..=5 {
        for (min, max) in ranges {
            let scale = Scale::new(schema, min, max).unwrap();
            let name = format!("{scale:?}");
            let own = windrow::Histogram::with_scale(scale);
            all.push((scale, file.histogram(&name, scale, &[]).unwrap(), own));
        }
    }
    // Some of them lie in two segments of columns.
    let columns: usize = all.iter().map(|(scale, ..)| scale.cells() + 3).sum();
    assert!(columns > 8_192, "{columns}");
    for (_, mapped, own) in &all {
        for power in 0..64 {
            for value in [1 << power, (1 << power) - 1, (1 << power) + 1, 3 << power] {
                mapped.record(value);
                own.record(value);
            }
        }
        mapped.record(u64::MAX); // no part of the sum, as all values from 2^60 on
        own.record(u64::MAX);
    }
    let reader = Reader::open(&path).unwrap();
    let reading = reader.read().unwrap();
    for (scale, mapped, own) in &all {
        assert_eq!(mapped.scale(), *scale);
        is_same(&mapped.distribution(), &own.distribution());
        let metric = reading.get(&format!("{scale:?}"), &[]).unwrap().unwrap();
        is_same(&metric.distribution().unwrap(), &own.distribution());
    }
}

#[test]
fn a_duration_is_recorded_as_its_nanoseconds() {
    let file = File::builder().columns(512).sealed().unwrap();
    let values = file.histogram("values", Scale::DEFAULT, &[]).unwrap();
    let (max, min) = (file.maximum("max", &[]).unwrap(), file.minimum("min", &[]).unwrap());
    for time in [Duration::from_micros(3), Duration::new(2, 5), Duration::MAX] {
        values.record(time);
        max.record(time);
        min.record(time);
    }
    let found = values.distribution(); // a value from 2^60 on is no part of the sum
    assert_eq!((found.count(), found.sum()), (3, 2_000_003_005));
    assert_eq!((min.get(), max.get()), (Some(3_000), Some(u64::MAX)));
}

#[test]
fn a_name_has_one_scale_whatever_its_labels() {
    let file = File::builder().columns(2_048).sealed().unwrap();
    let (found, wanted) = (Scale::DEFAULT, Scale::new(2, 1, 1 << 30).unwrap());
    file.histogram("a", found, &[("label", "1")]).unwrap().record(1_000);
    for labels in [&[("label", "1")][..], &[]] {
        match file.histogram("a", wanted, labels).unwrap_err() {
            MappedError::OtherKind { name, found: there, wanted: other } => {
                let [found, wanted] = [found, wanted].map(Kind::Histogram);
                assert_eq!((&*name, there, other), ("a", Some(found), wanted));
            }
            error => panic!("{error}"),
        }
        let error = file.counter("a", labels).unwrap_err();
        assert!(matches!(error, MappedError::OtherKind { found: Some(Kind::Histogram(_)), .. }));
    }
    assert_eq!(file.histogram("a", found, &[("label", "1")]).unwrap().distribution().count(), 1);
    file.histogram("a", found, &[]).unwrap();
    file.histogram("b", wanted, &[]).unwrap();
}

#[test]
fn a_histogram_has_the_exported_buckets_of_the_library() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    let own = windrow::Histogram::new();
    for (label, values) in [("one", [1_000, 5_000]), ("two", [700, 90_000_000_000])] {
        let mapped = file.histogram("latency", Scale::DEFAULT, &[("label", label)]).unwrap();
        for value in values {
            mapped.record(value);
            own.record(value);
        }
    }
    let mut catalog = Catalog::new();
    FileSource::new(Reader::open(&path).unwrap()).add_to(&mut catalog).unwrap();
    let listed = catalog.iter().next().unwrap();
    assert_eq!(listed.source.outline().form, Form::Histogram(Scale::DEFAULT));
    let mut all = Distribution::default();
    listed.source.visit(&mut |series| match series.metric() {
        AnyMetric::Distribution(values) => all.merge(values).unwrap(),
        _ => panic!("a histogram is one"),
    });
    is_same(&all, &own.distribution());
    let octaves = || Scale::DEFAULT.octaves();
    assert!(all.buckets(octaves()).eq(own.distribution().buckets(octaves())));
}
