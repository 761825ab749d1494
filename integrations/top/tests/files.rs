//! The program before files, and before what is none.

#![cfg(all(target_os = "linux", target_pointer_width = "64", target_endian = "little"))]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use windrow_mapped::File;

fn once(paths: &[&Path]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_windrow-top"));
    command.arg("--once").args(paths).env("COLUMNS", "90").output().unwrap()
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

#[test]
fn the_counters_of_a_file_are_printed() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("shop");
    let file = File::open(&path).unwrap();
    file.counter("calls", &[("route", "/cart")]).unwrap().add(12_345);
    file.counter("visits", &[]).unwrap().add(7);
    file.maximum("largest", &[]).unwrap().record(900);
    file.pace("limit", &[], std::time::Duration::from_secs(1), 3).unwrap();
    let output = once(&[&path]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), ""));
    let shown = text(&output.stdout);
    let head = format!("{}  watched for 1.0 s, windows of ", path.display());
    assert!(shown.starts_with(&head), "{shown}");
    let row = |name: &str| {
        let row = shown.lines().find(|line| line.contains(name));
        row.unwrap_or_else(|| panic!("{name}: {shown}")).split_whitespace().collect::<Vec<_>>()
    };
    assert!(row("/cart").contains(&"12.3k"), "{shown}");
    assert!(row("\u{25cf} visits").contains(&"7"), "{shown}");
    assert!(row("\u{25cf} largest").contains(&"900"), "{shown}");
    assert!(!shown.contains("limit"), "{shown}");
}

#[test]
fn what_is_no_file_of_counters_is_left_with_a_reason() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let [missing, other] = ["missing", "other\x1b"].map(|name| folder.path().join(name));
    fs::write(&other, "#!/bin/sh\nexit\n").unwrap();
    for (path, status, says) in
        [(&missing, 1, "cannot open "), (&other, 3, "other\\u{1b} is not a file of windrow-mapped")]
    {
        let output = once(&[path]);
        let error = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{error}");
        assert!(error.contains(says) && error.lines().count() == 1, "{error:?}");
        assert!(output.stdout.is_empty());
    }
}
