//! A process that counts and logs is killed at random moments, many times. Its lines are compared
//! with the counts that it intended, and with those that were reported as written: both are in
//! files that it writes beside the log, which the system keeps when the process is gone.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use testkit::Rng;
use windrow_log::{Bucket, Entry, Log, Options};

use super::{DIRECTORY, Http, Window, directory_of_child, entries, window};

const KILLS: usize = 40;

/// Counts and logs until it is killed.
#[test]
#[ignore = "run by another test, in a process of its own"]
fn counting_in_this_process() {
    let directory = directory_of_child();
    let file = |name| File::create(directory.join(name)).unwrap();
    let meant = Mutex::new((0_u64, file("meant")));
    // Short buckets of several windows: most of the time lines are being written.
    let windows: [Window; 8] = std::array::from_fn(|_| window(1));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let mut meant = meant.lock().unwrap();
                    meant.0 += 100;
                    meant.1.write_all_at(&meant.0.to_le_bytes(), 0).unwrap();
                    drop(meant);
                    (0..100).for_each(|number| windows[number % 8].add(Http::Pass, 1));
                    thread::yield_now();
                }
            });
        }
        // Small files, so that some are killed in between.
        let options = Options::default().file_size(5_000).files(10_000);
        let mut log = Log::open(directory.join("log"), options).unwrap();
        let (mut lines, written) = (0, file("written"));
        loop {
            let mut batch = log.batch();
            for (name, window) in windows.iter().enumerate() {
                batch.add(&name.to_string(), window);
            }
            lines += batch.write().unwrap() as u64;
            written.write_all_at(&lines.to_le_bytes(), 0).unwrap();
        }
    });
}

fn number(path: &Path) -> u64 {
    let bytes = fs::read(path).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_le_bytes)
}

/// Returns the buckets of each run, in order.
fn runs(directory: &Path) -> (Vec<(String, Vec<Bucket>)>, u64) {
    let (entries, skipped) = entries(directory);
    assert_eq!((skipped.unreadable, skipped.removed), (0, 0));
    let mut runs: Vec<(String, Vec<Bucket>)> = Vec::new();
    for entry in entries {
        match entry {
            Entry::Run(run) => runs.push((run.id, Vec::new())),
            Entry::Bucket(bucket) => runs.last_mut().expect("a run first").1.push(bucket),
            other => panic!("{other:?}"),
        }
    }
    (runs, skipped.torn)
}

#[test]
fn a_killed_process_leaves_all_that_it_was_told_is_written() {
    let directory = tempfile::tempdir().unwrap();
    let (log, path) = (directory.path().join("log"), directory.path().to_str().unwrap());
    let mut rng = Rng::new();
    let (mut seen, mut told, mut lines) = (HashSet::new(), 0, 0);
    for kill in 1..=KILLS {
        for name in ["meant", "written"] {
            let _ = fs::remove_file(directory.path().join(name));
        }
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--ignored", "--exact", "survival::killed::counting_in_this_process"])
            .env(DIRECTORY, path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        // Some while they begin, and most after that.
        let begun = directory.path().join("written");
        while kill % 4 > 0 && !begun.exists() {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(rng.u64(1_000..120_000)));
        child.kill().unwrap(); // SIGKILL
        child.wait().unwrap();
        if !log.exists() {
            continue; // before it was opened
        }
        let meant = number(&directory.path().join("meant"));
        let written = number(&directory.path().join("written"));
        let (runs, torn) = runs(&log);
        assert!(torn <= kill as u64, "{torn} torn lines after {kill} kills");
        let new: Vec<_> = runs.into_iter().filter(|(id, _)| seen.insert(id.clone())).collect();
        assert!(new.len() <= 1, "{} runs of one process", new.len());
        let buckets = new.into_iter().next().map(|(_, buckets)| buckets).unwrap_or_default();
        assert!(buckets.len() as u64 >= written, "{} of {written} lines", buckets.len());
        let sum: u64 = buckets.iter().map(|bucket| bucket.stats("Pass").sum).sum();
        assert!(sum <= meant, "{sum} of {meant} counted");
        let mut last: HashMap<&str, &Bucket> = HashMap::new();
        for bucket in &buckets {
            if let Some(last) = last.insert(&bucket.resource, bucket) {
                assert!(last.at + last.length <= bucket.at, "{last:?}, {bucket:?}");
                assert!(last.start + last.length <= bucket.start, "{last:?}, {bucket:?}");
            }
        }
        told += written;
        lines += buckets.len();
    }
    // Its lock went with it.
    drop(Log::open(&log, Options::default()).unwrap());
    println!("{lines} lines of {} runs, {told} of them acknowledged", seen.len());
    assert!(lines > 500 && seen.len() > KILLS / 4, "too little was written to show anything");
}
