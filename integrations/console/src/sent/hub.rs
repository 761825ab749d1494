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

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tokio::sync::watch::{self, Receiver};

use super::frame::{Frame, Sampler};
use crate::shown::registry::Shown;
use crate::unusual::watches::Keeper;

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

/// The frame that a stream sends next, if there is one.
pub(crate) type Latest = Option<Arc<Frame>>;

/// The streams, and the frame that they send next.
pub(crate) struct Hub {
    shown: Arc<Shown>,
    pub(crate) keeper: Arc<Keeper>,
    latest: watch::Sender<Latest>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The seats, in the order in which they were taken.
    seats: Vec<Seat>,
    /// The number of seats that were ever taken.
    taken: u64,
    /// True if a sampler is running.
    is_sampled: bool,
    /// The time from the last frame to the next, if that is to be a full one: [`SOON`] because of a
    /// new stream, or [`PERIOD`] because one has missed a frame. If it came sooner then, a slow
    /// client would cost many a second.
    wanted: Option<Duration>,
    is_closed: bool,
    /// The number of the last frame.
    number: u64,
}

/// A place among the streams.
struct Seat {
    number: u64,
    taken: Instant,
    /// The time at which the stream was last polled. A stream is polled when its connection can
    /// take more.
    polled: Instant,
    /// The number of the frame that it found then.
    seen: u64,
}

impl Seat {
    /// Returns whether the client takes nothing, when the last frame has this number.
    fn is_silent(&self, frame: u64) -> bool {
        self.polled.elapsed() >= SILENT && frame >= self.seen + MISSED
    }
}

impl State {
    /// Returns whether there is a seat for one more stream. The stream that has had its seat for
    /// longest may lose it.
    fn has_room(&mut self) -> bool {
        if self.seats.len() >= MOST_STREAMS && self.seats[0].taken.elapsed() >= TURN {
            self.seats.remove(0);
        }
        self.seats.len() < MOST_STREAMS
    }

    /// Takes the seats of streams whose clients take nothing.
    fn drop_silent(&mut self) {
        self.seats.retain(|seat| !seat.is_silent(self.number));
    }
}

impl Hub {
    pub(crate) fn new(shown: Arc<Shown>, keeper: Arc<Keeper>) -> Hub {
        let (latest, _) = watch::channel(None);
        Hub { shown, keeper, latest, state: Mutex::default(), changed: Condvar::new() }
    }

    /// Returns a listener, and the receiver of what its stream is to send; `None` if there is no
    /// seat, the console is closed, or the sampler cannot be started.
    pub(crate) fn listen(self: &Arc<Hub>) -> Option<(Listener, Receiver<Latest>)> {
        let mut state = self.lock();
        if state.is_closed || !state.has_room() {
            return None;
        }
        if !state.is_sampled {
            let hub = Arc::clone(self);
            let name = "windrow-sampler".to_owned();
            thread::Builder::new().name(name).spawn(move || hub.run()).ok()?;
            state.is_sampled = true;
        }
        state.taken += 1;
        let (number, seen, now) = (state.taken, state.number, Instant::now());
        state.seats.push(Seat { number, taken: now, polled: now, seen });
        state.wanted = Some(SOON);
        self.changed.notify_all();
        Some((Listener { hub: Arc::clone(self), seat: number }, self.latest.subscribe()))
    }

    /// Ends all streams, and lets no other begin.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        self.end(&mut state);
        self.changed.notify_all();
    }

    /// Ends all streams: each wakes, and finds that it has lost its seat.
    fn end(&self, state: &mut State) {
        state.seats.clear();
        self.latest.send_replace(None);
    }

    /// The sampler's thread. It ends when there is no stream any more.
    fn run(&self) {
        if catch_unwind(AssertUnwindSafe(|| self.sample())).is_err() {
            // A function of a metric has panicked. The next stream starts another sampler.
            let mut state = self.lock();
            state.is_sampled = false;
            self.end(&mut state);
        }
    }

    fn sample(&self) {
        let mut sampler = Sampler::default();
        let mut last: Option<Instant> = None;
        while let Some((number, full)) = self.next_frame(last) {
            last = Some(Instant::now());
            let frame = sampler.frame(&self.shown, &self.keeper, number, full);
            self.latest.send_replace(Some(Arc::new(frame)));
        }
    }

    /// Waits for the time of the next frame: its number, and whether it is to be full. `None` if
    /// there is no stream.
    fn next_frame(&self, last: Option<Instant>) -> Option<(u64, bool)> {
        let mut state = self.lock();
        loop {
            state.drop_silent();
            if state.seats.is_empty() {
                state.is_sampled = false;
                self.latest.send_replace(None); // the last frame is no more needed
                return None;
            }
            let period = state.wanted.unwrap_or(PERIOD);
            let wait = last.map_or(Duration::ZERO, |last| period.saturating_sub(last.elapsed()));
            if wait.is_zero() {
                state.number += 1;
                return Some((state.number, state.wanted.take().is_some()));
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

/// A stream's seat. The stream has it until this is dropped, or it loses it.
pub(crate) struct Listener {
    hub: Arc<Hub>,
    seat: u64,
}

impl Listener {
    /// Asks for a full frame.
    pub(crate) fn wants_full(&self) {
        self.hub.lock().wanted.get_or_insert(PERIOD);
    }

    /// Records that the stream is polled. Returns whether it still has its seat.
    pub(crate) fn is_polled(&self) -> bool {
        self.with_seat(|seat| seat.polled = Instant::now())
    }

    /// Records the number of the frame that the stream has found.
    pub(crate) fn saw(&self, frame: u64) {
        self.with_seat(|seat| seat.seen = frame);
    }

    /// Does something with the seat. Returns whether there is one.
    fn with_seat(&self, note: impl FnOnce(&mut Seat)) -> bool {
        let mut state = self.hub.lock();
        state.seats.iter_mut().find(|seat| seat.number == self.seat).map(note).is_some()
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.hub.lock().seats.retain(|seat| seat.number != self.seat);
        self.hub.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(number: u64, age: Duration) -> Seat {
        let now = Instant::now();
        Seat { number, taken: now.checked_sub(age).unwrap(), polled: now, seen: 100 }
    }

    fn state(seats: impl IntoIterator<Item = Seat>) -> State {
        State { seats: seats.into_iter().collect(), number: 100, ..State::default() }
    }

    #[test]
    fn a_stream_that_begins_takes_the_seat_that_another_has_had_for_longest() {
        let all = 0..MOST_STREAMS as u64;
        let mut young = state(all.clone().map(|at| seat(at, TURN / 2)));
        assert!(!young.has_room(), "each has had it for half a minute");
        let mut old = state(all.map(|at| seat(at, TURN + Duration::from_secs(64 - at))));
        assert!(old.has_room());
        assert!(old.seats[0].number == 1 && old.seats.len() == MOST_STREAMS - 1);
    }

    #[test]
    fn only_a_client_that_takes_nothing_while_frames_come_is_silent() {
        let mut seat = seat(0, Duration::from_secs(30));
        assert!(!seat.is_silent(100 + MISSED), "it has just been polled");
        seat.polled = seat.taken + Duration::from_secs(15);
        assert!(!seat.is_silent(101), "hardly a frame came");
        assert!(seat.is_silent(100 + MISSED));
        let mut state = State { number: 100 + MISSED, ..state([seat]) };
        state.drop_silent();
        assert!(state.seats.is_empty());
    }
}
