//! Processes that are killed while they take a slot.

use std::os::unix::process::ExitStatusExt;
use std::sync::atomic::Ordering;

use crate::failpoint::{self, KILL_AT, Point};
use crate::file::File;
use crate::reader::Reader;
use crate::tests as child;

const CHILD: &str = "slot::tests::the_child_takes_a_slot";

/// Runs in a child, which is killed at the point that the parent has chosen; if at none, it adds 5
/// and is killed then.
#[test]
fn the_child_takes_a_slot() {
    let Some((path, task)) = child::task() else { return };
    KILL_AT.store(task.parse().unwrap(), Ordering::Relaxed);
    File::open(path).unwrap().gauge("open", &[]).unwrap().add(5);
    KILL_AT.store(Point::Locked as u32, Ordering::Relaxed);
    failpoint::reach(Point::Locked);
}

#[test]
fn a_process_that_is_killed_at_any_step_leaves_a_slot_that_can_be_taken() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().owners(1).gauges(63).open(&path).unwrap();
    let reader = Reader::open(&path).unwrap();
    let level = || {
        let reading = reader.read().unwrap();
        let metric = reading.get("open", &[]).unwrap().unwrap();
        metric.level().map(|level| (level.live, level.dead)).unwrap()
    };
    let kill_at = |point: u32| {
        let output = child::command(CHILD, &path, &point.to_string()).output().unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{point}: {output:?}");
    };
    let points =
        [Point::SlotMarked, Point::SlotHalfCleared, Point::SlotPublished, Point::SlotLocked];
    for point in points {
        kill_at(0);
        assert_eq!(level(), (0, 5), "{point:?}");
        kill_at(point as u32);
        assert_eq!(level(), (0, 0), "{point:?}: half of what was left");
        kill_at(point as u32); // once more, in the slot as it is now
        assert_eq!(level(), (0, 0), "{point:?}");
    }
    kill_at(0);
    file.gauge("open", &[]).unwrap().add(2);
    assert_eq!(level(), (2, 0));
}

#[test]
fn a_full_file_system_is_an_error_at_each_claim_of_a_slot() {
    let file = File::builder().columns(512).sealed().unwrap();
    failpoint::fill(Some(1)); // the table
    for claims in 0..2 {
        let error = file.gauge("open", &[]).unwrap_err();
        assert!(error.to_string().contains("no space"), "{error}");
        failpoint::fill(Some(claims));
        let error = file.take_slot().unwrap_err();
        assert!(error.to_string().contains("no space"), "{error}");
        failpoint::fill(Some(0));
    }
    failpoint::fill(None);
    file.gauge("open", &[]).unwrap().add(1);
    assert_eq!(file.gauge("open", &[]).unwrap().own(), 1);
}
