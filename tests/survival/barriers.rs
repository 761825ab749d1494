//! A kernel that refuses `membarrier`: from the beginning, or from some time on.

use std::thread;

use crate::work::Work;
use testkit::alone;

/// Makes the kernel refuse `membarrier` to this thread and those that it will start, by a seccomp
/// filter: what a container may have.
fn refuse_barriers() {
    let filter = |code: u32, jt, jf, k| libc::sock_filter { code: code as u16, jt, jf, k };
    let refused = libc::SECCOMP_RET_ERRNO | libc::EPERM as u32;
    let mut filters = [
        filter(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0), // the call's number
        filter(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 0, 1, libc::SYS_membarrier as u32),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, refused),
        filter(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filters.len() as u16, filter: filters.as_mut_ptr() };
    // SAFETY: the program lives until the kernel has copied it; it keeps nothing but `membarrier`
    // from anybody.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let set = libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &raw const program);
        assert_eq!(set, 0, "seccomp filters are not to be had");
        assert_eq!(libc::syscall(libc::SYS_membarrier, 0, 0, 0), -1, "still allowed");
    }
}

fn by_threads(work: &Work) {
    let books: Vec<_> = thread::scope(|scope| {
        let threads = [0, 1, 2, 3].map(|thread| scope.spawn(move || work.run(thread)));
        threads.into_iter().map(|thread| thread.join().expect("no thread panics")).collect()
    });
    work.check(0..4, &books);
}

#[test]
fn refused_from_the_beginning() {
    alone::run("barriers::refused_before_the_first_window", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn refused_before_the_first_window() {
    refuse_barriers();
    by_threads(&Work::new());
}

/// Then what was displaced can never be closed: buckets open without a block.
#[test]
fn refused_later() {
    alone::run("barriers::refused_between_two_adds", &[]);
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn refused_between_two_adds() {
    let before = Work::new();
    let books = [before.run(0)];
    let after = Work::new();
    refuse_barriers();
    by_threads(&after);
    after.grows_exactly();
    before.check(0..1, &books);
    before.grows_exactly();
}
