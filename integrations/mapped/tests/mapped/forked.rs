//! Servers that fork their workers.

use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use windrow_mapped::{File, MappedError, Reader};

use crate::child;

/// Runs in a forked child, which succeeds if the work returns true.
pub(crate) fn fork(work: impl FnOnce() -> bool) -> libc::pid_t {
    // SAFETY: the child calls this crate and libc, takes no lock that another thread may hold, and
    // ends without running what belongs to the parent.
    unsafe {
        match libc::fork() {
            0 => libc::_exit(i32::from(!work())),
            child => child,
        }
    }
}

/// Waits for a forked child, and returns whether it has succeeded.
pub(crate) fn has_succeeded(child: libc::pid_t) -> bool {
    let mut status = -1;
    // SAFETY: waits for a child of this process.
    let waited = unsafe { libc::waitpid(child, &raw mut status, 0) };
    waited == child && libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0
}

#[test]
fn forked_workers_count_in_the_file_of_their_parent() {
    let file = File::builder().columns(512).sealed().unwrap();
    let calls = file.counter("calls", &[]).unwrap();
    let workers: Vec<libc::pid_t> = (0..4)
        .map(|worker: u64| {
            fork(|| {
                (0..50_000).for_each(|_| calls.add(1));
                // A worker registers too, by a lock of its own.
                file.counter("workers", &[]).map(|workers| workers.add(worker + 1)).is_ok()
            })
        })
        .collect();
    assert!(workers.into_iter().all(has_succeeded));
    assert_eq!(calls.sum(), 200_000);
    assert_eq!(file.counter("workers", &[]).unwrap().sum(), 10);
}

#[test]
fn a_sealed_file_can_be_handed_on_and_not_be_cut_off() {
    let file = File::builder().columns(512).sealed().unwrap();
    file.counter("a", &[]).unwrap().add(1);
    let descriptor = || file.as_fd().try_clone_to_owned().unwrap();
    let handed = File::from_fd(descriptor()).unwrap();
    assert_eq!(handed.counter("a", &[]).unwrap().sum(), 1);
    let reading = Reader::from_file(descriptor().into()).unwrap().read().unwrap();
    assert_eq!(reading.get("a", &[]).unwrap().unwrap().sum(), Some(1));
    let error = std::fs::File::from(descriptor()).set_len(0).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied);
}

#[test]
fn a_child_that_is_forked_while_others_register_has_its_names_or_an_error() {
    let timeout = Duration::from_millis(100);
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let file = File::builder().lock_timeout(timeout).open(folder.path().join("f")).unwrap();
    let calls = file.counter("calls", &[]).unwrap();
    let is_over = AtomicBool::new(false);
    let (mut has_names, mut has_errors) = (0, 0);
    std::thread::scope(|scope| {
        for thread in 0..2 {
            let is_over = &is_over;
            scope.spawn(move || {
                for number in (0..6_000).take_while(|_| !is_over.load(Ordering::Relaxed)) {
                    // A child that was forked while it had the lock may stop this for a while.
                    let _ = file.counter(&format!("{thread} {number}"), &[]);
                }
            });
        }
        for number in 0..40 {
            let child = fork(|| {
                calls.add(1);
                match file.counter(&format!("child {number}"), &[]) {
                    Ok(counter) => counter.add(1),
                    Err(MappedError::LockedTooLong { .. }) => calls.add(1_000),
                    Err(_) => return false,
                }
                true
            });
            assert!(has_succeeded(child));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    for number in 0..40 {
        // The lock is free for the parent, whatever its children have found.
        let counter = file.counter(&format!("child {number}"), &[]).unwrap();
        *(if counter.sum() == 1 { &mut has_names } else { &mut has_errors }) += 1;
    }
    println!("{has_names} children have registered, {has_errors} not");
    assert_eq!(calls.sum(), 40 + 1_000 * has_errors);
}

#[test]
fn a_child_that_has_become_another_user_adds_and_registers_in_a_sealed_file_alone() {
    // SAFETY: it has no arguments.
    if unsafe { libc::geteuid() } != 0 {
        return; // only root may become another user
    }
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let named = File::open(folder.path().join("f")).unwrap();
    for (file, is_sealed) in [(File::builder().sealed().unwrap(), true), (named, false)] {
        let calls = file.counter("calls", &[]).unwrap();
        let child = fork(|| {
            // SAFETY: it changes numbers of this process.
            let is_other = unsafe { libc::setgid(12_345) == 0 && libc::setuid(12_345) == 0 };
            calls.add(1);
            let is_known = file.counter("calls", &[]).is_ok();
            let is_as_said = match file.counter("new", &[]) {
                Ok(_) => is_sealed,
                Err(error) => !is_sealed && matches!(error, MappedError::Failed { .. }),
            };
            is_other && is_known && is_as_said
        });
        assert!(has_succeeded(child), "{is_sealed}");
        assert_eq!(calls.sum(), 1);
    }
}

/// Closes all descriptors but the first three, which many programs do in a child.
fn close_all() {
    // SAFETY: the child uses none of them, but for those that it opens from now on.
    (3..1_024).for_each(|descriptor| _ = unsafe { libc::close(descriptor) });
}

const CLOSING: &str = "forked::the_child_forks_and_its_child_closes_all";

/// Runs in a child of its own, whose descriptors have small numbers.
#[test]
fn the_child_forks_and_its_child_closes_all() {
    let Some((path, _)) = child::task() else { return };
    let file = File::open(&path).unwrap();
    let calls = file.counter("calls", &[]).unwrap(); // opens the file of the lock
    let open = file.gauge("open", &[]).unwrap(); // and that of the slot
    let own = path.with_extension("own");
    std::fs::write(&own, "the child's").unwrap();
    for files in [0, 200] {
        let child = fork(|| {
            close_all();
            let own = || std::fs::OpenOptions::new().read(true).write(true).open(&own).unwrap();
            let files: Vec<_> = (0..files).map(|_| own()).collect();
            let is_lost = |error| matches!(error, MappedError::LostDescriptor { .. });
            calls.add(1);
            open.add(5); // seen by no reader
            let is_refused = file.counter("new", &[]).is_err_and(is_lost)
                && file.take_slot().is_err_and(is_lost);
            let is_known = file.counter("calls", &[]).is_ok_and(|calls| calls.sum() > 0);
            is_refused && is_known && files.iter().all(|file| file.metadata().is_ok())
        });
        assert!(has_succeeded(child), "{files}");
    }
    assert_eq!((calls.sum(), open.own(), file.metrics().unwrap()), (2, 0, 2));
    let found = std::fs::metadata(&own).unwrap();
    assert_eq!((found.len(), found.blocks()), (11, 8), "the child has claimed memory of its file");
}

#[test]
fn a_child_that_has_closed_all_descriptors_gets_an_error_and_its_own_files_stay_as_they_are() {
    let folder = tempfile::tempdir_in("/dev/shm").unwrap();
    let output = child::command(CLOSING, &folder.path().join("f"), "").output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
