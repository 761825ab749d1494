//! A thread that publishes the time, so that reading it costs one load.

use std::cell::Cell;
use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;
use std::{io, mem};

use crossbeam_utils::CachePadded;

use super::{Clock, UNTOLD, monotonic};
use crate::Timestamp;
use crate::sync::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use crate::timestamp::saturating_nanos;

// One of two, with the same functions: where children are forked, and `libc` can say so; or nothing.
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

/// A published tick: one thread writes the time down every period, and `now` is one load.
///
/// The cheapest clock for adds. One thread serves every window that shares the ticker by clones;
/// it sleeps between ticks and ends when the last clone drops (that drop waits for it to end,
/// microseconds). A tick can come late when the machine is busy; the time shown is then older than
/// a period, never ahead.
///
/// In a forked child, which has none of its parent's threads, the first reading starts a thread there;
/// until that ticks, and for ever if there is no thread to be had, each reading asks the system's clock.
/// (The first tick may then be a moment behind such a reading.) A child that is not made by `fork` but by a
/// bare system call finds the ticker standing still.
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
pub struct Ticker {
    /// What `now` reads, one step away.
    tick: Arc<Tick>,
    /// Ends the thread when the last clone drops it.
    _handle: Arc<Handle>,
}

impl Ticker {
    /// The shortest period: a thread that wakes more often is better replaced by
    /// [`Precise`](super::Precise).
    pub const SHORTEST: Duration = Duration::from_micros(50);

    /// Starts a ticker that ticks every `period`, but not more often than every
    /// [`SHORTEST`](Self::SHORTEST).
    ///
    /// # Panics
    ///
    /// If the operating system cannot start a thread, as [`std::thread::spawn`] does. See
    /// [`try_start`](Self::try_start).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Clock, clock::Ticker};
    ///
    /// let ticker = Ticker::start(Duration::from_millis(5));
    /// assert_eq!(ticker.resolution(), Duration::from_millis(5));
    /// ```
    pub fn start(period: Duration) -> Ticker {
        Self::try_start(period).expect("the operating system starts a thread for the ticker")
    }

    /// Like [`start`](Self::start), for whom a thread that cannot be started is no reason to panic.
    ///
    /// # Errors
    ///
    /// What the operating system says when it cannot start a thread.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::clock::Ticker;
    ///
    /// let ticker = Ticker::try_start(Duration::from_millis(1))?;
    /// # drop(ticker);
    /// # Ok::<(), std::io::Error>(())
    /// ```
    pub fn try_start(period: Duration) -> io::Result<Ticker> {
        let tick = Arc::new(Tick::new(period));
        let place = forks::enter(&tick)?;
        let thread = tick.start().inspect_err(|_| place.leave())?;
        let handle = Handle { tick: Arc::clone(&tick), thread: Some(thread), place };
        Ok(Ticker { tick, _handle: Arc::new(handle) })
    }

    /// Changes the period, for all clones, from the next tick on.
    ///
    /// A window that was built with a finer ticker is not asked again whether this one is fine
    /// enough for its buckets.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Clock, clock::Ticker};
    ///
    /// let ticker = Ticker::default();
    /// ticker.set_period(Duration::from_millis(2));
    /// assert_eq!(ticker.clone().resolution(), Duration::from_millis(2));
    /// ```
    pub fn set_period(&self, period: Duration) {
        // Relaxed: a number; `wake` sees to it that it is read.
        self.tick.period.store(nanos_of(period), Ordering::Relaxed);
        self.tick.wake();
    }
}

/// Something that a ticker's thread does at every tick.
pub(crate) trait Chore: Debug + Send + Sync {
    fn at_tick(&self);

    /// There will be no more ticks.
    fn at_end(&self);
}

impl Ticker {
    /// Has the thread do `chore` at every tick, for as long as it lives. A tick is late by as long as that
    /// takes. True if the thread is there; in a forked child it may come later, or never.
    pub(crate) fn take_on(&self, chore: Weak<dyn Chore>) -> bool {
        self.now(); // so that a child starts one
        let taken = self.tick.with_chores(|chores| {
            chores.retain(|other| !Weak::ptr_eq(other, &chore));
            chores.push(chore);
        });
        let taken = taken.is_some();
        taken && self.quick() != UNTOLD
    }
}

/// One that ticks every millisecond.
impl Default for Ticker {
    fn default() -> Ticker {
        Ticker::start(Duration::from_millis(1))
    }
}

impl Clock for Ticker {
    #[inline]
    fn now(&self) -> Timestamp {
        let at = self.quick();
        if at == UNTOLD { self.tick.adopt() } else { at }
    }

    #[inline]
    fn quick(&self) -> Timestamp {
        // Relaxed: the time is a number and publishes nothing. Coherence alone keeps a thread, and
        // whoever it has told of a reading, from seeing an earlier one.
        Timestamp::from_nanos(self.tick.nanos.load(Ordering::Relaxed))
    }

    /// The period.
    fn resolution(&self) -> Duration {
        Duration::from_nanos(self.tick.period.load(Ordering::Relaxed)) // a number
    }
}

/// A period as it is kept.
fn nanos_of(period: Duration) -> u64 {
    saturating_nanos(period.max(Ticker::SHORTEST))
}

/// Whose thread ticks.
mod ticks {
    /// One that was started with the ticker, in this process.
    pub(super) const FIRST: u8 = 0;
    /// None: this process was forked from the one in which it did.
    pub(super) const NOBODY: u8 = 1;
    /// One that was started in this process later; or that was not to be had.
    pub(super) const ADOPTED: u8 = 2;
}

/// What the thread and the handles share.
#[derive(Debug)]
struct Tick {
    /// The time, as it was last published; [`UNTOLD`] if nobody publishes it in this process.
    nanos: CachePadded<AtomicU64>,
    period: AtomicU64,
    ended: AtomicBool,
    /// One of [`ticks`].
    ticks: AtomicU8,
    /// The thread, in a box, once it runs in this process.
    thread: AtomicPtr<Thread>,
    chores: Mutex<Vec<Weak<dyn Chore>>>,
    /// How many threads are about to lock the chores, or have: so many as never end it, in a child.
    at_chores: AtomicUsize,
    /// This process was forked while somebody was at the chores: they may be locked for ever.
    are_chores_lost: AtomicBool,
}

thread_local! {
    /// This is a ticker's thread.
    static TICKS: Cell<bool> = const { Cell::new(false) };
}

impl Tick {
    fn new(period: Duration) -> Tick {
        Tick {
            nanos: CachePadded::new(AtomicU64::new(monotonic::fine_nanos())),
            period: AtomicU64::new(nanos_of(period)),
            ended: AtomicBool::new(false),
            ticks: AtomicU8::new(ticks::FIRST),
            thread: AtomicPtr::new(null_mut()),
            chores: Mutex::default(),
            at_chores: AtomicUsize::new(0),
            are_chores_lost: AtomicBool::new(false),
        }
    }

    /// Does something with the list of chores; `None` in a child that was forked while somebody else did.
    fn with_chores<R>(&self, what: impl FnOnce(&mut Vec<Weak<dyn Chore>>) -> R) -> Option<R> {
        // Relaxed: written by the first thread of a process, which all others come after.
        if self.are_chores_lost.load(Ordering::Relaxed) {
            return None;
        }
        self.at_chores.fetch_add(1, Ordering::Relaxed);
        // A child must not have the lock and not this count (see `Place::leave`).
        fence(Ordering::SeqCst);
        // Each change of it is whole.
        let result = what(&mut self.chores.lock().unwrap_or_else(PoisonError::into_inner));
        fence(Ordering::SeqCst); // nor the end of the count and not that of the lock
        self.at_chores.fetch_sub(1, Ordering::Relaxed);
        Some(result)
    }

    /// Starts a thread that ticks.
    fn start(self: &Arc<Tick>) -> io::Result<JoinHandle<()>> {
        let tick = Arc::clone(self);
        thread::Builder::new().name("windrow-ticker".into()).spawn(move || tick.run())
    }

    fn run(&self) {
        TICKS.set(true);
        // Release: pairs with the Acquire in `wake`.
        self.thread.store(Box::into_raw(Box::new(thread::current())), Ordering::Release);
        // Pairs with the fence in `wake`: either we see what it was called for, or it sees us.
        fence(Ordering::SeqCst);
        // Relaxed: nothing is read after the end that was written before it; `join` synchronises.
        while !self.ended.load(Ordering::Relaxed) {
            self.nanos.store(monotonic::fine_nanos(), Ordering::Relaxed);
            self.each_chore(|chore| chore.at_tick());
            thread::park_timeout(Duration::from_nanos(self.period.load(Ordering::Relaxed)));
        }
        self.each_chore(|chore| chore.at_end());
    }

    /// Goes through the chores that are still there. The list is not locked meanwhile: a chore may take
    /// long.
    fn each_chore(&self, what: impl Fn(&dyn Chore)) {
        let chores = self.with_chores(|chores| {
            chores.retain(|chore| chore.strong_count() > 0);
            chores.clone()
        });
        for chore in chores.iter().flatten() {
            // It may be dropped here, with a clock of the user's, whose panic must not end the ticks.
            let done = || chore.upgrade().map(|chore| what(&*chore));
            let _ = catch_unwind(AssertUnwindSafe(done));
        }
    }

    /// Has the thread look what has changed.
    fn wake(&self) {
        // Pairs with the fence in `run`: if we do not see the thread yet, it will see what has changed.
        fence(Ordering::SeqCst);
        // SAFETY: null, or a box that is kept until `self` is dropped. Acquire: pairs with the Release
        // in `run`.
        if let Some(thread) = unsafe { self.thread.load(Ordering::Acquire).as_ref() } {
            thread.unpark(); // which happens before the return of `park`: what has changed is seen
        }
    }

    /// In a forked child, where nobody else is yet: its parent's thread is not there.
    ///
    /// What that has owned is never freed, a reference to `self` and its name: to free it might wait for
    /// what another thread of the parent's was holding.
    #[allow(dead_code, reason = "not where nobody forks")]
    fn orphan(&self) {
        // Relaxed, all: there is one thread, and any other will be started by it.
        self.nanos.store(UNTOLD.as_nanos(), Ordering::Relaxed);
        self.thread.store(null_mut(), Ordering::Relaxed);
        self.ticks.store(ticks::NOBODY, Ordering::Relaxed);
        let is_lost = self.at_chores.load(Ordering::Relaxed) != 0;
        self.are_chores_lost.store(is_lost, Ordering::Relaxed);
    }

    /// Sees to it that somebody ticks in this process too, and says what time it is meanwhile. If there
    /// is no thread to be had, all who ask come by here, and are told the time by the system.
    #[cold]
    fn adopt(self: &Arc<Tick>) -> Timestamp {
        // Relaxed: it decides who does it, and publishes nothing.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let mine = self.ticks.compare_exchange(ticks::NOBODY, ticks::ADOPTED, order, failed);
        if mine.is_ok() {
            let _ = self.start(); // nobody waits for its end
        }
        Timestamp::from_nanos(monotonic::fine_nanos())
    }
}

impl Drop for Tick {
    fn drop(&mut self) {
        let thread = *self.thread.get_mut();
        if !thread.is_null() {
            // SAFETY: made of a box in `run`, which has returned, and nobody else is there.
            drop(unsafe { Box::from_raw(thread) });
        }
    }
}

/// What all clones share, and the thread does not.
#[derive(Debug)]
struct Handle {
    tick: Arc<Tick>,
    /// The thread that was started with the ticker.
    thread: Option<JoinHandle<()>>,
    place: &'static forks::Place,
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Relaxed: a flag; `wake` sees to it that it is read.
        self.tick.ended.store(true, Ordering::Relaxed);
        self.tick.wake();
        if let Some(thread) = self.thread.take() {
            // Relaxed: written by the first thread of a process, which all others come after.
            let is_first = self.tick.ticks.load(Ordering::Relaxed) == ticks::FIRST;
            if !is_first {
                mem::forget(thread); // it is not of this process, and not to be let go either
            } else if TICKS.get() {
                // The last clone may go with a window that a ticker's thread has just closed buckets of. If
                // it is this thread, there is nothing to wait for; and if it is another's, that may be
                // waiting for this one in the same way.
                drop(thread);
            } else {
                // Its body cannot panic; and a panic there would be no reason for one here.
                let _ = thread.join();
            }
        }
        self.place.leave();
    }
}
