//! The body of a ticker's thread: it publishes the time, and runs chores.

use std::cell::Cell;
use std::fmt::Debug;
use std::io;
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(any(loom, shuttle))))]
use std::mem::{align_of, offset_of};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::clock::{UNKNOWN, monotonic};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use crate::timestamp::Timestamp;

/// A task that a ticker's thread runs at every tick.
pub(crate) trait Chore: Debug + Send + Sync {
    fn at_tick(&self);

    /// Runs when there will be no more ticks.
    fn at_end(&self);
}

/// The shortest period.
pub(super) const SHORTEST: Duration = Duration::from_micros(50);

/// The thread that was started with the ticker publishes the time, in this process.
const FIRST: u8 = 0;
/// No thread publishes the time: this process was forked from the one with the thread.
const NONE: u8 = 1;
/// A thread that this forked process started publishes the time; or the system refused to start
/// one.
const ADOPTED: u8 = 2;

/// The state that the thread and the handles share.
#[derive(Debug)]
pub(super) struct Tick {
    /// The time that was last published; [`UNKNOWN`] if no thread of this process has published it.
    nanos: CachePadded<AtomicU64>,
    /// At least [`SHORTEST`].
    period: Duration,
    ended: AtomicBool,
    /// [`FIRST`], [`NONE`] or [`ADOPTED`].
    publisher: AtomicU8,
    /// The thread, in a box, once it runs in this process.
    thread: AtomicPtr<Thread>,
    chores: Mutex<Vec<Weak<dyn Chore>>>,
    /// The number of threads that have locked the chores or are about to. In a child, they never
    /// unlock them.
    at_chores: AtomicUsize,
    /// True if this process was forked while a thread was using the chores, so that their lock may
    /// never be released.
    are_chores_lost: AtomicBool,
}

// Every reading loads the time, and a tick writes it: nothing else is in its line. (Elsewhere lines
// may be shorter.)
#[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(any(loom, shuttle))))]
const _: () = {
    let nanos = offset_of!(Tick, nanos);
    assert!(nanos.is_multiple_of(64) && align_of::<Tick>().is_multiple_of(64));
    assert!(nanos.abs_diff(offset_of!(Tick, period)) >= 64);
    assert!(nanos.abs_diff(offset_of!(Tick, ended)) >= 64);
    assert!(nanos.abs_diff(offset_of!(Tick, publisher)) >= 64);
    assert!(nanos.abs_diff(offset_of!(Tick, thread)) >= 64);
    assert!(nanos.abs_diff(offset_of!(Tick, chores)) >= 64);
    assert!(nanos.abs_diff(offset_of!(Tick, at_chores)) >= 64);
    assert!(nanos.abs_diff(offset_of!(Tick, are_chores_lost)) >= 64);
};

/// Returns whether the calling thread is a ticker's.
#[inline]
pub(super) fn is_ticking() -> bool {
    TICKS.get()
}

thread_local! {
    /// True in a ticker's thread.
    static TICKS: Cell<bool> = const { Cell::new(false) };
}

impl Tick {
    #[inline]
    pub(super) fn new(period: Duration) -> Tick {
        Tick {
            nanos: CachePadded::new(AtomicU64::new(monotonic::fine_nanos())),
            period: period.max(SHORTEST),
            ended: AtomicBool::new(false),
            publisher: AtomicU8::new(FIRST),
            thread: AtomicPtr::new(null_mut()),
            chores: Mutex::default(),
            at_chores: AtomicUsize::new(0),
            are_chores_lost: AtomicBool::new(false),
        }
    }

    /// Returns the time, or [`UNKNOWN`].
    #[inline]
    pub(super) fn quick(&self) -> Timestamp {
        // Relaxed: the time is a number and publishes nothing. Coherence is enough to keep a thread
        // from seeing an earlier time than one that it has read, or that another thread has read
        // and passed on to it.
        Timestamp::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    pub(super) fn period(&self) -> Duration {
        self.period
    }

    /// Ends the thread.
    #[inline]
    pub(super) fn end(&self) {
        // Relaxed: a flag; `wake` makes the thread read it.
        self.ended.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Returns whether the thread that was started with the ticker belongs to this process.
    #[inline]
    pub(super) fn has_first_thread(&self) -> bool {
        // Relaxed: the first thread of a process writes it, before it starts any other.
        self.publisher.load(Ordering::Relaxed) == FIRST
    }

    /// Calls `what` with the list of chores. Returns `None` in a child that was forked while a
    /// thread was using them.
    pub(super) fn with_chores<R>(
        &self,
        what: impl FnOnce(&mut Vec<Weak<dyn Chore>>) -> R,
    ) -> Option<R> {
        // Relaxed: the first thread of a process writes it, before it starts any other.
        if self.are_chores_lost.load(Ordering::Relaxed) {
            return None;
        }
        self.at_chores.fetch_add(1, Ordering::Relaxed);
        // A child must not see the lock without this count (see `Registration::leave`).
        fence(Ordering::SeqCst);
        // Poison is ignored: each change of the list is complete.
        let result = what(&mut self.chores.lock().unwrap_or_else(PoisonError::into_inner));
        fence(Ordering::SeqCst); // nor the end of the count without that of the lock
        self.at_chores.fetch_sub(1, Ordering::Relaxed);
        Some(result)
    }

    /// Starts a thread that ticks.
    #[inline]
    pub(super) fn start(self: &Arc<Tick>) -> io::Result<JoinHandle<()>> {
        let tick = Arc::clone(self);
        thread::Builder::new().name("windrow-ticker".into()).spawn(move || tick.run())
    }

    #[inline]
    fn run(&self) {
        TICKS.set(true);
        // Release: pairs with the Acquire in `wake`.
        self.thread.store(Box::into_raw(Box::new(thread::current())), Ordering::Release);
        // Pairs with the fence in `wake`: either this thread sees the flag, or `wake` sees this
        // thread.
        fence(Ordering::SeqCst);
        // Relaxed: no data written before `ended` is read after it; `join` synchronises.
        while !self.ended.load(Ordering::Relaxed) {
            self.nanos.store(monotonic::fine_nanos(), Ordering::Relaxed);
            self.each_chore(|chore| chore.at_tick());
            thread::park_timeout(self.period);
        }
        self.each_chore(|chore| chore.at_end());
    }

    /// Calls `what` for each chore that still lives. The list is not locked meanwhile, because a
    /// chore may take long.
    #[inline]
    fn each_chore(&self, what: impl Fn(&dyn Chore)) {
        let chores = self.with_chores(|chores| {
            chores.retain(|chore| chore.strong_count() > 0);
            chores.clone()
        });
        for chore in chores.iter().flatten() {
            // The window may be dropped here, and with it the user's clock, whose panic must not
            // end the ticks.
            let done = || chore.upgrade().map(|chore| what(&*chore));
            let _ = catch_unwind(AssertUnwindSafe(done));
        }
    }

    /// Wakes the thread, so that it sees that it shall end.
    #[inline]
    fn wake(&self) {
        // Pairs with the fence in `run`: if this call does not see the thread yet, the thread will
        // see the flag.
        fence(Ordering::SeqCst);
        // SAFETY: null, or a box that is kept until `self` is dropped. Acquire: pairs with the
        // Release in `run`.
        if let Some(thread) = unsafe { self.thread.load(Ordering::Acquire).as_ref() } {
            // Happens before the return of `park_timeout`: the thread sees the flag.
            thread.unpark();
        }
    }

    /// Marks the ticker as without a thread. Called in a forked child that has only one thread yet.
    ///
    /// The memory that the thread owned, a reference to `self` and its name, is never freed:
    /// freeing might wait for a lock that another thread of the parent held.
    #[allow(dead_code, reason = "where processes do not fork")]
    #[inline]
    pub(super) fn orphan(&self) {
        // Relaxed, all: there is only one thread, which will start all others.
        self.nanos.store(UNKNOWN.as_nanos(), Ordering::Relaxed);
        self.thread.store(null_mut(), Ordering::Relaxed);
        self.publisher.store(NONE, Ordering::Relaxed);
        let is_lost = self.at_chores.load(Ordering::Relaxed) != 0;
        self.are_chores_lost.store(is_lost, Ordering::Relaxed);
    }

    /// Starts a thread that ticks in this process too, and returns the system's time meanwhile. If
    /// no thread can be started, every reading comes here.
    #[cold]
    #[inline]
    pub(super) fn adopt(self: &Arc<Tick>) -> Timestamp {
        // Relaxed: it decides which thread starts the new one, and publishes nothing.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let mine = self.publisher.compare_exchange(NONE, ADOPTED, order, failed);
        if mine.is_ok() {
            let _ = self.start(); // it is never joined
        }
        Timestamp::from_nanos(monotonic::fine_nanos())
    }
}

impl Drop for Tick {
    #[inline]
    fn drop(&mut self) {
        let thread = *self.thread.get_mut();
        if !thread.is_null() {
            // SAFETY: made of a box in `run`, which has returned; no other thread uses `self`.
            drop(unsafe { Box::from_raw(thread) });
        }
    }
}
