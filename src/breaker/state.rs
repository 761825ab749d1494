//! The states of a breaker, as its users see them.

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
