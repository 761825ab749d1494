//! The memory of a file, by the formula that its documentation has.

use std::fs;
use std::os::unix::fs::MetadataExt;
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
