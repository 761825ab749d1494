//! Signals that come in the middle of adds, and whose handler adds to the same counter.

use std::ptr::null_mut;
use std::sync::OnceLock;

use windrow_mapped::Counter;

use crate::books::{Books, THREADS};

/// The time between two signals.
const MICROSECONDS: libc::suseconds_t = 200;

static BOOK: OnceLock<(Books, Counter, usize)> = OnceLock::new();

/// Lets the process get signals, whose handler adds 1.
pub(super) fn start(books: Books, calls: Counter, process: usize) {
    // The last books are those of the handlers.
    assert!(BOOK.set((books, calls, THREADS - 1 - process)).is_ok());
    // SAFETY: all zeros are a valid action; the handler calls what a handler may.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handle as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        assert_eq!(libc::sigaction(libc::SIGALRM, &raw const action, null_mut()), 0);
        let time = libc::timeval { tv_sec: 0, tv_usec: MICROSECONDS };
        let timer = libc::itimerval { it_interval: time, it_value: time };
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()), 0);
    }
}

/// Stops the signals.
pub(super) fn stop() {
    // SAFETY: all zeros are a timer that is off.
    unsafe {
        let timer: libc::itimerval = std::mem::zeroed();
        assert_eq!(libc::setitimer(libc::ITIMER_REAL, &raw const timer, null_mut()), 0);
    }
}

extern "C" fn handle(_: libc::c_int) {
    if let Some((books, calls, place)) = BOOK.get() {
        books.enter(*place, 1, || calls.add(1));
    }
}
