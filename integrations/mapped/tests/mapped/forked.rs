//! Servers that fork their workers.

use std::os::fd::AsFd;

use windrow_mapped::{File, Reader};

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
