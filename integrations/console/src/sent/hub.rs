//! The streams, and the thread that makes frames for them.
//!
//! There is one sampler, and only while there are streams. It makes one frame a second, which all
//! streams share. A stream that has not taken a frame when the next one is there never gets it: it
//! asks for a full one instead. So a client that reads slowly keeps one frame from being freed, but
//! no queue.
//!
//! A stream has a seat, of which there are [`MOST_STREAMS`]. It loses the seat if its client takes
//! nothing for [`SILENT`]; or, if all seats are taken, to a new stream, once it has had the seat
//! for [`TURN`] and no other has had one for longer. So clients that read nothing, or that never
//! leave, cannot keep others out.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch;

use super::frame::{Frame, Sampler};
use crate::read::buckets::millis;
use crate::shown::registry::Shown;
use crate::unusual::keeper::Keeper;

/// The greatest number of streams at a time.
pub(crate) const MOST_STREAMS: usize = 64;

/// The time after which a stream whose client takes nothing loses its seat.
const SILENT: Duration = Duration::from_secs(10);

/// The number of frames that it must have missed by then. (A sampler that is held up sends none.)
const MISSED: u64 = 8;

/// The time for which no other stream can take a stream's seat.
const TURN: Duration = Duration::from_secs(60);

/// The time from one frame to the next.
const PERIOD: Duration = Duration::from_secs(1);

/// The shorter time to the next frame if a new stream waits for it.
const SOON: Duration = Duration::from_millis(100);

/// The streams, and the frame that they send next.
pub(crate) struct Hub {
    shown: Arc<Shown>,
    keeper: Arc<Keeper>,
    latest: watch::Sender<Latest>,
    state: Mutex<State>,
    changed: Condvar,
}

/// The next message of a stream.
#[derive(Clone)]
pub(crate) enum Latest {
    /// No frame is there yet.
    Nothing,
    Frame(Arc<Frame>),
    /// The stream is to end.
    Closed,
}

#[derive(Default)]
struct State {
    seats: Vec<Arc<Seat>>,
    /// True if a sampler is running.
    is_sampled: bool,
    wanted: Wanted,
    is_closed: bool,
    /// The number of the last frame.
    number: u64,
}

/// A place among the streams, by which a stream says that its client takes what it sends.
pub(crate) struct Seat {
    taken: Instant,
    is_lost: AtomicBool,
    /// The time at which the stream was last polled, in milliseconds after `taken`. A stream is
    /// polled when its connection can take more.
    polled: AtomicU64,
    /// The number of the frame that it found then.
    seen: AtomicU64,
}

impl Seat {
    /// Returns whether the client takes nothing, when the last frame has this number.
    fn is_silent(&self, frame: u64) -> bool {
        // Relaxed, here and below: each of these words stands for itself.
        let polled = Duration::from_millis(self.polled.load(Ordering::Relaxed));
        let seen = self.seen.load(Ordering::Relaxed);
        self.taken.elapsed().saturating_sub(polled) >= SILENT && frame >= seen + MISSED
    }

    fn lose(&self) {
        self.is_lost.store(true, Ordering::Relaxed);
    }

    /// Records that the stream is polled. Returns whether it still has its seat.
    pub(crate) fn note(&self) -> bool {
        self.polled.store(millis(self.taken.elapsed()), Ordering::Relaxed);
        !self.is_lost.load(Ordering::Relaxed)
    }

    /// Records the number of the frame that the stream has found.
    pub(crate) fn saw(&self, frame: u64) {
        self.seen.store(frame, Ordering::Relaxed);
    }
}

/// The kind and the time of the next frame.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    /// The changes, at the regular time.
    #[default]
    Changes,
    /// A full frame, at the regular time, because a stream has missed a frame. If it came sooner, a
    /// slow client would cost many a second.
    Full,
    /// A full frame, soon, because of a new client.
    FullSoon,
}

impl State {
    /// Returns whether there is a seat for one more stream. The stream that has had its seat for
    /// longest may lose it.
    fn has_room(&mut self) -> bool {
        if self.seats.len() < MOST_STREAMS {
            return true;
        }
        // They stand in the order in which they were taken.
        let had_its_turn = self.seats.first().is_some_and(|seat| seat.taken.elapsed() >= TURN);
        if had_its_turn {
            self.seats.remove(0).lose();
        }
        had_its_turn
    }

    /// Takes the seats of streams whose clients take nothing.
    fn drop_silent(&mut self) {
        let frame = self.number;
        self.seats.retain(|seat| {
            let is_silent = seat.is_silent(frame);
            if is_silent {
                seat.lose();
            }
            !is_silent
        });
    }
}

impl Hub {
    pub(crate) fn new(shown: Arc<Shown>, keeper: Arc<Keeper>) -> Hub {
        let (latest, _) = watch::channel(Latest::Nothing);
        Hub { shown, keeper, latest, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns a hub of the same console, without streams yet.
    #[cfg(feature = "server")]
    pub(crate) fn anew(&self) -> Hub {
        Hub::new(Arc::clone(&self.shown), Arc::clone(&self.keeper))
    }

    /// Returns a listener; `None` if there is no seat, the console is closed, or the sampler cannot
    /// be started.
    pub(crate) fn listen(self: &Arc<Hub>) -> Option<Listener> {
        let mut state = self.lock();
        if state.is_closed || !state.has_room() {
            return None;
        }
        if !state.is_sampled {
            let hub = Arc::clone(self);
            let name = "windrow-sampler".to_owned();
            thread::Builder::new().name(name).spawn(move || hub.sample()).ok()?;
            state.is_sampled = true;
        }
        let seat = Arc::new(Seat {
            taken: Instant::now(),
            is_lost: AtomicBool::new(false),
            polled: AtomicU64::new(0),
            seen: AtomicU64::new(state.number),
        });
        state.seats.push(Arc::clone(&seat));
        state.wanted = Wanted::FullSoon;
        self.changed.notify_all();
        Some(Listener { hub: Arc::clone(self), latest: self.latest.subscribe(), seat })
    }

    /// Ends all streams, and lets no other begin.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        self.latest.send_replace(Latest::Closed);
        self.changed.notify_all();
    }

    /// The sampler's thread. It ends when there is no stream any more.
    fn sample(self: Arc<Hub>) {
        let _ends = EndsStreams(&self);
        let mut sampler = Sampler::new(&self.shown, &self.keeper);
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

    /// Waits for the time of the next frame: its number, and whether it is to be full. `None` if
    /// there is no stream.
    fn next_frame(&self, last: Option<Instant>) -> Option<(u64, bool)> {
        let mut state = self.lock();
        loop {
            state.drop_silent();
            if state.seats.is_empty() || state.is_closed {
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

/// Ends the streams if the sampler panics, in a function of a metric. The next stream starts
/// another sampler.
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

/// The receiver of a stream. It has a seat until it is dropped, or loses it.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    pub(crate) latest: watch::Receiver<Latest>,
    pub(crate) seat: Arc<Seat>,
}

impl Listener {
    /// Asks for a full frame.
    pub(crate) fn wants_full(&self) {
        let mut state = self.hub.lock();
        state.wanted = state.wanted.max(Wanted::Full);
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.lock().seats.retain(|seat| !Arc::ptr_eq(seat, &self.seat));
        self.hub.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(age: Duration) -> Arc<Seat> {
        Arc::new(Seat {
            taken: Instant::now().checked_sub(age).unwrap(),
            is_lost: AtomicBool::new(false),
            polled: AtomicU64::new(u64::try_from(age.as_millis()).unwrap()),
            seen: AtomicU64::new(100),
        })
    }

    fn state(seats: impl IntoIterator<Item = Arc<Seat>>) -> State {
        State { seats: seats.into_iter().collect(), number: 100, ..State::default() }
    }

    #[test]
    fn a_stream_that_begins_takes_the_seat_that_another_has_had_for_longest() {
        let mut young = state((0..MOST_STREAMS).map(|_| seat(TURN / 2)));
        assert!(!young.has_room(), "each has had it for half a minute");
        let ages = (0..MOST_STREAMS as u64).map(|at| TURN + Duration::from_secs(64 - at));
        let mut old = state(ages.map(seat));
        let first = Arc::clone(&old.seats[0]);
        assert!(old.has_room());
        assert!(first.is_lost.load(Ordering::Relaxed) && old.seats.len() == MOST_STREAMS - 1);
        assert!(!old.seats[0].is_lost.load(Ordering::Relaxed));
    }

    #[test]
    fn only_a_client_that_takes_nothing_while_frames_come_is_silent() {
        let seat = seat(Duration::from_secs(30));
        assert!(!seat.is_silent(100 + MISSED), "it has just been polled");
        seat.polled.store(15_000, Ordering::Relaxed);
        assert!(!seat.is_silent(101), "hardly a frame came");
        assert!(seat.is_silent(100 + MISSED));
        let mut state = State { number: 100 + MISSED, ..state([Arc::clone(&seat)]) };
        state.drop_silent();
        assert!(state.seats.is_empty() && seat.is_lost.load(Ordering::Relaxed));
    }
}
