//! The hub between a process's requests and the thread that asks.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;

use crate::alarm::Alarm;
use crate::error::SharedError;
use crate::identity::Identities;
use crate::limit::Limit;
use crate::lock::locked;
use crate::pulse::Pulse;
use crate::target::Target;
use crate::time::{NEVER, Time};

/// The hub between a process's requests and the thread that asks.
pub(crate) struct Hub {
    pub(crate) target: Target,
    clocks: Clocks,
    pub(crate) identities: Identities,
    pub(crate) alarm: Alarm,
    /// The limits that want asking.
    list: Mutex<Vec<Arc<Limit>>>,
    /// The thread that asks.
    thread: OnceLock<Thread>,
    is_over: AtomicBool,
    /// The time from which the engine is away; [`NEVER`] while it owes no answer. While an ask is
    /// under way, it is the time at which that has lasted too long. So the engine is away at
    /// that time, even while the thread that waits for its answer sleeps.
    away_from: AtomicU64,
    fault: Mutex<Option<SharedError>>,
    asks: AtomicU64,
}

/// The clocks, which each call reads, in lines of their own: other fields are written at any time.
#[repr(align(128))]
struct Clocks {
    time: Time,
    /// The quick clock of permits in rows, in nanoseconds of `time`.
    pulse: Pulse,
}

impl Hub {
    pub(crate) fn new(target: Target) -> Hub {
        Hub {
            target,
            clocks: Clocks { time: Time::begin(), pulse: Pulse::stopped() },
            identities: Identities::begin(),
            alarm: Alarm::default(),
            list: Mutex::new(Vec::new()),
            thread: OnceLock::new(),
            is_over: AtomicBool::new(false),
            away_from: AtomicU64::new(NEVER),
            fault: Mutex::new(None),
            asks: AtomicU64::new(0),
        }
    }

    /// Tells the thread that asks.
    pub(crate) fn begin(&self, thread: Thread) {
        let _ = self.thread.set(thread); // it is set once
        self.wake();
    }

    /// Ends the thread that asks, soon.
    pub(crate) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed); // `unpark` releases it
        self.wake();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Relaxed) // the return of `park` acquires it
    }

    /// Puts a limit on the list of those that want asking.
    pub(crate) fn list(&self, limit: &Arc<Limit>) {
        locked(&self.list).push(limit.clone());
        self.wake();
    }

    /// Returns the limits that want asking, and empties the list.
    pub(crate) fn listed(&self) -> Vec<Arc<Limit>> {
        std::mem::take(&mut *locked(&self.list))
    }

    /// Notes that asks are sent.
    pub(crate) fn sent(&self, count: usize, now: u64) {
        self.asks.fetch_add(count as u64, Ordering::Relaxed); // a number, which publishes nothing
        let late = now.saturating_add(self.target.timeout.as_micros() as u64);
        // While the engine is away it stays so. Relaxed, here and below: as in `is_away`.
        self.away_from.fetch_min(late, Ordering::Relaxed);
    }

    /// Notes an answer; `more`: others are still expected.
    pub(crate) fn answered(&self, now: u64, more: bool) {
        let late = now.saturating_add(self.target.timeout.as_micros() as u64);
        self.away_from.store(if more { late } else { NEVER }, Ordering::Relaxed);
        *locked(&self.fault) = None;
    }

    /// Notes that the engine cannot be asked.
    pub(crate) fn failed(&self, now: u64, fault: SharedError) {
        self.away_from.fetch_min(now, Ordering::Relaxed);
        *locked(&self.fault) = Some(fault);
    }

    pub(crate) fn is_away(&self, now: u64) -> bool {
        // Relaxed: it decides by which policy a request is answered, not over memory.
        now >= self.away_from.load(Ordering::Relaxed)
    }

    pub(crate) fn fault(&self) -> Option<SharedError> {
        locked(&self.fault).clone()
    }

    pub(crate) fn asks(&self) -> u64 {
        self.asks.load(Ordering::Relaxed) // as in `sent`
    }

    #[inline]
    pub(crate) fn time(&self) -> Time {
        self.clocks.time
    }

    /// Returns the time of the quick clock, in nanoseconds; `None` if that must be read anew, and
    /// in a forked child.
    #[inline]
    pub(crate) fn quick(&self) -> Option<u64> {
        if self.clocks.time.is_of_another_process() { None } else { self.clocks.pulse.quick() }
    }

    /// Reads the quick clock anew, and returns its time in nanoseconds.
    pub(crate) fn beat(&self) -> u64 {
        self.clocks.pulse.beat(|| self.clocks.time.nanos())
    }

    /// Stops the quick clock: no permits are left.
    pub(crate) fn stop(&self) {
        self.clocks.pulse.stop();
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}
