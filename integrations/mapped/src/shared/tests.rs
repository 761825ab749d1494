//! Registrations that are killed at each step, that find a full file system, or a stopped holder of
//! the lock.

use std::fs::OpenOptions;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::error::MappedError;
use crate::failpoint::{self, HOLD_AT, IS_HELD, KILL_AT, Point};
use crate::file::File;
use crate::reader::Reader;
use crate::system::lock::LockFile;
use crate::system::opened::Opened;
use crate::tests as child;

const CHILD: &str = "shared::tests::the_child_registers";

/// Runs in a child, which is killed at the point that the parent has chosen.
#[test]
fn the_child_registers() {
    let Some((path, task)) = child::task() else { return };
    let (point, name) = task.split_once(' ').unwrap();
    KILL_AT.store(point.parse().unwrap(), Ordering::Relaxed);
    File::open(path).unwrap().counter(name, &[]).unwrap().add(1);
    unreachable!("the child is killed before");
}

fn kill_a_child_at(point: Point, path: &Path, name: &str) {
    let task = format!("{} {name}", point as u32);
    let output = child::command(CHILD, path, &task).output().unwrap();
    assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{point:?}: {output:?}");
}

fn names(path: &Path) -> Vec<String> {
    let reading = Reader::open(path).unwrap().read().unwrap();
    reading.metrics().map(|metric| metric.name().to_owned()).collect()
}

#[test]
fn a_process_that_is_killed_while_it_creates_leaves_a_whole_file_or_none() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    kill_a_child_at(Point::Created, &path, "a");
    assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    kill_a_child_at(Point::Linked, &path, "a");
    assert!(names(&path).is_empty());
    File::open(&path).unwrap().counter("a", &[]).unwrap().add(1);
    assert_eq!(names(&path), ["a"]);
}

#[test]
fn a_process_that_is_killed_at_any_step_leaves_a_valid_file() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let file = File::builder().columns(2048).open(&path).unwrap();
    let mut expected = Vec::new();
    let points =
        [Point::Locked, Point::Claimed, Point::HalfWritten, Point::Written, Point::Published];
    for round in 0..3 {
        for point in points {
            let name = format!("{point:?}-{round}");
            kill_a_child_at(point, &path, &name);
            let mut valid = expected.clone();
            valid.extend((point == Point::Published).then(|| name.clone()));
            assert_eq!(names(&path), valid);
            // The next process, which has a shorter or a longer name, or the same one.
            let next = match round {
                0 => name,
                1 => "x".repeat(expected.len() + 1),
                _ => name.repeat(3),
            };
            let counter = file.counter(&next, &[]).unwrap();
            assert_eq!(counter.sum(), 0);
            counter.add(1);
            if !valid.contains(&next) {
                valid.push(next);
            }
            expected = valid;
            assert_eq!(names(&path), expected);
        }
    }
}

const PACE_CHILD: &str = "shared::tests::the_child_registers_a_pace";

/// Runs in a child, which is killed at the point that the parent has chosen.
#[test]
fn the_child_registers_a_pace() {
    let Some((path, task)) = child::task() else { return };
    KILL_AT.store(task.parse().unwrap(), Ordering::Relaxed);
    let second = Duration::from_secs(1);
    let pace = File::open(path).unwrap().pace("limit", &[], second, 7).unwrap();
    unreachable!("the child is killed before {pace:?}");
}

/// The words of a pace that was not published are another one's.
#[test]
fn a_process_that_is_killed_while_it_registers_a_pace_leaves_its_place_to_the_next() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let hour = Duration::from_secs(3_600);
    for point in [Point::Locked, Point::Claimed, Point::HalfWritten, Point::Written] {
        let path = folder.path().join(format!("{point:?}"));
        let task = (point as u32).to_string();
        let output = child::command(PACE_CHILD, &path, &task).output().unwrap();
        assert_eq!(output.status.signal(), Some(libc::SIGKILL), "{point:?}: {output:?}");
        let file = File::open(&path).unwrap();
        assert_eq!(file.metrics().unwrap(), 0);
        let pace = file.pace("limit", &[], hour, 2).unwrap();
        assert!(pace.try_admit(2) && !pace.try_admit(1));
        assert_eq!((pace.period(), pace.burst()), (hour, 2));
    }
}

#[test]
fn a_full_file_system_is_an_error_at_each_claim_and_changes_nothing() {
    let file = File::builder().columns(1024).sealed().unwrap();
    file.counter("before", &[]).unwrap().add(1);
    let mut column = 1;
    while file.metrics().unwrap() < 512 {
        // Columns up to a page's end were claimed with the first one.
        failpoint::fill(Some(1));
        file.counter(&format!("filler {column}"), &[]).unwrap();
        column += 1;
    }
    // A claim of the table, and of a page in each row.
    let mut claims = 0;
    let after = loop {
        failpoint::fill(Some(claims));
        match file.counter("after", &[]) {
            Ok(counter) => break counter,
            Err(error) => assert!(matches!(error, MappedError::NoSpace { .. }), "{error}"),
        }
        assert_eq!(file.metrics().unwrap(), 512);
        claims += 1;
    };
    failpoint::fill(None);
    assert!(claims >= file.shared_for_tests().shape.rows(), "{claims}");
    after.add(2);
    assert_eq!((file.metrics().unwrap(), after.sum()), (513, 2));
}

#[test]
fn a_holder_of_the_lock_that_is_stopped_stops_new_names_alone() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let timeout = Duration::from_millis(20);
    let file = File::builder().lock_timeout(timeout).open(&path).unwrap();
    let known = file.counter("known", &[]).unwrap();
    let open = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let open = Opened::new(open).unwrap();
    let mut lock_file = LockFile::default();
    let lock = lock_file.lock(&open, &path, timeout).unwrap();
    let error = file.counter("new", &[]).unwrap_err();
    assert!(matches!(&error, MappedError::LockedTooLong { waited, .. } if *waited >= timeout));
    known.add(1);
    assert_eq!(file.counter("known", &[]).unwrap().sum(), 1);
    drop(lock);
    file.counter("new", &[]).unwrap();
}

#[test]
fn known_names_are_found_while_other_threads_wait_for_the_lock() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let path = folder.path().join("f");
    let timeout = Duration::from_millis(20);
    let file = File::builder().lock_timeout(timeout).open(&path).unwrap();
    file.counter("known", &[]).unwrap().add(1);
    let open = OpenOptions::new().read(true).write(true).open(&path).unwrap();
    let open = Opened::new(open).unwrap();
    let mut lock_file = LockFile::default();
    let _lock = lock_file.lock(&open, &path, timeout).unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    file.counter("new", &[]).unwrap_err();
                }
            });
        }
        let lookups = (0..20).map(|_| {
            std::thread::sleep(timeout / 4);
            file.counter("known", &[]).and_then(|_| file.metrics())
        });
        let refused = lookups.filter(Result::is_err).count();
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(refused, 0, "of 20");
    });
}

#[test]
fn a_forked_child_does_not_share_the_lock_of_its_parent() {
    let timeout = Duration::from_millis(20);
    let file = File::builder().columns(512).sealed().unwrap();
    let (open, path) = (&file.shared_for_tests().file, Path::new("f"));
    let mut lock_file = LockFile::default();
    drop(lock_file.lock(open, path, timeout).unwrap());
    // Held, by the open file that the child inherits.
    std::mem::forget(lock_file.lock(open, path, timeout).unwrap());
    // SAFETY: the child calls this crate and libc, and ends without running what belongs to the
    // parent.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let result = lock_file.lock(open, path, timeout).map(drop);
        let is_refused = matches!(result, Err(MappedError::LockedTooLong { .. }));
        // SAFETY: ends the child.
        unsafe { libc::_exit(i32::from(!is_refused)) };
    }
    let mut status = -1;
    // SAFETY: waits for the child.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    assert_eq!(status, 0, "the child has found the lock free");
}

const HOLDING: &str = "shared::tests::the_child_forks_in_the_middle_of_a_first_use";

/// Runs in a child of its own, in which nothing was used before: a thread is held at a point of the
/// first use, the process forks, and the forked child uses the same.
#[test]
fn the_child_forks_in_the_middle_of_a_first_use() {
    let Some((path, task)) = child::task() else { return };
    let point: u32 = task.parse().unwrap();
    HOLD_AT.store(point, Ordering::Release);
    let use_all = || {
        let file = File::builder().lock_timeout(Duration::from_millis(100)).open(&path)?;
        file.counter("calls", &[])?.add(1);
        file.gauge("open", &[]).map(|gauge| gauge.add(1))
    };
    std::thread::scope(|scope| {
        let first = scope.spawn(use_all);
        while !IS_HELD.load(Ordering::Acquire) {
            assert!(!first.is_finished(), "the first use has not come to the point");
            std::thread::yield_now();
        }
        // SAFETY: the child calls this crate and libc, and ends without running what belongs to the
        // parent.
        let child = unsafe { libc::fork() };
        if child == 0 {
            // SAFETY: a signal ends a child that waits for ever.
            unsafe { libc::alarm(20) };
            let is_right = match use_all() {
                Ok(()) => true,
                Err(MappedError::Failed { step, .. }) => step == "prepare for forks with",
                Err(_) => false,
            };
            // SAFETY: ends the child.
            unsafe { libc::_exit(i32::from(!is_right)) };
        }
        let mut status = -1;
        // SAFETY: waits for the child.
        unsafe { libc::waitpid(child, &raw mut status, 0) };
        HOLD_AT.store(0, Ordering::Release);
        first.join().unwrap().unwrap();
        assert_eq!(status, 0, "the forked child has waited, or has an error");
    });
}

#[test]
fn a_child_that_is_forked_in_the_middle_of_a_first_use_waits_for_no_thread() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    for point in [Point::Detecting, Point::Preparing] {
        let path = folder.path().join(format!("{point:?}"));
        let task = (point as u32).to_string();
        let output = child::command(HOLDING, &path, &task).output().unwrap();
        assert!(output.status.success(), "{point:?}: {output:?}");
    }
}
