//! Names: many of them, by several processes at once, and the ends of a file.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use windrow_mapped::{File, MappedError, Reader};

use crate::child;

const CHILD: &str = "names::the_child_registers";

/// Two processes register the same names, and each some of its own.
const NAMES: usize = 400;

#[test]
fn the_child_registers() {
    let Some((path, own)) = child::task() else { return };
    register(&path, &own);
}

fn register(path: &Path, own: &str) {
    let file = File::open(path).unwrap();
    for number in 0..NAMES {
        file.counter(&format!("name_{number}"), &[("of", "all")]).unwrap().add(1);
        file.counter(&format!("name_{number}"), &[("of", own)]).unwrap().add(1);
    }
}

#[test]
fn processes_that_register_at_once_get_the_same_numbers() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let processes = ["a", "b", "c"];
    let mut children = processes.map(|own| child::command(CHILD, &path, own).spawn().unwrap());
    // A reader sees whole names at any time, and no sum that falls.
    let reader = loop {
        match Reader::open(&path) {
            Ok(reader) => break reader,
            Err(error) => assert!(matches!(error, MappedError::Failed { .. }), "{error}"),
        }
    };
    let mut before = 0;
    while children.iter_mut().any(|child| child.try_wait().unwrap().is_none()) {
        let count = reader.read().unwrap().metrics().count();
        assert!(count >= before);
        before = count;
    }
    assert!(children.iter_mut().all(|child| child.wait().unwrap().success()));
    let reading = reader.read().unwrap();
    assert_eq!(reading.metrics().count(), NAMES * (1 + processes.len()));
    for metric in reading.metrics() {
        let is_shared = metric.labels().eq([("of", "all")]);
        assert_eq!(metric.sum(), Some(if is_shared { processes.len() as u64 } else { 1 }));
    }
}

#[test]
fn threads_that_register_at_once_get_the_same_numbers() {
    let file = File::builder().columns(512).sealed().unwrap();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for number in 0..100 {
                    file.counter(&number.to_string(), &[]).unwrap().add(1);
                }
            });
        }
    });
    assert_eq!(file.metrics().unwrap(), 100);
    for number in 0..100 {
        assert_eq!(file.counter(&number.to_string(), &[]).unwrap().sum(), 4);
    }
}

#[test]
fn ten_thousand_names_have_a_number_each() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::open(&path).unwrap();
    for number in 0..10_000 {
        file.counter(&format!("name_{number}"), &[]).unwrap().add(number);
    }
    let reading = Reader::open(&path).unwrap().read().unwrap();
    let names: HashSet<&str> = reading.metrics().map(|metric| metric.name()).collect();
    assert_eq!(names.len(), 10_000);
    for number in [0, 511, 512, 8_191, 8_192, 9_999] {
        let found = reading.get(&format!("name_{number}"), &[]).unwrap().unwrap();
        assert_eq!(found.sum(), Some(number));
    }
}

#[test]
fn a_file_that_is_full_says_of_what() {
    let file = File::builder().columns(2).sealed().unwrap();
    for name in ["a", "b"] {
        file.counter(name, &[]).unwrap();
    }
    let error = file.counter("c", &[]).map(drop).unwrap_err();
    assert!(matches!(&error, MappedError::Full { name, part: "columns", most: 2 } if name == "c"));
    file.counter("a", &[]).unwrap();

    let file = File::builder().columns(512).names_bytes(48).sealed().unwrap();
    for name in ["a", "b"] {
        file.counter(name, &[]).unwrap();
    }
    let error = file.counter("c", &[]).map(drop).unwrap_err();
    assert!(
        matches!(&error, MappedError::Full { name, part: "bytes for names", most: 48 } if name == "c")
    );
}

#[test]
fn a_hundred_thousand_names_are_the_most() {
    let file = File::builder().columns(1 << 17).sealed().unwrap();
    for number in 0..100_000 {
        file.counter(&number.to_string(), &[]).unwrap();
    }
    let error = file.counter("one more", &[]).map(drop).unwrap_err();
    assert!(matches!(error, MappedError::Full { part: "names", most: 100_000, .. }), "{error}");
    file.counter("99999", &[]).unwrap();
}

#[test]
fn a_path_that_leads_to_another_file_by_now_changes_nothing_for_those_who_have_the_first() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let first = File::open(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let second = File::open(&path).unwrap();
    first.counter("a", &[]).unwrap().add(1);
    second.counter("b", &[]).unwrap().add(2);
    assert_eq!((first.metrics().unwrap(), second.metrics().unwrap()), (1, 1));
}

#[test]
fn a_file_keeps_the_settings_with_which_it_was_created() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    File::builder().columns(1).open(&path).unwrap().counter("a", &[]).unwrap();
    let file = File::builder().columns(512).open(&path).unwrap();
    assert!(matches!(
        file.counter("b", &[]),
        Err(MappedError::Full { part: "columns", most: 1, .. })
    ));
}

#[test]
fn a_file_of_another_boot_goes_on_by_locked_adds() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let first = File::open(&path).unwrap().counter("a", &[]).unwrap();
    first.add(3);
    let bytes = fs::OpenOptions::new().write(true).open(&path).unwrap();
    // Another one, and one that was not known.
    for boot in [[7; 16], [0; 16]] {
        bytes.write_all_at(&boot, 48).unwrap();
        let file = File::open(&path).unwrap();
        assert!(!file.is_plain());
        let counter = file.counter("a", &[]).unwrap();
        let (before, plain) = (counter.sum(), plain_cells(&path));
        counter.add(4);
        assert_eq!(counter.sum(), before + 4);
        assert_eq!(plain_cells(&path), plain, "a plain row was written");
    }
    assert_eq!(first.sum(), 11);
}

/// Returns the first column's cells in the rows for plain adds: see `format.md`.
fn plain_cells(path: &Path) -> Vec<u64> {
    let bytes = fs::read(path).unwrap();
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let first = 4096 + word(28).next_multiple_of(4096) + 32_768;
    let cell = |row: usize| {
        let at = first + row * 65_536;
        u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
    };
    (0..word(16)).map(cell).collect()
}
