//! The memory of a file, by the formula that its documentation has.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use windrow_mapped::{File, Scale};

use crate::forked::{fork, has_succeeded};

const PAGE: u64 = 4096;

/// Returns the bytes that the file system has given the file.
fn claimed(path: &Path) -> u64 {
    fs::metadata(path).unwrap().blocks() * 512
}

#[test]
fn memory_is_that_of_the_header_the_names_and_the_rows() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().locked_rows(3).open(&path).unwrap();
    assert_eq!(claimed(&path), PAGE);
    let possible = fs::read_to_string("/sys/devices/system/cpu/possible").unwrap();
    let last: u64 = possible.trim().rsplit(['-', ',']).next().unwrap().parse().unwrap();
    let rows = last + 1 + 3;
    let mut names = 0;
    for counters in 1..=1_200 {
        let name = format!("name_{counters}");
        file.counter(&name, &[]).unwrap().add(1);
        names += (16 + name.len() as u64).next_multiple_of(8);
        let columns = u64::div_ceil(counters, 512);
        let expected = PAGE + names.next_multiple_of(PAGE) + columns * rows * PAGE;
        assert_eq!(claimed(&path), expected, "{counters} counters");
    }
}

#[test]
fn a_slot_takes_its_words_and_a_page_of_states() {
    for (gauges, slot) in [(63, 512), (7, 64), (600, 4_864)] {
        let folder = tempfile::tempdir_in("/dev/shm").unwrap();
        let path = folder.path().join("f");
        let file = File::builder().gauges(gauges).owners(20).open(&path).unwrap();
        for gauge in 0..gauges {
            let name = gauge.to_string();
            if gauge % 2 == 0 {
                file.gauge(&name, &[]).unwrap().add(1);
            } else {
                std::mem::forget(file.in_flight(&name, &[]).unwrap().enter());
            }
            let names: u64 = (0..=gauge)
                .map(|n| (16 + n.to_string().len() as u64).next_multiple_of(8) + 8)
                .sum();
            let head = PAGE + names.next_multiple_of(PAGE) + PAGE;
            assert_eq!(claimed(&path), head + u64::next_multiple_of(slot, PAGE), "{gauge}");
        }
        // The next processes have the slots behind it.
        let before = claimed(&path) - u64::next_multiple_of(slot, PAGE);
        for owners in 2..=18 {
            let gauge = file.gauge("0", &[]).unwrap();
            // Each leaves something, so that the next one takes another slot.
            assert!(has_succeeded(fork(|| {
                gauge.add(1);
                true
            })));
            assert_eq!(claimed(&path), before + (owners * slot).next_multiple_of(PAGE));
        }
    }
}

#[test]
fn a_histogram_takes_its_places_and_a_column_for_the_sum() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().locked_rows(3).open(&path).unwrap();
    let rows = (claimed_by_a_counter(folder.path()) - 2 * PAGE) / PAGE - 4 + 3;
    let mut columns = 0;
    for number in 0..40_u64 {
        let scale = Scale::new((number % 6) as u8, 1, 1 << (number % 64)).unwrap();
        file.histogram(&number.to_string(), scale, &[]).unwrap();
        columns += scale.cells() as u64 + 3;
        let expected = PAGE + PAGE + columns.div_ceil(512) * rows * PAGE;
        assert_eq!(claimed(&path), expected, "{number}");
    }
    let text = |number: u64| (16 + number.to_string().len() as u64).next_multiple_of(8) + 8;
    assert!((0..40).map(text).sum::<u64>() <= PAGE);
}

/// Returns the bytes of a file with a counter and four locked rows.
fn claimed_by_a_counter(folder: &Path) -> u64 {
    let path = folder.join("counter");
    File::open(&path).unwrap().counter("a", &[]).unwrap();
    claimed(&path)
}

#[test]
fn a_copy_without_its_empty_pages_gets_them_back_before_they_are_used() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [path, copy] = ["f", "copy"].map(|name| folder.path().join(name));
    let file = File::builder().columns(512).open(&path).unwrap();
    for name in ["a", "b"] {
        file.counter(name, &[]).unwrap();
    }
    let bytes = fs::read(&path).unwrap();
    let mut options = OpenOptions::new();
    let sparse = options.write(true).create_new(true).mode(0o600).open(&copy).unwrap();
    sparse.set_len(bytes.len() as u64).unwrap();
    for (page, bytes) in (0..).zip(bytes.chunks(PAGE as usize)) {
        if bytes.iter().any(|byte| *byte != 0) {
            sparse.write_all_at(bytes, page * PAGE).unwrap();
        }
    }
    assert!(claimed(&copy) < claimed(&path));
    File::open(&copy).unwrap().counter("b", &[]).unwrap().add(1);
    assert_eq!(claimed(&copy), claimed(&path));
}
