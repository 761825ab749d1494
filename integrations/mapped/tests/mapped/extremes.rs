//! Maxima and minima of several processes.

use windrow_mapped::{File, Kind, MappedError, Reader, Value};

use crate::child;

const CHILD: &str = "extremes::the_child_records";

/// Runs in a child: records the numbers of its part, in no order.
#[test]
fn the_child_records() {
    let Some((path, part)) = child::task() else { return };
    let part: u64 = part.parse().unwrap();
    let file = File::open(path).unwrap();
    let (max, min) = (file.maximum("max", &[]).unwrap(), file.minimum("min", &[]).unwrap());
    let (mut highest, mut lowest) = (0, u64::MAX);
    for number in 0..100_000_u64 {
        let value = 1_000_000 * part + number * 7_919 % 100_003 + 5;
        max.record(value);
        min.record(value);
        (highest, lowest) = (highest.max(value), lowest.min(value));
        assert!(max.get().unwrap() >= highest && min.get().unwrap() <= lowest);
    }
}

#[test]
fn processes_that_record_at_once_lose_no_extreme() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let mut children = ["1", "2", "3"].map(|part| {
        let mut command = child::command(CHILD, &path, part);
        if part == "2" {
            command.env("GLIBC_TUNABLES", "glibc.pthread.rseq=0");
        }
        command.spawn().unwrap()
    });
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let all = (0..100_000_u64).map(|number| number * 7_919 % 100_003 + 5);
    let (highest, lowest) = (all.clone().max().unwrap(), all.min().unwrap());
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let value = |name| reading.get(name, &[]).unwrap().unwrap().value();
    assert_eq!(value("max"), Value::Extreme(Some(3_000_000 + highest)));
    assert_eq!(value("min"), Value::Extreme(Some(1_000_000 + lowest)));
}

#[test]
fn all_values_can_be_extremes_and_none_is_none() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    let reader = Reader::open(&path).unwrap();
    for (number, value) in [0, 1, u64::MAX - 1, u64::MAX].into_iter().enumerate() {
        let label = [("number", &*number.to_string())];
        let max = file.maximum("max", &label).unwrap();
        let min = file.minimum("min", &label).unwrap();
        let read = |name| {
            let reading = reader.read().unwrap();
            reading.get(name, &label).unwrap().unwrap().value()
        };
        assert_eq!((max.get(), min.get()), (None, None));
        assert_eq!([read("max"), read("min")], [Value::Extreme(None); 2]);
        max.record(value);
        min.record(value);
        assert_eq!((max.get(), min.get()), (Some(value), Some(value)));
        assert_eq!([read("max"), read("min")], [Value::Extreme(Some(value)); 2]);
    }
}

#[test]
fn extremes_are_read_in_each_segment_beside_counters() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().columns(20_000).open(&path).unwrap();
    for number in 0..6_000_u64 {
        let name = number.to_string();
        file.counter(&name, &[]).unwrap().add(number);
        file.maximum(&format!("max {name}"), &[]).unwrap().record(number);
    }
    let reading = Reader::open(&path).unwrap().read().unwrap();
    for number in 0..6_000 {
        let value = |name: &str| reading.get(name, &[]).unwrap().unwrap().value();
        assert_eq!(value(&number.to_string()), Value::Count(number));
        assert_eq!(value(&format!("max {number}")), Value::Extreme(Some(number)));
    }
}

#[test]
fn a_name_has_one_kind_whatever_its_labels() {
    let file = File::builder().columns(512).sealed().unwrap();
    file.maximum("a", &[("label", "1")]).unwrap();
    for labels in [&[("label", "1")][..], &[]] {
        let error = file.counter("a", labels).map(drop).unwrap_err();
        assert!(
            matches!(error, MappedError::OtherKind { found: Some(Kind::Maximum), .. }),
            "{error}"
        );
    }
    file.maximum("a", &[]).unwrap();
}
