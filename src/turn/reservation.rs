//! A turn that was reserved, and is given back if it is dropped too early.

use std::fmt::{self, Debug, Formatter};
use std::time::Duration;

use super::settle::Settle;
use super::told::{resolution, until};
use super::undo::Undo;
use super::vacancies::{Turn, Vacancies};
use crate::clock::{Clock, Coarse};

mod ticket;

pub(crate) use ticket::Reference;
pub use ticket::Ticket;

/// A turn that [`Pace::reserve`](crate::Pace::reserve), [`Paces::reserve`](crate::Paces::reserve)
/// or [`Gate::reserve`](crate::Gate::reserve) has reserved for a call.
///
/// The caller waits for [`wait`](Self::wait), calls [`keep`](Self::keep), and goes on. A caller
/// that gives up drops the reservation. Across an `await` that happens by itself: a future that is
/// dropped drops the reservation that it holds.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Pace, pace::RefusedError};
///
/// async fn paced<T>(
///     pace: &Pace,
///     sleep: impl AsyncFnOnce(Duration), // tokio::time::sleep, for example
///     call: impl AsyncFnOnce() -> T,
/// ) -> Result<T, RefusedError> {
///     let turn = pace.reserve(1, Duration::from_secs(2))?;
///     sleep(turn.wait()).await; // dropped here: the turn is given back
///     turn.keep();
///     Ok(call().await)
/// }
/// ```
///
/// # What is given back
///
/// A pace whose last call is dropped before its turn is left **as if that call had never been**: as
/// the other calls that were admitted make it. (`src/pace.rs` has the proof.) Reservations that are
/// given back in the reverse of their order are given back in full. Answers that were given
/// meanwhile stay: a call that was refused because of it is refused.
///
/// If a later call was admitted, that call was told its time, and does not come forward. (So it is
/// also if a pace was changed since, as by [`Pace::set_rate`](crate::Pace::set_rate).) Then the
/// turn is **vacant**, and goes to the next caller that may wait for it: to one with the same
/// weight, or to several with parts of it, that come before the turn. So the limiter admits what it
/// would have admitted if no caller had given up, at the same moments, and exceeds nothing. This is
/// what keeps a limiter serving whose waits are longer than its callers' patience. A turn that no
/// caller takes until then stays empty, which costs its part of the rate. A gate gives every turn
/// back in this way; its turns can be taken until their bucket ends, and one from before a change
/// of the limit is free in its bucket.
///
/// A limiter keeps vacant turns of up to 960 moments; further ones stay empty. They take 24 bytes
/// each, in 64 places that the limiter allocates when its first caller gives up, and more as it
/// needs them: 23 kilobytes at most, until it is dropped. If there is no memory for them then, the
/// process ends, as with any allocation.
///
/// A call that would have to wait, or is refused, looks at each place while any vacant turn is
/// still to come: with 64 places that takes some 50 ns, and with 960 a microsecond. It does not see
/// a turn in a place that another thread is just changing.
///
/// A reservation that is dropped at its turn, or later, counts as used. The same holds if it is
/// dropped so shortly before that the [resolution](Clock::resolution) of the clock cannot tell. So
/// a caller that has slept, and forgets `keep`, mostly gives nothing back that it has used; but the
/// limiter knows no other time than its clock's, which may be late or step back. Only `keep` is
/// sure.
///
/// A drop costs the clock's reading and one compare-exchange, or a few and a look at each place. It
/// never fails, panics or waits.
#[must_use = "a reservation that is dropped at once is given back"]
pub struct Reservation<'a, C: Clock = Coarse> {
    clock: &'a C,
    /// The wait as the caller was told it.
    wait: Duration,
    turn: Turn,
    undo: Undo<'a>,
    vacancies: &'a Vacancies,
    limiter: &'a dyn Settle,
    /// Says that a drop at the turn, or later, gives back; otherwise it counts as used.
    gives_back: bool,
}

impl<'a, C: Clock> Reservation<'a, C> {
    /// Makes the reservation of a turn, for a call that has waited for nothing yet at `now`.
    #[inline]
    pub(crate) fn new(
        clock: &'a C,
        now: u64,
        turn: Turn,
        undo: Undo<'a>,
        vacancies: &'a Vacancies,
        limiter: &'a dyn Settle,
    ) -> Reservation<'a, C> {
        let wait = until(turn.moment, now, clock);
        Reservation { clock, wait, turn, undo, vacancies, limiter, gives_back: false }
    }

    /// Makes a reservation that is given back when it is dropped, at any time, as
    /// [`settle(0)`](Self::settle) gives it back. Without this call, a reservation that is dropped
    /// at its turn, or later, counts as used.
    ///
    /// This is for work that may fail, or may not begin, for example because a second limit
    /// refuses. After [`keep`](Self::keep) or [`settle`](Self::settle), nothing is given back.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let gate = |limit| Gate::builder(limit).clock(Manual::default()).build();
    /// let (own, shared) = (gate(2)?, gate(1)?);
    /// let admit = || {
    ///     let turn = own.reserve(1, Duration::ZERO).ok()?.or_give_back();
    ///     shared.reserve(1, Duration::ZERO).ok()?.keep();
    ///     Some(turn.keep())
    /// };
    /// assert_eq!((admit(), admit()), (Some(()), None));
    /// assert_eq!((own.granted(), shared.granted()), (1, 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use = "a reservation that is dropped is given back"]
    pub fn or_give_back(self) -> Reservation<'a, C> {
        let mut reservation = self;
        reservation.gives_back = true;
        reservation
    }

    /// Returns the time from the call of `reserve` to the turn that it reserved; zero if that came
    /// at once. It stays the same when the reservation [moves up](Self::move_up).
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let pace = windrow::Pace::builder(Duration::from_secs(1)).build()?;
    /// assert_eq!(pace.reserve(1, Duration::ZERO)?.wait(), Duration::ZERO);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn wait(&self) -> Duration {
        self.wait
    }

    /// Moves up to the earliest vacant turn before its own, if there is one with its weight, and
    /// vacates its own. Returns the time from now to the turn; zero if it has come.
    ///
    /// A caller that asks now and then, instead of sleeping for the whole [wait](Self::wait), comes
    /// forward when callers before it give up: a quarter of the rest is a good time to sleep. It
    /// then never comes later than it was told.
    ///
    /// Costs the clock's reading; if vacant turns are still to come, a look at each place; if it
    /// moves up, what a drop does.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// let first = pace.reserve(1, Duration::MAX)?;
    /// let mut last = pace.reserve(1, Duration::MAX)?;
    /// assert_eq!(last.move_up(), 2 * second);
    /// drop(first);
    /// assert_eq!(last.move_up(), second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn move_up(&mut self) -> Duration {
        let now = self.clock.now().as_nanos();
        let Turn { moment, lasts, weight, terms } = self.turn;
        if moment > now && !self.wait.is_zero() {
            let earlier = now.saturating_sub(lasts.saturating_sub(1))..=moment - 1;
            if let Some(earlier) = self.vacancies.take(weight, terms, earlier) {
                self.pass_on(weight, now);
                (self.turn.moment, self.undo) = (earlier, Undo::Nothing);
            }
        }
        until(self.turn.moment, now, self.clock)
    }

    /// Keeps the turn: it counts as used, whenever that is.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// assert_eq!(pace.idle_after(), 2 * second);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn keep(self) {
        std::mem::forget(self); // it owns nothing
    }

    /// Settles the turn at what the call has really cost: the limiter counts `actual` for it
    /// instead of the weight that was reserved. Returns whether anything was given back, to the
    /// limiter or to the next callers.
    ///
    /// - *Less*: the difference is given back where it was reserved, if it still counts there.
    ///   Before the turn it goes to the next callers, as a drop.
    /// - *More*: the difference is charged. A charge that does not fit holds the next callers back:
    ///   they get nothing until it is paid, for as long as that takes.
    /// - The same: it is [`keep`](Self::keep).
    /// - Zero: the turn is given back, whether it has come or not.
    ///
    /// # A gate
    ///
    /// For each run of buckets as long as the interval, the sum of all costs that are settled, and
    /// of the weights of those that are not, is at most the limit. A refund is free in its bucket.
    /// A charge counts there as far as the bucket has room, and otherwise in the current bucket and
    /// in those that follow. [`Gate::waiting`](crate::Gate::waiting) has what is
    /// not paid yet.
    ///
    /// If the bucket has left the interval, or a [change of the geometry](crate::Gate::reconfigure)
    /// has moved what it held, nothing is given back. A gate that is
    /// [retired](crate::Gate::retire) is charged nothing. A gate owes up to 2^64 - 1 units, and
    /// forgets what is above.
    ///
    /// # A pace
    ///
    /// The [promise](crate::Pace#what-is-promised) holds for the weights as they are settled. The
    /// last call is left as if it had asked for `actual`. An earlier call gives back the periods
    /// that are safe whatever the later calls were: those that were to come, from now or from the
    /// last moment that a caller was told, until the end of its own, less the periods that others
    /// have given back since. So a call gives nothing back when the time of all that was admitted
    /// until its own is over, or to a pace that was [changed](crate::Pace::set_rate) since.
    /// [`Paces`](crate::Paces) give back what the last call has not used, and no more. (If the
    /// clock leaps ahead and steps back meanwhile, a span may also hold the weight that was given
    /// back.)
    ///
    /// A charge takes its periods behind all calls, up to the end of time.
    ///
    /// # Cost
    ///
    /// A gate gives back and charges as it opens a bucket, unless a charge fits into the current
    /// one: that is a grant. A pace needs one compare-exchange; the first one that gives back for a
    /// call that was not the last, or charges more than the burst, makes the pace one that was
    /// changed: each of its calls then costs what one of [`Paces`](crate::Paces) does. Settling
    /// never fails, panics or waits.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Gate, clock::Manual};
    ///
    /// let gate = Gate::builder(1_000).clock(Manual::default()).build()?; // 1000 tokens a second
    /// let call = gate.reserve(800, Duration::ZERO)?;
    /// assert_eq!(gate.left(), 200);
    /// call.settle(300);
    /// assert_eq!(gate.left(), 700);
    /// gate.reserve(700, Duration::ZERO)?.settle(1_200);
    /// assert_eq!((gate.left(), gate.waiting()), (0, 500)); // 500 are charged in the next second
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Pace, clock::Manual};
    ///
    /// let second = Duration::from_secs(1);
    /// let pace = Pace::builder(second).clock(Manual::default()).build()?;
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// let first = pace.reserve(1, Duration::MAX)?;
    /// pace.reserve(1, Duration::MAX)?.keep();
    /// assert!(first.settle(0)); // the last stays where it was told to come,
    /// assert_eq!(pace.reserve(1, Duration::MAX)?.wait(), second); // and the next gets the turn
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "refund")]
    #[doc(alias = "adjust")]
    #[doc(alias = "reconcile")]
    #[doc(alias = "cancel")]
    pub fn settle(self, actual: u64) -> bool {
        let is_given_back = self.settle_at(actual);
        self.keep();
        is_given_back
    }

    /// Settles the turn, and returns whether anything was given back.
    fn settle_at(&self, actual: u64) -> bool {
        let weight = self.turn.weight;
        if actual == weight {
            return false;
        }
        let now = self.clock.now().as_nanos();
        // By the reading alone: a pace that gives back relies on the moments that have come by it.
        if actual < weight && !self.wait.is_zero() && self.turn.moment > now {
            return self.pass_on(weight - actual, now);
        }
        self.limiter.settle(self.turn, &self.undo, actual, &|| self.clock.now().as_nanos())
    }

    /// Gives the turn back if it has not come.
    fn give_back(&self) {
        if !self.wait.is_zero() {
            let now = self.clock.now().as_nanos();
            if self.is_to_come(now) {
                self.pass_on(self.turn.weight, now);
            }
        }
    }

    /// Returns whether the turn surely has not come at `now`.
    fn is_to_come(&self, now: u64) -> bool {
        !self.wait.is_zero() && self.turn.moment > now.saturating_add(resolution(self.clock))
    }

    /// Gives back a part of a turn that has not come. Returns whether it did.
    fn pass_on(&self, weight: u64, now: u64) -> bool {
        if !self.limiter.passes_on(self.turn) {
            let rest = self.turn.weight - weight;
            return self.limiter.settle(self.turn, &self.undo, rest, &|| now);
        }
        weight == self.turn.weight && self.undo.leaves_no_trace()
            || self.vacancies.pass_on(Turn { weight, ..self.turn }, now)
    }
}

/// Gives the turn back if it has not come; or whenever it is, if it was said at
/// [`or_give_back`](Reservation::or_give_back).
impl<C: Clock> Drop for Reservation<'_, C> {
    fn drop(&mut self) {
        if self.gives_back {
            self.settle_at(0);
        } else {
            self.give_back();
        }
    }
}

/// Shows the wait.
impl<C: Clock> Debug for Reservation<'_, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("wait", &self.wait()).finish_non_exhaustive()
    }
}
