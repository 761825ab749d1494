//! Threads that stall wherever they happen to be: between any two steps of a rotation, say.
//!
//! Each test runs in a process of its own, because it has a signal handler, which sleeps.

use std::fs;
use std::mem::zeroed;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::buckets::{exact, left_alone};
use crate::counters::alternate;
use crate::writers::Plan;
use testkit::{Finish, alone};

static STALLS: AtomicU64 = AtomicU64::new(0);

extern "C" fn stall(_signal: libc::c_int) {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 50_000 };
    STALLS.fetch_add(1, Ordering::Relaxed);
    // SAFETY: sleeping is allowed in a handler, which must leave the thread's `errno` as it was.
    unsafe {
        let errno = *libc::__errno_location();
        libc::nanosleep(&raw const time, null_mut());
        *libc::__errno_location() = errno;
    }
}

/// Runs `body` while one thread or another is made to stall, all the time. More than once if the
/// thread that sees to that has had no core meanwhile.
fn stalling(body: impl Fn()) {
    // SAFETY: the handler sleeps and adds to an atomic.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = stall as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGUSR1, &raw const action, null_mut()), 0);
    }
    let finished = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            while !finished.load(Ordering::Acquire) {
                let threads = fs::read_dir("/proc/self/task").expect("a list of threads");
                for thread in threads.flatten() {
                    let number = thread.file_name().to_str().and_then(|name| name.parse().ok());
                    let number: libc::pid_t = number.expect("a thread's number");
                    // SAFETY: sends a signal that is handled. A thread that has ended gets none;
                    // nor does this one, which it would only slow down.
                    unsafe {
                        if number != libc::gettid() {
                            libc::syscall(libc::SYS_tgkill, libc::getpid(), number, libc::SIGUSR1);
                        }
                    }
                    thread::sleep(Duration::from_micros(10));
                }
            }
        });
        let finish = Finish(&finished);
        let mut times = 0..20;
        while times.next().is_some() && STALLS.load(Ordering::Relaxed) == 0 {
            body();
        }
        drop(finish);
    });
    println!("{} stalls", STALLS.load(Ordering::Relaxed));
    assert!(STALLS.load(Ordering::Relaxed) > 0, "no thread was stalled");
}

#[test]
fn threads_that_stall_lose_nothing() {
    alone::run("stalls::windows_of_threads_that_stall", &[]);
    alone::in_each_strategy("stalls::counters_of_threads_that_stall");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn windows_of_threads_that_stall() {
    let plan = Plan {
        length: 10,
        buckets: 40_000,
        writers: 6,
        steps: 8_000,
        push_one_in: 1,
        stride: 8,
        back_one_in: 0,
    };
    stalling(|| {
        exact(plan);
        exact(Plan { buckets: 5, push_one_in: 2, back_one_in: 300, ..plan });
        left_alone(60_000);
        exact(Plan { buckets: 1, steps: 3_000, back_one_in: 300, ..plan });
    });
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn counters_of_threads_that_stall() {
    stalling(|| alternate(100_000));
}
