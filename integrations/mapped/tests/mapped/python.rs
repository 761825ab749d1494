//! A reader in another language, which has no code in common with the library.

use std::fmt::Write;
use std::fs::OpenOptions;
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use windrow_mapped::{File, Scale};

use crate::forked::{fork, has_succeeded};

const READER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/reader.py");

#[test]
fn a_reader_in_python_reads_the_same() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().columns(10_000).open(&path).unwrap();
    let mut expected = String::new();
    for number in 0..8_100 {
        let name = format!("name_{number}");
        let labels = [("route", "größe"), ("code", "200")];
        let labels = if number % 2 == 0 { &labels[..] } else { &[] };
        file.counter(&name, labels).unwrap().add(number);
        let labels = if number % 2 == 0 { " code=200 route=größe" } else { "" };
        writeln!(expected, "{name}{labels} {number}").unwrap();
    }
    // One of each other kind; the histogram lies in two segments.
    let latency = file.histogram("latency", Scale::DEFAULT, &[]).unwrap();
    for value in [700, 800, u64::MAX] {
        latency.record(value);
    }
    for value in [3, 7] {
        file.maximum("max", &[]).unwrap().record(value);
        file.minimum("min", &[]).unwrap().record(value);
    }
    file.maximum("no maximum", &[]).unwrap();
    file.maximum("zero", &[]).unwrap().record(0);
    expected += "latency count=3 sum=1500\nmax 7\nmin 3\nno maximum none\nzero 0\n";
    // It has no value, and its entry has no place for one.
    file.pace("limit", &[], Duration::from_secs(1), 5).unwrap();
    file.gauge("open", &[]).unwrap().add(-4);
    let calls = file.in_flight("calls", &[]).unwrap();
    let _guard = calls.enter();
    assert!(has_succeeded(fork(|| {
        std::mem::forget(calls.enter());
        file.gauge("open", &[]).unwrap().add(9);
        true
    })));
    expected += "open live=-4 dead=9\ncalls live=1 dead=1\n";
    let output = match Command::new("python3").arg(READER).arg(&path).output() {
        Ok(output) => output,
        Err(error) => return println!("not run, without python3: {error}"),
    };
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8(output.stdout).unwrap(), expected);
}

/// An entry of no bytes would be read again and again.
#[test]
fn a_reader_in_python_refuses_an_entry_without_a_size() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    File::builder().columns(1).open(&path).unwrap().counter("calls", &[]).unwrap().add(3);
    let file = OpenOptions::new().write(true).open(&path).unwrap();
    file.write_all_at(&[0; 4], 4096).unwrap();
    let mut command = Command::new("python3");
    command.arg(READER).arg(&path).stdout(Stdio::null()).stderr(Stdio::piped());
    let limit = libc::rlimit { rlim_cur: 20, rlim_max: 20 };
    // SAFETY: the child makes one call before `exec`, which reads the local.
    unsafe {
        command.pre_exec(move || {
            libc::setrlimit(libc::RLIMIT_CPU, &raw const limit);
            Ok(())
        });
    }
    let output = match command.output() {
        Ok(output) => output,
        Err(error) => return println!("not run, without python3: {error}"),
    };
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("ValueError: entry of 0 bytes"), "{}: {error}", output.status);
}

#[test]
fn the_reader_in_python_is_short() {
    let reader = std::fs::read_to_string(READER).unwrap();
    assert!(reader.lines().count() <= 60 && reader.lines().all(|line| line.len() <= 110));
}
