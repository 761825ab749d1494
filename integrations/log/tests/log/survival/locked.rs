//! A directory is one log's.

use std::collections::HashSet;
use std::fs;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use testkit::alone;
use windrow_log::{Entry, Log, LogError, Options};

use super::{DIRECTORY, Http, directory_of_child, entries, window};

fn assert_locked(result: Result<Log, LogError>) {
    match result.map(drop) {
        Err(LogError::Locked { path }) => assert!(path.ends_with("lock")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_second_log_is_refused_in_this_process_and_in_another() {
    let directory = tempfile::tempdir().unwrap();
    let log = Log::open(directory.path(), Options::default()).unwrap();
    assert_locked(Log::open(directory.path(), Options::default()));
    let path = directory.path().to_str().unwrap();
    alone::run("survival::locked::opened_in_another_process", &[(DIRECTORY, path)]);
    drop(log);
    // A lock file that is left says nothing.
    assert!(directory.path().join("lock").exists());
    Log::open(directory.path(), Options::default()).unwrap();
}

/// The lock is the directory's: removing or replacing the file `lock` admits no second log.
#[cfg(target_os = "linux")]
#[test]
fn the_file_may_be_removed_and_the_lock_stays() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let lock = directory.path().join("lock");
    let mut log = Log::open(directory.path(), Options::default()).unwrap();
    for make_again in [false, true] {
        fs::remove_file(&lock).unwrap();
        if make_again {
            fs::write(&lock, "").unwrap();
        }
        assert_locked(Log::open(directory.path(), Options::default()));
        alone::run("survival::locked::opened_in_another_process", &[(DIRECTORY, path)]);
        log.flush().unwrap();
    }
    drop(log);
    Log::open(directory.path(), Options::default()).unwrap();
}

/// Writes for some moments whenever it gets the directory, until it is killed: lines of its own
/// name.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn contending_for_the_directory() {
    let (directory, window) = (directory_of_child(), window(1));
    let name = std::process::id().to_string();
    loop {
        let Ok(mut log) = Log::open(&directory, Options::default().file_size(5_000).files(10_000))
        else {
            thread::yield_now();
            continue;
        };
        for _ in 0..5 {
            window.add(Http::Pass, 1);
            thread::sleep(Duration::from_millis(2));
            log.write(&name, &window).unwrap();
        }
    }
}

/// Processes that all want one directory, are killed and come again, while the file `lock` is
/// removed again and again: two never write at once. So behind the line of a run, all lines are of
/// that run's process.
#[cfg(target_os = "linux")]
#[test]
fn processes_that_contend_for_a_directory_write_one_after_the_other() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().to_str().unwrap();
    let begin = || {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--ignored", "--exact", "survival::locked::contending_for_the_directory"]);
        command.env(DIRECTORY, path).stdout(Stdio::null()).spawn().unwrap()
    };
    let mut children: Vec<_> = (0..3).map(|_| begin()).collect();
    for round in 0..150 {
        thread::sleep(Duration::from_millis(10));
        let _ = fs::remove_file(directory.path().join("lock"));
        if round % 10 == 9 {
            let child = &mut children[round % 3];
            child.kill().unwrap();
            child.wait().unwrap();
            *child = begin();
        }
    }
    for child in &mut children {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (entries, skipped) = entries(directory.path());
    assert_eq!(skipped.unreadable, 0);
    let (mut runs, mut lines, mut of, mut names) = (0, 0, None, HashSet::new());
    for entry in entries {
        match entry {
            Entry::Run(_) => (runs, of) = (runs + 1, None),
            Entry::Bucket(bucket) => {
                lines += 1;
                let of = of.get_or_insert(bucket.resource.clone());
                assert_eq!(*of, bucket.resource, "two wrote at once");
                names.insert(bucket.resource);
            }
            other => panic!("{other:?}"),
        }
    }
    println!("{runs} runs, {lines} lines, {} processes", names.len());
    assert!(runs > 20 && lines > 50 && names.len() > 2, "too little was written to show anything");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn opened_in_another_process() {
    assert_locked(Log::open(directory_of_child(), Options::default()));
}
