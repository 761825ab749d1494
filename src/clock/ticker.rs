//! A thread that publishes the time, so that reading it costs one load.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use arc_swap::ArcSwap;
use crossbeam_utils::CachePadded;

use super::{Clock, monotonic};
use crate::Timestamp;
use crate::sync::{AtomicBool, AtomicU64, Ordering};

/// A published tick: one thread writes the time down every period, and `now` is one load.
///
/// The cheapest clock for adds. One thread serves every window that shares the ticker by clones;
/// it sleeps between ticks and ends when the last clone drops (that drop waits for it to end,
/// microseconds). A tick can come late when the machine is busy; the time shown is then older than
/// a period, never ahead.
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
    handle: Arc<Handle>,
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
        let tick = Arc::new(Tick {
            nanos: CachePadded::new(AtomicU64::new(monotonic::fine_nanos())),
            settings: ArcSwap::from_pointee(Settings::new(period)),
            ended: AtomicBool::new(false),
        });
        let thread = thread::Builder::new().name("windrow-ticker".into()).spawn({
            let tick = Arc::clone(&tick);
            move || tick.run()
        })?;
        let handle = Handle { tick: Arc::clone(&tick), thread: Some(thread) };
        Ok(Ticker { tick, handle: Arc::new(handle) })
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
        self.tick.settings.store(Arc::new(Settings::new(period)));
        self.handle.wake();
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
        // Relaxed: the time is a number and publishes nothing. Coherence alone keeps a thread, and
        // whoever it has told of a reading, from seeing an earlier one.
        Timestamp::from_nanos(self.tick.nanos.load(Ordering::Relaxed))
    }

    /// The period.
    fn resolution(&self) -> Duration {
        self.tick.settings.load().period
    }
}

/// What may be changed while the ticker runs: read at every tick, changed rarely.
#[derive(Debug)]
struct Settings {
    period: Duration,
}

impl Settings {
    fn new(period: Duration) -> Settings {
        Settings { period: period.max(Ticker::SHORTEST) }
    }
}

/// What the thread and the handles share.
#[derive(Debug)]
struct Tick {
    nanos: CachePadded<AtomicU64>,
    settings: ArcSwap<Settings>,
    ended: AtomicBool,
}

impl Tick {
    fn run(&self) {
        // Relaxed: nothing is read after the end that was written before it; `join` synchronises.
        while !self.ended.load(Ordering::Relaxed) {
            self.nanos.store(monotonic::fine_nanos(), Ordering::Relaxed);
            thread::park_timeout(self.settings.load().period);
        }
    }
}

/// Ends the thread when the last clone drops it.
#[derive(Debug)]
struct Handle {
    tick: Arc<Tick>,
    thread: Option<JoinHandle<()>>,
}

impl Handle {
    fn wake(&self) {
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.tick.ended.store(true, Ordering::Relaxed);
        self.wake(); // `unpark` happens before the return of `park`, so the store is seen
        if let Some(thread) = self.thread.take() {
            // Its body cannot panic; and a panic there would be no reason for one here.
            let _ = thread.join();
        }
    }
}
