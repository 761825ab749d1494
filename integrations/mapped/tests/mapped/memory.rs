//! The memory of a file, by the formula that its documentation has.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use windrow_mapped::File;

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
