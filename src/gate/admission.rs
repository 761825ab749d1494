//! The outcome of [`Gate::admit`](crate::Gate::admit) and [`Pace::admit`](crate::Pace::admit).

use std::time::Duration;

use crate::clock::Clock;
use crate::turn::told::told;

/// The outcome of [`Gate::admit`](crate::Gate::admit) and [`Pace::admit`](crate::Pace::admit).
/// There are these three and no others.
///
/// Both times are counted from the call, and one rule holds for both: a caller that sleeps exactly
/// that long goes on when the clock shows the moment for which it was told to wait, and not before.
/// The clock may show a time up to its [resolution](Clock::resolution) ago, during the call and at
/// the end of the sleep. So each time is the distance from the clock's reading to that moment, and
/// the resolution: on the [`Coarse`](crate::clock::Coarse) clock a tick. If the clock has stepped
/// back, the distance includes that step: see [`Gate`](crate::Gate#time).
///
/// ```
/// use std::time::Duration;
/// use windrow::{Gate, clock::Manual, gate::Admission};
///
/// let clock = Manual::default();
/// let gate = Gate::builder(3).clock(clock.clone()).build()?; // three a second, in two buckets
/// assert_eq!(gate.admit(2, Duration::ZERO), Admission::Now);
/// assert_eq!(gate.admit(2, Duration::from_secs(5)), Admission::After(Duration::from_secs(1)));
/// let full = gate.admit(3, Duration::from_secs(1));
/// assert_eq!(full, Admission::Refused { retry_after: Some(Duration::from_secs(2)) });
/// let too_much = gate.admit(4, Duration::MAX);
/// assert_eq!(too_much, Admission::Refused { retry_after: None });
/// # Ok::<(), windrow::LimitError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "only the caller can wait, or turn a refused request away: an ignored answer limits nothing"]
pub enum Admission {
    /// Go on.
    Now,
    /// Go on after this time: it is granted then. (In a gate it counts in the bucket whose
    /// beginning the clock shows by then.)
    After(Duration),
    /// The call was not admitted, and nothing was taken.
    Refused {
        /// The time after which the same weight would be admitted at once, if nothing else is
        /// admitted until then, and the clock does not step back. It is also the shortest
        /// `max_wait` with which the call would have been admitted, unless it is too long for any.
        /// (It does not tell of an earlier turn whose caller has [given
        /// up](crate::turn::Reservation), which may also be admitted.)
        /// `None`: never, because the weight is above the limit or the burst, or the gate is
        /// [retired](crate::Gate::retire), or time ends earlier.
        retry_after: Option<Duration>,
    },
}

impl Admission {
    /// Returns whether the gate admits the call, now or after a wait.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::Gate;
    ///
    /// let gate = Gate::builder(3).build()?;
    /// assert!(gate.admit(1, Duration::ZERO).is_granted());
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[must_use = "only the caller can turn a refused request away: an ignored answer limits nothing"]
    pub fn is_granted(self) -> bool {
        !matches!(self, Admission::Refused { .. })
    }

    /// Returns the answer for the caller: its time, which was the distance from the clock's reading
    /// to a moment, allows for the clock's resolution as well.
    pub(crate) fn told_by(self, clock: &impl Clock) -> Admission {
        match self {
            Admission::Now => Admission::Now,
            Admission::After(distance) => Admission::After(told(distance, clock)),
            Admission::Refused { retry_after } => {
                let retry_after = retry_after.map(|distance| told(distance, clock));
                Admission::Refused { retry_after }
            }
        }
    }
}
