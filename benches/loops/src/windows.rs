//! Loops on windows of two half seconds: a `Count` and a `Value`, by a ticker's time and by a time
//! that is given.

use std::cell::Cell;
use std::time::Duration;

use windrow::clock::Ticker;
use windrow::{Clock, SlidingWindow, Timestamp, diagnostics::Strategy, events};

use crate::took::{Loop, Took, in_turn, one};

events! {
    /// The events of one endpoint.
    pub(crate) enum Http { Pass: Count, Block: Count, Exception: Count, Success: Count, Rt: Value }
}

const INTERVAL: Duration = Duration::from_secs(1);

/// A clock that shows each thread the time which that thread was given.
pub(crate) struct GivenTime;

thread_local!(static GIVEN: Cell<u64> = const { Cell::new(0) });

impl GivenTime {
    /// Gives this thread a time, in nanoseconds.
    #[inline]
    pub(crate) fn set(nanos: u64) {
        GIVEN.set(nanos);
    }
}

impl Clock for GivenTime {
    #[inline]
    fn now(&self) -> Timestamp {
        Timestamp::from_nanos(GIVEN.get())
    }

    fn resolution(&self) -> Duration {
        Duration::ZERO
    }
}

/// Returns a window on `clock`.
pub(crate) fn window<C: Clock>(
    interval: Duration,
    buckets: usize,
    clock: C,
) -> SlidingWindow<Http, C> {
    let builder = SlidingWindow::<Http>::builder().interval(interval).buckets(buckets);
    builder.clock(clock).build().expect("sound settings")
}

/// Gives this thread the time of [`given`].
pub(crate) fn give_time() {
    GivenTime::set(INTERVAL.as_nanos() as u64);
}

/// Returns a window whose time is given.
pub(crate) fn given() -> SlidingWindow<Http, GivenTime> {
    give_time();
    window(INTERVAL, 2, GivenTime)
}

/// Returns how windows count in this process, which may be another way than counters.
#[cfg(not(feature = "before"))]
pub(crate) fn strategy() -> Strategy {
    given().strategy()
}

#[cfg(feature = "before")]
pub(crate) fn strategy() -> Strategy {
    windrow::diagnostics::strategy()
}

/// The four loops of one call, by both clocks, on one and in turn.
macro_rules! loops {
    ($event:expr, $call:ident) => {
        [
            (|times| {
                let ticker = Ticker::start(Duration::from_millis(1));
                let make = || window(INTERVAL, 2, ticker.clone());
                one(times, make, |window, n| window.$call($event, n))
            }) as fn(u64) -> Took,
            |times| {
                let ticker = Ticker::start(Duration::from_millis(1));
                let make = || window(INTERVAL, 2, ticker.clone());
                in_turn(times, make, |window, n| window.$call($event, n))
            },
            |times| one(times, given, |window, n| window.$call($event, n)),
            |times| in_turn(times, given, |window, n| window.$call($event, n)),
        ]
    };
}

const ADD: [Loop; 4] = loops!(Http::Pass, add);
const RECORD: [Loop; 4] = loops!(Http::Rt, record);

/// All of them, by name.
pub(crate) const LOOPS: &[(&str, Loop)] = &[
    ("window add, one", ADD[0]),
    ("window add, in turn", ADD[1]),
    ("window add, time given, one", ADD[2]),
    ("window add, time given, in turn", ADD[3]),
    ("window record, one", RECORD[0]),
    ("window record, in turn", RECORD[1]),
    ("window record, time given, one", RECORD[2]),
    ("window record, time given, in turn", RECORD[3]),
];
