//! What a ticker's thread does: it publishes the time, and does chores.

use std::cell::Cell;
use std::fmt::Debug;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread::{self, JoinHandle, Thread};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::clock::{UNKNOWN, monotonic};
use crate::sync::{AtomicBool, AtomicPtr, AtomicU8, AtomicU64, AtomicUsize, Ordering, fence};
use crate::timestamp::{Timestamp, saturating_nanos};

/// Something that a ticker's thread does at every tick.
pub(crate) trait Chore: Debug + Send + Sync {
    fn at_tick(&self);

    /// There will be no more ticks.
    fn at_end(&self);
}

/// The shortest period.
pub(super) const SHORTEST: Duration = Duration::from_micros(50);

/// A period as it is kept.
fn nanos_of(period: Duration) -> u64 {
    saturating_nanos(period.max(SHORTEST))
}

/// The thread that was started with the ticker publishes the time, in this process.
const FIRST: u8 = 0;
/// No thread does: this process was forked from the one with the thread.
const NONE: u8 = 1;
/// A thread does that was started in this process later; or the system refused to start one.
const ADOPTED: u8 = 2;

/// What the thread and the handles share.
#[derive(Debug)]
pub(super) struct Tick {
    /// The time, as it was last published; [`UNKNOWN`] if no thread publishes it in this process.
    nanos: CachePadded<AtomicU64>,
    period: AtomicU64,
    ended: AtomicBool,
    /// [`FIRST`], [`NONE`] or [`ADOPTED`].
    publisher: AtomicU8,
    /// The thread, in a box, once it runs in this process.
    thread: AtomicPtr<Thread>,
    chores: Mutex<Vec<Weak<dyn Chore>>>,
    /// How many threads are about to lock the chores, or have: so many as never end it, in a child.
    at_chores: AtomicUsize,
    /// This process was forked while somebody was at the chores: they may be locked for ever.
    are_chores_lost: AtomicBool,
}

/// Whether the calling thread is a ticker's.
pub(super) fn is_ticking() -> bool {
    TICKS.get()
}

thread_local! {
    /// This is a ticker's thread.
    static TICKS: Cell<bool> = const { Cell::new(false) };
}

impl Tick {
    pub(super) fn new(period: Duration) -> Tick {
        Tick {
            nanos: CachePadded::new(AtomicU64::new(monotonic::fine_nanos())),
            period: AtomicU64::new(nanos_of(period)),
            ended: AtomicBool::new(false),
            publisher: AtomicU8::new(FIRST),
            thread: AtomicPtr::new(null_mut()),
            chores: Mutex::default(),
            at_chores: AtomicUsize::new(0),
            are_chores_lost: AtomicBool::new(false),
        }
    }

    /// The time, or [`UNKNOWN`].
    #[inline]
    pub(super) fn quick(&self) -> Timestamp {
        // Relaxed: the time is a number and publishes nothing. Coherence alone keeps a thread, and a
        // thread that it has told of a reading, from seeing an earlier one.
        Timestamp::from_nanos(self.nanos.load(Ordering::Relaxed))
    }

    pub(super) fn period(&self) -> Duration {
        Duration::from_nanos(self.period.load(Ordering::Relaxed)) // a number
    }

    pub(super) fn set_period(&self, period: Duration) {
        // Relaxed: a number; `wake` sees to it that it is read.
        self.period.store(nanos_of(period), Ordering::Relaxed);
        self.wake();
    }

    /// Has the thread end.
    pub(super) fn end(&self) {
        // Relaxed: a flag; `wake` sees to it that it is read.
        self.ended.store(true, Ordering::Relaxed);
        self.wake();
    }

    /// Whether the thread that was started with the ticker is one of this process.
    pub(super) fn has_first_thread(&self) -> bool {
        // Relaxed: written by the first thread of a process, which all others come after.
        self.publisher.load(Ordering::Relaxed) == FIRST
    }

    /// Does something with the list of chores; `None` in a child that was forked while somebody else did.
    pub(super) fn with_chores<R>(
        &self,
        what: impl FnOnce(&mut Vec<Weak<dyn Chore>>) -> R,
    ) -> Option<R> {
        // Relaxed: written by the first thread of a process, which all others come after.
        if self.are_chores_lost.load(Ordering::Relaxed) {
            return None;
        }
        self.at_chores.fetch_add(1, Ordering::Relaxed);
        // A child must not have the lock and not this count (see `Registration::leave`).
        fence(Ordering::SeqCst);
        // Each change of it is whole.
        let result = what(&mut self.chores.lock().unwrap_or_else(PoisonError::into_inner));
        fence(Ordering::SeqCst); // nor the end of the count and not that of the lock
        self.at_chores.fetch_sub(1, Ordering::Relaxed);
        Some(result)
    }

    /// Starts a thread that ticks.
    pub(super) fn start(self: &Arc<Tick>) -> io::Result<JoinHandle<()>> {
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
    pub(super) fn orphan(&self) {
        // Relaxed, all: there is one thread, and any other will be started by it.
        self.nanos.store(UNKNOWN.as_nanos(), Ordering::Relaxed);
        self.thread.store(null_mut(), Ordering::Relaxed);
        self.publisher.store(NONE, Ordering::Relaxed);
        let is_lost = self.at_chores.load(Ordering::Relaxed) != 0;
        self.are_chores_lost.store(is_lost, Ordering::Relaxed);
    }

    /// Sees to it that somebody ticks in this process too, and says what time it is meanwhile. If there
    /// is no thread to be had, all who ask come by here, and are told the time by the system.
    #[cold]
    pub(super) fn adopt(self: &Arc<Tick>) -> Timestamp {
        // Relaxed: it decides who does it, and publishes nothing.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        let mine = self.publisher.compare_exchange(NONE, ADOPTED, order, failed);
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
