//! The watches of all series.
//!
//! A watch that has been left alone, because no client was there, is made anew from the window's
//! tiers. That takes longer than a look, so each pass over the series makes them for [`MAKING`]
//! only; the others have their turn in the next pass.
//!
//! A watch takes ten kilobytes. Once no pass has begun for [`RECORDED`], those watches are freed
//! whose windows have recorded the past that a watch compares with: the next pass reads the same
//! past from them, as it would have done anyway. The factor by which values
//! come together (`unusual/clumps.rs`) is recorded nowhere, and is learned anew. Any other watch
//! may be all that is known of its past, so it stays for [`USUAL`](past::USUAL). It is freed then,
//! because nothing of it belongs to the last two hours any more. A thread waits for these times. It
//! starts with a pass, and ends when there is no watch, or no console.
//!
//! Frames and answers share the watches. The lock is taken for one series at a time: so two passes,
//! one for a frame and one for an answer, go on side by side.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::{Duration, Instant};

use windrow::Kind;
use windrow::export::{AnyMetric, Series};

use super::evidence::Settings;
use super::past;
use super::watched::{RECORDED, Watched};
use crate::shown::roles::Roles;

/// The time that a pass may take to read the past of series.
const MAKING: Duration = Duration::from_millis(100);

/// The watches, by metric and key.
#[derive(Default)]
pub(crate) struct Watches {
    settings: Settings,
    /// In boxes, so that the free places of a map take little.
    all: Vec<HashMap<String, Box<Watched>>>,
    roles: Vec<Arc<Roles>>,
    /// The number of passes that have begun.
    passes: u64,
    /// The time that a pass may take to read the past.
    making: Duration,
    /// The place in a pass from which on series have their turn to have their past read.
    from: usize,
    /// The beginning of the last pass.
    looked: Option<Instant>,
    /// Ends the thread that frees watches when it is dropped. `None` while there is no thread.
    thread: Option<Sender<()>>,
}

/// A pass over all series.
#[derive(Default)]
pub(crate) struct Pass {
    number: u64,
    /// The time that it has taken to read the past.
    made_for: Duration,
    /// The place from which on series have their turn, and that of the next series.
    from: usize,
    next: usize,
    /// The first one that had no turn: from `from` on, or otherwise before it.
    missed: [Option<usize>; 2],
}

impl Watches {
    /// Returns watches over nothing yet. `events` has those of each metric.
    pub(crate) fn new(
        settings: Settings,
        events: impl Iterator<Item = &'static [(&'static str, Kind)]>,
    ) -> Watches {
        let roles: Vec<_> = events.map(|events| Arc::new(Roles::of(events))).collect();
        let all = roles.iter().map(|_| HashMap::new()).collect();
        Watches { settings, all, roles, making: MAKING, ..Watches::default() }
    }

    /// Begins a pass over all series.
    pub(crate) fn begin(&mut self) -> Pass {
        self.passes += 1;
        self.looked = Some(Instant::now());
        Pass { number: self.passes, from: self.from, ..Pass::default() }
    }

    /// Ends a pass: forgets the series that neither it nor a later one has met.
    pub(crate) fn end(&mut self, pass: &Pass) {
        self.from = pass.missed[0].or(pass.missed[1]).unwrap_or(0);
        for watches in &mut self.all {
            watches.retain(|_, watched| watched.pass >= pass.number);
        }
    }

    /// Returns the watch of a series; `None` if it is not made yet, or the series is no window.
    pub(crate) fn of(
        &mut self,
        pass: &mut Pass,
        metric: usize,
        key: &str,
        series: &dyn Series,
    ) -> Option<&mut Watched> {
        let AnyMetric::Window(window) = series.metric() else { return None };
        let known = &mut self.all[metric];
        let before = known.get(key);
        if before.is_none_or(|watched| watched.series != series.number()) {
            let met = before.map_or(0, |watched| watched.pass);
            let roles = Arc::clone(&self.roles[metric]);
            let watched = Watched::new(series.number(), self.settings, roles, met);
            known.insert(key.to_owned(), Box::new(watched));
        }
        let watched = known.get_mut(key)?;
        watched.pass = watched.pass.max(pass.number);
        let turn = pass.next;
        pass.next += 1;
        let [is_left, is_due] = watched.begin(window);
        if is_due {
            if pass.made_for > self.making || turn < pass.from {
                pass.missed[usize::from(turn < pass.from)].get_or_insert(turn);
                // A season may come later, a past may not.
                return (!is_left).then_some(watched);
            }
            let begun = Instant::now();
            watched.read(window, self.settings, is_left);
            pass.made_for += begun.elapsed();
        }
        Some(watched)
    }

    /// Frees the watches that are not needed at this time. Returns the time until some other may be
    /// freed, among them those of a pass that is still to come; `None` if none is left.
    fn free_unneeded(&mut self, now: Instant) -> Option<Duration> {
        let looked = self.looked?;
        let passed = now.saturating_duration_since(looked);
        if passed >= past::USUAL {
            self.keep(|_| false);
        } else if passed >= RECORDED {
            self.keep(|watched| !watched.is_recorded());
        } else {
            return Some(RECORDED.saturating_sub(passed));
        }
        let is_any = self.all.iter().any(|watches| !watches.is_empty());
        is_any.then(|| past::USUAL.saturating_sub(passed).min(RECORDED))
    }

    /// Keeps only these watches, and the memory that they need.
    fn keep(&mut self, stays: impl Fn(&Watched) -> bool) {
        for watches in &mut self.all {
            watches.retain(|_, watched| stays(watched));
            watches.shrink_to_fit();
        }
    }
}

/// The watches, and the thread that frees them.
pub(crate) struct Keeper(pub(crate) Mutex<Watches>);

impl Keeper {
    /// Begins a pass over all series, and sees to it that a thread frees what is no more needed
    /// after it.
    pub(crate) fn begin(self: &Arc<Keeper>) -> Pass {
        let mut watches = self.lock();
        if watches.thread.is_none() {
            let (sender, receiver) = channel();
            let keeper = Arc::downgrade(self);
            let thread = thread::Builder::new().name("windrow-watches".to_owned());
            // If there is no thread, the next pass tries again.
            if thread.spawn(move || wait(&keeper, &receiver)).is_ok() {
                watches.thread = Some(sender);
            }
        }
        watches.begin()
    }

    /// Looks at a series, under the lock. `look` has its watch; `None` if it is not made yet.
    pub(crate) fn look<T>(
        &self,
        pass: &mut Pass,
        (metric, key): (usize, &str),
        series: &dyn Series,
        look: impl FnOnce(Option<&mut Watched>) -> T,
    ) -> T {
        look(self.lock().of(pass, metric, key, series))
    }

    /// Ends a pass.
    pub(crate) fn end(&self, pass: &Pass) {
        self.lock().end(pass);
    }

    fn lock(&self) -> MutexGuard<'_, Watches> {
        // A panic under the lock, in a function of a metric, leaves watches that are up to date or
        // not.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The thread.
fn wait(keeper: &Weak<Keeper>, ends: &Receiver<()>) {
    let mut time = RECORDED;
    while ends.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
        let Some(keeper) = keeper.upgrade() else { return };
        let mut watches = keeper.lock();
        let Some(left) = watches.free_unneeded(Instant::now()) else {
            watches.thread = None;
            return;
        };
        time = left;
    }
}
