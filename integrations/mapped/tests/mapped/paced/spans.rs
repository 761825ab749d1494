//! Four processes ask by the real clock, and write down when each call was admitted. No span may
//! have more than the terms allow.

use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use windrow::Clock;
use windrow::clock::Precise;
use windrow_mapped::{File, Pace};

use super::Asker;
use crate::child;

const CHILD: &str = "paced::spans::the_child_writes_down";

const PERIOD: Duration = Duration::from_micros(500);
const BURST: u64 = 20;

/// The calls of each process.
const CALLS: usize = 150;

fn pace(path: &Path) -> Pace {
    File::open(path).unwrap().pace("limit", &[("of", "spans")], PERIOD, BURST).unwrap()
}

fn now() -> u64 {
    Precise::default().now().as_nanos()
}

/// Runs in a child: asks, and writes the times between which each of its calls was admitted.
#[test]
fn the_child_writes_down() {
    let Some((path, task)) = child::task() else { return };
    let (pace, mut text) = (pace(&path), String::new());
    let mut calls = 0;
    while calls < CALLS {
        let before = now();
        if pace.try_admit(1) {
            writeln!(text, "{before} {}", now()).unwrap();
            calls += 1;
        }
    }
    fs::write(path.with_extension(task), text).unwrap();
}

#[test]
fn no_span_has_more_calls_of_all_processes_than_the_terms_allow() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    pace(&path);
    let processes = 0..4;
    let start = |number: u32| {
        let mut command = child::command(CHILD, &path, &number.to_string());
        Asker(command.stdout(Stdio::null()).spawn().unwrap())
    };
    let mut askers: Vec<Asker> = processes.clone().map(start).collect();
    assert!(askers.iter_mut().all(|asker| asker.0.wait().unwrap().success()));
    let mut calls = Vec::new();
    for number in processes {
        let text = fs::read_to_string(path.with_extension(number.to_string())).unwrap();
        calls.extend(text.lines().map(|line| {
            let (before, after) = line.split_once(' ').unwrap();
            [before, after].map(|time| time.parse::<u64>().unwrap())
        }));
    }
    assert_eq!(calls.len(), 4 * CALLS);
    calls.sort_unstable();
    for [from, _] in &calls {
        // The calls that were surely admitted from `from` on, by the times at which that was over.
        let mut over: Vec<u64> =
            calls.iter().filter(|[before, _]| before >= from).map(|[_, after]| *after).collect();
        over.sort_unstable();
        for (to, weight) in over.into_iter().zip(1..) {
            let most = BURST + (to - from) / PERIOD.as_nanos() as u64;
            assert!(weight <= most, "{weight} calls from {from} to {to}, and not {most}");
        }
    }
}
