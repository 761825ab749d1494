//! The states of a breaker, as its users see them.

use crate::timestamp::Timestamp;

/// The state of a [`Breaker`](crate::Breaker).
///
/// ```
/// use windrow::{Breaker, breaker::{Settings, State}};
///
/// let breaker = Breaker::of(Settings::last_calls(10));
/// assert_eq!(breaker.state(), State::Closed);
/// assert_eq!(breaker.state() as u64, 0); // for exporters
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Calls are let through, and their outcomes are counted.
    Closed = 0,
    /// A few calls are let through on trial.
    HalfOpen = 1,
    /// No call is let through.
    Open = 2,
}

impl State {
    /// Returns the state with a number; the last one for any greater number.
    pub(super) const fn of(number: u64) -> State {
        match number {
            0 => State::Closed,
            1 => State::HalfOpen,
            _ => State::Open,
        }
    }
}

/// The state of a breaker, and since when: from [`Breaker::status`](crate::Breaker::status).
///
/// ```
/// use std::time::Duration;
/// use windrow::{Breaker, breaker::{Settings, State}, clock::Manual};
///
/// let clock = Manual::default();
/// let breaker = Breaker::with_clock(Settings::last_calls(1), clock.clone())?;
/// let before = breaker.status();
/// clock.advance(Duration::from_secs(7));
/// breaker.try_call().expect("closed").failure();
/// let now = breaker.status();
/// if now.transitions != before.transitions {
///     println!("{:?} since {:?}", now.state, now.since); // a line of a log, for example
/// }
/// assert_eq!((now.state, now.transitions), (State::Open, 1));
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// The state.
    pub state: State,
    /// The time of the last transition, by the breaker's clock; `None` before the first one.
    pub since: Option<Timestamp>,
    /// The number of transitions since the breaker was made. A program that looks from time to time
    /// sees by it that there were others.
    pub transitions: u64,
}
