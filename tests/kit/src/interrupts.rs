//! Interruptions of a thread: a timer of its own whose signal handler counts, migration, and page
//! faults.

use std::mem::zeroed;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use windrow::Counter;

/// The period of the signals to each thread.
pub const PERIOD: Duration = Duration::from_micros(200);

/// The counter that the handler adds to.
static COUNTED: Counter = Counter::new();
/// The number of signals, by a locked add, for comparison.
static HANDLED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn handle(_signal: libc::c_int) {
    COUNTED.increment();
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

/// Installs the handler.
pub fn count_signals() {
    COUNTED.add(0); // used once before the first signal
    // SAFETY: the handler adds to a counter that has been used, and to an atomic.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        action.sa_sigaction = handle as extern "C" fn(libc::c_int) as usize;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, std::ptr::null_mut()), 0);
    }
}

/// Returns the counter's sum, and the number of signals.
pub fn signals() -> (u64, u64) {
    (COUNTED.sum(), HANDLED.load(Ordering::Relaxed) as u64)
}

/// Sends the calling thread a signal every period, until it is dropped.
pub struct Timer(libc::timer_t);

impl Timer {
    /// Starts one for the calling thread.
    pub fn start(period: Duration) -> Timer {
        #[allow(clippy::cast_lossless, reason = "not where numbers have 32 bits")]
        let nanos = period.subsec_nanos() as libc::c_long;
        let tick = libc::timespec { tv_sec: 0, tv_nsec: nanos };
        let every = libc::itimerspec { it_interval: tick, it_value: tick };
        // SAFETY: the structures are valid, and outlive the calls.
        unsafe {
            let mut event: libc::sigevent = zeroed();
            event.sigev_notify = libc::SIGEV_THREAD_ID;
            event.sigev_signo = libc::SIGALRM;
            event.sigev_notify_thread_id = libc::gettid();
            let mut timer = zeroed();
            let made = libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer);
            assert_eq!(made, 0);
            assert_eq!(libc::timer_settime(timer, 0, &raw const every, std::ptr::null_mut()), 0);
            Timer(timer)
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        // SAFETY: made in `start`, deleted once.
        unsafe { libc::timer_delete(self.0) };
    }
}

/// Returns a number of the system's, by its name (`sysconf`). On systems of 32 bits its type is
/// another.
#[must_use]
pub fn sysconf(name: libc::c_int) -> u64 {
    // SAFETY: a plain question.
    u64::try_from(unsafe { libc::sysconf(name) }).expect("the system knows it")
}

/// Moves the calling thread to the core numbered `which`, modulo those it may run on.
pub fn migrate(which: u64) {
    // SAFETY: the sets are as long as they are said to be; core 0 or 1 may not be allowed, and then
    // the thread stays where it is.
    unsafe {
        let cores = sysconf(libc::_SC_NPROCESSORS_ONLN).max(1);
        let mut set: libc::cpu_set_t = zeroed();
        libc::CPU_SET((which % cores) as usize, &mut set);
        libc::sched_setaffinity(0, size_of_val(&set), &raw const set);
    }
}

/// Has the next write to each page fault, over and over, until it is finished: forks children that
/// end at once, which leave the pages to be copied when they are written to.
///
/// A fault delays a sequence at its very end, for a microsecond or more, without restarting it:
/// long enough for the bucket to be retired meanwhile.
pub fn fault(finished: &AtomicBool) {
    while !finished.load(Ordering::Relaxed) {
        // SAFETY: the child ends without doing anything, and is waited for.
        unsafe {
            let child = libc::fork();
            if child == 0 {
                libc::_exit(0);
            }
            assert!(child > 0, "no process");
            libc::waitpid(child, std::ptr::null_mut(), 0);
        }
    }
}
