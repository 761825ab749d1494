//! Who listens, and the thread that makes frames for them.
//!
//! There is one sampler, and only while somebody listens. It makes one frame a second, which all streams share. A stream that
//! has not taken a frame when the next one is there never gets it: it asks for a full one instead. So a client that reads slowly
//! keeps one frame from being freed, and no queue.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::console::Shown;
use crate::frame::{Frame, Sampler};

/// How many streams there may be at once.
pub(crate) const MOST_STREAMS: usize = 64;

/// From one frame to the next.
const PERIOD: Duration = Duration::from_secs(1);

/// The same, if somebody who has just come waits for it.
const SOON: Duration = Duration::from_millis(100);

/// Who listens, and what they hear.
pub(crate) struct Hub {
    shown: Arc<Shown>,
    latest: watch::Sender<Latest>,
    state: Mutex<State>,
    changed: Condvar,
}

/// What a stream sends next.
#[derive(Clone)]
pub(crate) enum Latest {
    /// Nothing yet.
    Nothing,
    Frame(Arc<Frame>),
    /// There will be no more.
    Closed,
}

#[derive(Default)]
struct State {
    streams: usize,
    /// Whether there is a sampler.
    is_sampled: bool,
    wanted: Wanted,
    is_closed: bool,
    /// Of the last frame.
    number: u64,
}

/// What the next frame is to be, and when.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// What has changed, in its time.
    #[default]
    Changes,
    /// Full, in its time: a stream has missed a frame. Were it sooner, a slow client would cost many a second.
    Full,
    /// Full, and soon: somebody has come.
    FullSoon,
}

impl Hub {
    pub(crate) fn new(shown: Arc<Shown>) -> Hub {
        let (latest, _) = watch::channel(Latest::Nothing);
        Hub { shown, latest, state: Mutex::default(), changed: Condvar::new() }
    }

    /// A listener; `None` if there are as many as there may be, the console is closed, or there is no thread to be had.
    pub(crate) fn listen(self: &Arc<Hub>) -> Option<Listener> {
        let mut state = self.lock();
        if state.is_closed || state.streams >= MOST_STREAMS {
            return None;
        }
        if !state.is_sampled {
            let hub = Arc::clone(self);
            let name = "windrow-sampler".to_owned();
            thread::Builder::new().name(name).spawn(move || hub.sample()).ok()?;
            state.is_sampled = true;
        }
        state.streams += 1;
        state.wanted = Wanted::FullSoon;
        self.changed.notify_all();
        Some(Listener { hub: Arc::clone(self), latest: self.latest.subscribe() })
    }

    /// Ends all streams, and lets no other begin.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        self.latest.send_replace(Latest::Closed);
        self.changed.notify_all();
    }

    /// The sampler's thread. It ends when nobody listens any more.
    fn sample(self: Arc<Hub>) {
        let _ends = EndsStreams(&self);
        let mut sampler = Sampler::new(&self.shown);
        let mut last: Option<Instant> = None;
        while let Some((number, full)) = self.next_frame(last) {
            last = Some(Instant::now());
            let frame = Latest::Frame(Arc::new(sampler.frame(number, full)));
            let state = self.lock();
            if !state.is_closed {
                self.latest.send_replace(frame);
            }
        }
    }

    /// Waits for the time of the next frame: its number, and whether it is to be full. `None` if nobody listens.
    fn next_frame(&self, last: Option<Instant>) -> Option<(u64, bool)> {
        let mut state = self.lock();
        loop {
            if state.streams == 0 || state.is_closed {
                state.is_sampled = false;
                if !state.is_closed {
                    self.latest.send_replace(Latest::Nothing); // the last frame is no more needed
                }
                return None;
            }
            let period = if state.wanted == Wanted::FullSoon { SOON } else { PERIOD };
            let wait = last.map_or(Duration::ZERO, |last| period.saturating_sub(last.elapsed()));
            if wait.is_zero() {
                state.number += 1;
                return Some((state.number, std::mem::take(&mut state.wanted) > Wanted::Changes));
            }
            let waited = self.changed.wait_timeout(state, wait);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics under the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the streams if the sampler panics, in a function of whoever shows something. The next stream has another.
struct EndsStreams<'h>(&'h Hub);

impl Drop for EndsStreams<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            let mut state = self.0.lock();
            state.is_sampled = false;
            self.0.latest.send_replace(Latest::Closed);
        }
    }
}

/// One who listens. It counts as one until it is dropped.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    pub(crate) latest: watch::Receiver<Latest>,
}

impl Listener {
    /// Asks for a frame that says everything.
    pub(crate) fn wants_full(&self) {
        let mut state = self.hub.lock();
        state.wanted = state.wanted.max(Wanted::Full);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.lock().streams -= 1;
        self.hub.changed.notify_all();
    }
}
