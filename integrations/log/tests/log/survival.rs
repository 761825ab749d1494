//! Logs on real disks: processes that are killed, disks that are full, directories that are removed
//! or that other programs have changed. No line may be lost without a record of it.

use std::path::Path;
use std::time::Duration;

use windrow::{SlidingWindow, events};
use windrow_log::{Entry, Skipped};

mod disk;
mod killed;
mod locked;
mod mutated;

events! { enum Http { Pass: Count } }

type Window = SlidingWindow<Http, windrow::clock::Precise>;

/// Says to a child process which directory is meant.
const DIRECTORY: &str = "WINDROW_LOG_TEST_DIRECTORY";

fn directory_of_child() -> std::path::PathBuf {
    std::env::var_os(DIRECTORY).expect("run by another test").into()
}

/// Returns a window of a thousand buckets, each of `millis` milliseconds.
fn window(millis: u64) -> Window {
    let interval = Duration::from_millis(millis * 1_000);
    let builder = SlidingWindow::<Http>::builder().interval(interval).buckets(1_000);
    builder.clock(windrow::clock::Precise::default()).build().expect("sound")
}

fn entries(directory: &Path) -> (Vec<Entry>, Skipped) {
    let mut entries = windrow_log::read(directory).unwrap().all();
    (entries.by_ref().map(Result::unwrap).collect(), entries.skipped())
}

/// Returns what all lines say that was counted, and what no line can say yet.
fn passed(directory: &Path) -> u64 {
    let (entries, skipped) = entries(directory);
    assert_eq!(skipped, Skipped::default());
    let of = |entry: &Entry| match entry {
        Entry::Bucket(bucket) => bucket.stats("Pass").sum,
        _ => 0,
    };
    entries.iter().map(of).sum()
}
