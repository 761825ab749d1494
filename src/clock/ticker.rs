//! A thread that publishes the time, so that reading it costs one load.

use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;
use std::{io, mem};

use super::{Clock, UNKNOWN};
use crate::timestamp::Timestamp;

mod tick;
pub(crate) use tick::Chore;
use tick::Tick;

// One of two modules with the same functions: for systems where processes fork and `libc` has
// `pthread_atfork`, and for all others.
#[cfg_attr(
    not(any(
        target_os = "linux",
        target_os = "android",
        target_os = "freebsd",
        target_os = "netbsd",
        target_os = "openbsd",
        target_os = "dragonfly",
        target_os = "illumos",
        target_os = "solaris",
        target_vendor = "apple"
    )),
    path = "ticker/no_forks.rs"
)]
pub(crate) mod forks;

/// A clock with a thread of its own, which publishes the time every period, so that reading it is
/// one load.
///
/// It is the cheapest clock for adds. One thread serves all windows with a clone of the ticker. The
/// thread sleeps between ticks and ends when the last clone is dropped. (That drop waits
/// microseconds for the thread to end.) On a busy machine a tick can come late: then the time shown
/// is older than a period, but never ahead.
///
/// A forked child has none of its parent's threads, so its first reading starts a new thread. Until
/// that thread ticks, each reading asks the system's clock, also if no thread can be started. (The
/// first tick may be slightly behind such a reading.) In a child that is made by a raw system call
/// instead of `fork`, the ticker stands still.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Clock, SlidingWindow, clock::Ticker, events};
///
/// events! { enum Hits { Hit: Count } }
///
/// let ticker = Ticker::start(Duration::from_millis(1));
/// let seconds = SlidingWindow::<Hits>::builder().clock(ticker.clone()).build()?;
/// let minutes = SlidingWindow::<Hits>::builder()
///     .interval(Duration::from_secs(60))
///     .buckets(60)
///     .clock(ticker)
///     .build()?;
/// seconds.add(Hits::Hit, 1);
/// minutes.add(Hits::Hit, 1);
/// # Ok::<(), windrow::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "its thread ends when its last clone is dropped"]
pub struct Ticker {
    tick: Arc<Tick>,
    /// Ends the thread when the last clone drops it.
    _handle: Arc<Handle>,
}

impl Ticker {
    /// Starts a ticker with a period of `period`, but at least 50 µs. Instead of a thread that
    /// wakes more often, use [`Precise`](super::Precise).
    ///
    /// # Panics
    ///
    /// Panics if the operating system cannot start a thread, as [`std::thread::spawn`] does.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Clock, clock::Ticker};
    ///
    /// let ticker = Ticker::start(Duration::from_millis(5));
    /// assert_eq!(ticker.resolution(), Duration::from_millis(5));
    /// ```
    #[inline]
    pub fn start(period: Duration) -> Ticker {
        Self::try_start(period).expect("the operating system starts a thread for the ticker")
    }

    #[inline]
    fn try_start(period: Duration) -> io::Result<Ticker> {
        let tick = Arc::new(Tick::new(period));
        let registration = forks::enter(&tick)?;
        let thread = tick.start().inspect_err(|_| registration.leave())?;
        let handle = Handle {
            tick: Arc::clone(&tick),
            thread: Some(AssertUnwindSafe(thread)),
            registration,
        };
        Ok(Ticker { tick, _handle: Arc::new(handle) })
    }
}

impl Ticker {
    /// Makes the thread run `chore` at every tick, as long as the chore lives. The chore delays
    /// ticks by its own duration. Returns whether the thread exists; in a forked child it may start
    /// later, or never.
    #[inline]
    pub(crate) fn add_chore(&self, chore: Weak<dyn Chore>) -> bool {
        self.now(); // in a forked child, starts a thread
        let taken = self.tick.with_chores(|chores| {
            chores.retain(|other| !Weak::ptr_eq(other, &chore));
            chores.push(chore);
        });
        taken.is_some() && self.quick() != UNKNOWN
    }
}

/// Returns a ticker that ticks every millisecond.
impl Default for Ticker {
    #[inline]
    fn default() -> Ticker {
        Ticker::start(Duration::from_millis(1))
    }
}

impl Clock for Ticker {
    #[inline]
    fn now(&self) -> Timestamp {
        let at = self.quick();
        if at == UNKNOWN { self.tick.adopt() } else { at }
    }

    #[inline]
    fn quick(&self) -> Timestamp {
        self.tick.quick()
    }

    #[inline]
    fn kept(_at: Timestamp) -> Timestamp {
        UNKNOWN
    }

    /// The period.
    fn resolution(&self) -> Duration {
        self.tick.period()
    }
}

/// The part that all clones share, without the thread: its drop ends the thread.
#[derive(Debug)]
struct Handle {
    tick: Arc<Tick>,
    /// The thread that was started with the ticker.
    ///
    /// Only the drop of the last clone uses it, once, and moves it out. So no caller that catches a
    /// panic can find it half changed.
    thread: Option<AssertUnwindSafe<JoinHandle<()>>>,
    registration: &'static forks::Registration,
}

impl Drop for Handle {
    #[inline]
    fn drop(&mut self) {
        self.tick.end();
        if let Some(AssertUnwindSafe(thread)) = self.thread.take() {
            if !self.tick.has_first_thread() {
                // A thread of another process can be neither joined nor detached.
                mem::forget(thread);
            } else if tick::is_ticking() {
                // The last clone may drop with a window whose buckets a ticker's thread has just
                // closed. That may be this ticker's own thread, which cannot join itself; or the
                // thread of another ticker, which may be waiting for this ticker's thread in the
                // same way.
                drop(thread);
            } else {
                // The thread's body cannot panic. If it did, this thread should not panic for that.
                let _ = thread.join();
            }
        }
        self.registration.leave();
    }
}
