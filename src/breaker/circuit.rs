//! The breaker itself: its two values, and the steps that exchange them.

use std::fmt::{self, Debug, Formatter};

use crossbeam_utils::CachePadded;

use super::condition::{self, Answer, Condition};
use super::counts::{Counts, Tally};
use super::measured::{self, Measured};
use super::refused::OpenError;
use super::settings::Settings;
use super::state::State;
use super::terms::Terms;
use crate::clock::{Clock, Coarse, quick_now};
use crate::error::LimitError;
use crate::last_calls::{CallTotals, Outcome};
use crate::sync::{Ordering, const_fn, spin_loop};
use crate::timestamp::Timestamp;
use crate::turn::told::{resolution, until};
use crate::wide::Wide;

/// A circuit breaker: lets calls through while they go well, and refuses them for a while when too
/// many failed, or were slow.
///
/// ```
/// use std::time::Duration;
/// use windrow::{Breaker, breaker::{Settings, State}, clock::Manual};
///
/// let second = Duration::from_secs(1);
/// let settings = Settings::last_calls(100)
///     .minimum_calls(20)
///     .failed_percent(50)
///     .trials(1)
///     .open_for(5 * second)
///     .up_to(60 * second);
/// let clock = Manual::default();
/// let breaker = Breaker::with_clock(settings, clock.clone())?;
///
/// for _ in 0..20 {
///     match breaker.try_call() {
///         Ok(call) => call.failure(), // or `success`; a drop says nothing
///         Err(open) => println!("come back after {:?}", open.retry_after),
///     }
/// }
/// assert_eq!(breaker.state(), State::Open);
/// clock.advance(5 * second);
/// breaker.try_call().expect("a trial").success();
/// assert_eq!(breaker.state(), State::Closed);
/// # Ok::<(), windrow::LimitError>(())
/// ```
///
/// [`of`](Self::of) makes a breaker in a `static`. In a [`Family`](crate::Family) there is one for
/// each upstream. A whole program is in the [guide](crate::guide::circuit_breaker).
///
/// # States
///
/// | state | calls | ends |
/// |---|---|---|
/// | closed | are let through and measured | when a share of failed or slow calls is reached |
/// | open | are refused | after its time, at the next call |
/// | half open | the first few are trials, the others are refused | when the trials have decided |
///
/// **Closed.** The outcomes of the last calls, or of an interval, are measured. The outcome after
/// which at least the [minimum of calls](Settings::minimum_calls) is there, and the share of failed
/// calls or that of slow ones is reached, opens the breaker. It may be a success. If calls come one
/// after another, it is exactly that call, and the next one is refused. If threads call at once,
/// the outcomes have one order, in which the first that reaches a share opens the breaker; calls
/// that are let through before that outcome is told run on.
///
/// **Open.** The time is [that of the settings](Settings::open_for), and may
/// [double](Settings::up_to) from one opening to the next. No timer ends it: the first call behind
/// it is a trial.
///
/// **Half open.** At most [`trials`](Settings::trials) calls are let through. A trial that is
/// dropped gives its place back. As soon as the share of all trials is reached, whatever
/// those that still run will say, the breaker is open again. If all trials have ended, and that
/// share is not reached, the breaker is closed, and measures anew. Trials that do not end are
/// overdue after the [timeout](Settings::trial_timeout): then the next call finds it open.
///
/// **An outcome counts in the state in which its call was let through**, or not at all: a call from
/// before the opening says nothing once the breaker was opened, however late it is told.
///
/// # Time
///
/// A clock that steps back or leaps opens and closes nothing. After a reading that was ahead, the
/// breaker is open for at most the time of its opening, counted from the next call. An interval
/// begins anew if the clock steps back by all of it.
///
/// # Cost and progress
///
/// While it is closed, `try_call` costs the clock's reading and some loads of memory that only
/// transitions write; while it is open the same, and an add to a counter. A trial is one
/// compare-exchange. An outcome is one exchange of 38 words: three atomic operations on memory that
/// all cores share, since all outcomes have one order. So it contends, as [`LastCalls`] do, unlike
/// an add to a window. Nothing fails, panics, takes a lock or waits for another thread.
///
/// A breaker takes 2 kilobytes, and allocates nothing, unless more than three threads exchange at
/// the same moment.
///
/// # Export and events
///
/// [`counts`](Self::counts) has the all-time numbers of calls and transitions. A breaker in a
/// [`Catalog`](crate::export::Catalog) is exported with them, by the label `event`; its state is a
/// gauge by [`from_fn`](crate::export::from_fn):
///
/// ```
/// use std::time::Duration;
/// use windrow::{Breaker, breaker::Settings, export::{Catalog, from_fn}};
///
/// static PAYMENTS: Breaker = Breaker::of(Settings::last_calls(100));
///
/// let mut catalog = Catalog::new();
/// catalog.add("payments_breaker", "Calls and transitions", &PAYMENTS)?;
/// let state = from_fn(|| f64::from(PAYMENTS.state() as u8));
/// catalog.add("payments_breaker_state", "0 closed, 1 half open, 2 open", state)?;
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
///
/// There are no callbacks. [`counts`](Self::counts) has the number of transitions, for a program
/// that looks from time to time, and [`since`](Self::since) the time of the last one.
///
/// [`LastCalls`]: crate::LastCalls
#[doc(alias = "circuit breaker")]
#[doc(alias = "CircuitBreaker")]
#[doc(alias = "gobreaker")]
#[doc(alias = "failsafe")]
pub struct Breaker<C = Coarse> {
    terms: Terms,
    clock: C,
    /// Written by transitions and trials alone: calls of all cores read it in their caches.
    condition: CachePadded<Wide<{ condition::WORDS }>>,
    measured: CachePadded<Wide<{ measured::WORDS }>>,
    tally: Tally,
}

/// The facts about a call that a breaker has let through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticket {
    /// The generation in which it was let through.
    pub(super) generation: u64,
    /// The clock's reading at that time.
    pub(super) began: u64,
    pub(super) is_trial: bool,
}

impl Breaker {
    /// Makes a breaker that can stand in a `static`, on the [`Coarse`] clock.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::Settings};
    ///
    /// static PAYMENTS: Breaker = Breaker::of(Settings::last_calls(100).minimum_calls(20));
    ///
    /// PAYMENTS.try_call().expect("closed").success();
    /// ```
    ///
    /// Do not put it into a `const`: each mention of a `const` is another breaker.
    ///
    /// # Panics
    ///
    /// The call panics where [`with_clock`](Self::with_clock) would return an error, and if a time
    /// is shorter than 100 ms. In a `static`, each of these is an error of the compiler:
    ///
    /// ```compile_fail,E0080
    /// use windrow::{Breaker, breaker::Settings};
    ///
    /// static PAYMENTS: Breaker = Breaker::of(Settings::last_calls(10).minimum_calls(20));
    /// # assert!(PAYMENTS.try_call().is_ok());
    /// ```
    #[cfg(not(any(loom, shuttle)))]
    #[must_use]
    #[inline]
    pub const fn of(settings: Settings) -> Breaker {
        // As for a gate's buckets: ten ticks of a clock with a resolution of 10 ms.
        match settings.terms(10_000_000) {
            Ok(terms) => Breaker::made_of(terms, Coarse::NEW),
            Err(error) => panic!("{}", error.rule()),
        }
    }
}

impl<C> Breaker<C> {
    const_fn! {
        const fn made_of(terms: Terms, clock: C) -> Breaker<C> {
            let condition = CachePadded::new(Wide::zero());
            let measured = CachePadded::new(Wide::zero());
            Breaker { terms, clock, condition, measured, tally: Tally::new() }
        }
    }
}

impl<C: Clock> Breaker<C> {
    /// Makes a breaker on a clock, with settings that may be unsound: those of a file, for example.
    /// (The clock of [`of`](Breaker::of) is a [`Coarse`] one.)
    ///
    /// # Errors
    ///
    /// [`LimitError`] if it could never open, or never close again, by these settings; or if a
    /// time is too short for the clock.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Breaker, breaker::Settings, clock::Precise};
    ///
    /// let settings = Settings::last_calls(100).slow_percent(50, Duration::from_millis(5));
    /// let breaker = Breaker::with_clock(settings, Precise::default())?;
    /// assert!(breaker.try_call().is_ok());
    /// let error = Breaker::with_clock(settings.trials(0), Precise::default()).unwrap_err();
    /// assert_eq!(error.to_string(), "the number of trials is 0; it must be 1 to 1000");
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    pub fn with_clock(settings: Settings, clock: C) -> Result<Breaker<C>, LimitError> {
        Ok(Breaker::made_of(settings.terms(resolution(&clock))?, clock))
    }

    /// Returns the state. A breaker that was open for its time stays [`Open`](State::Open) until
    /// the next call, which is a trial.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::{Settings, State}};
    ///
    /// assert_eq!(Breaker::of(Settings::last_calls(9)).state(), State::Closed);
    /// ```
    pub fn state(&self) -> State {
        Condition::of(self.condition.load()).state
    }

    /// Returns the time of the last transition, by the breaker's clock: since when it has its
    /// [state](Self::state). `None` before the first transition. The number of transitions is in
    /// the [counts](Self::counts).
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow::{Breaker, Timestamp, breaker::Settings, clock::Manual};
    ///
    /// let clock = Manual::default();
    /// let breaker = Breaker::with_clock(Settings::last_calls(1), clock.clone())?;
    /// clock.advance(Duration::from_secs(7));
    /// breaker.try_call().expect("closed").failure();
    /// assert_eq!(breaker.since(), Some(Timestamp::from_secs(7)));
    /// # Ok::<(), windrow::LimitError>(())
    /// ```
    #[doc(alias = "status")]
    pub fn since(&self) -> Option<Timestamp> {
        let Condition { generation, since, .. } = Condition::of(self.condition.load());
        (generation > 0).then(|| Timestamp::from_nanos(since))
    }

    /// Returns the calls by which the breaker is judged now: those of the last closed time, which
    /// have opened it, until it is closed again.
    ///
    /// ```
    /// use windrow::{Breaker, breaker::Settings, last_calls::CallTotals};
    ///
    /// let breaker = Breaker::of(Settings::last_calls(100));
    /// breaker.try_call().expect("closed").failure();
    /// assert_eq!(breaker.totals(), CallTotals { calls: 1, failed: 1, slow: 0 });
    /// ```
    pub fn totals(&self) -> CallTotals {
        let Condition { state, generation, .. } = Condition::of(self.condition.load());
        let generation = if state == State::Closed { generation } else { 0 };
        let measured = Measured(self.measured.load());
        measured.totals(generation, self.clock.now().as_nanos(), &self.terms)
    }

    /// Returns the all-time counts. Each is exact, and at its own moment during the call.
    pub fn counts(&self) -> Counts {
        let [succeeded, failed, slow] = Measured(self.measured.load()).ever();
        let [closed, half_opened, opened] =
            [0, 1, 2].map(|to: usize| self.tally.transitions[to].load(Ordering::Relaxed));
        let ignored = self.tally.ignored.load(Ordering::Relaxed);
        let refused = self.tally.refused.lifetime();
        Counts { opened, half_opened, closed, refused, succeeded, failed, slow, ignored }
    }

    /// Decides about a call.
    #[inline]
    pub(super) fn admit(&self) -> Result<Ticket, OpenError> {
        loop {
            let (version, words) = self.condition.glance();
            let (condition, now) = (Condition::of(words), quick_now(&self.clock).as_nanos());
            let (answer, next) = condition.asked(now, &self.terms);
            let is_done = match next {
                None => self.condition.is_at(version),
                Some(next) => self.condition.exchange(version, next.words()),
            };
            if is_done {
                let next = next.unwrap_or(condition);
                self.count_transition(condition, next);
                return self.answered(answer, next.generation, now);
            }
            spin_loop();
        }
    }

    #[inline]
    fn answered(&self, answer: Answer, generation: u64, now: u64) -> Result<Ticket, OpenError> {
        match answer {
            Answer::Call { is_trial } => Ok(Ticket { generation, began: now, is_trial }),
            Answer::Refused { until: end } => {
                self.tally.refused.increment();
                let retry_after = end.map(|end| until(end, now, &self.clock));
                Err(OpenError { retry_after })
            }
        }
    }

    /// Takes the outcome of a call.
    #[inline]
    pub(super) fn ended(&self, call: Ticket, failed: bool) {
        let (outcome, now, totals) = loop {
            let (version, words) = self.measured.glance();
            let now = quick_now(&self.clock).as_nanos();
            let slow = self.terms.is_slow(now.saturating_sub(call.began));
            let (outcome, mut measured) = (Outcome { failed, slow }, Measured(words));
            measured.count(outcome);
            let totals = if call.is_trial {
                None
            } else {
                measured.record(call.generation, outcome, now, &self.terms)
            };
            if self.measured.exchange(version, measured.0) {
                break (outcome, now, totals);
            }
            spin_loop();
        };
        if call.is_trial {
            self.change(call, |condition| condition.trial_ended(outcome, now, &self.terms));
        } else if let Some(CallTotals { calls, failed, slow }) = totals
            && self.terms.opens(calls, failed, slow)
        {
            self.change(call, |condition| condition.opened(now, &self.terms));
        }
    }

    /// Takes note of a call whose end says nothing.
    pub(super) fn said_nothing(&self, call: Ticket) {
        self.tally.ignored();
        if call.is_trial {
            self.change(call, Condition::trial_given_back);
        }
    }

    /// Changes the condition by a call, if its generation is not over.
    #[cold]
    fn change(&self, call: Ticket, next: impl Fn(Condition) -> Condition) {
        loop {
            let (version, words) = self.condition.glance();
            let condition = Condition::of(words);
            if condition.generation == call.generation {
                let next = next(condition);
                if self.condition.exchange(version, next.words()) {
                    return self.count_transition(condition, next);
                }
            } else if self.condition.is_at(version) {
                return;
            }
            spin_loop();
        }
    }

    #[inline]
    fn count_transition(&self, from: Condition, to: Condition) {
        if from.generation != to.generation {
            let count = &self.tally.transitions[to.state as usize];
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// Shows the state and the calls by which the breaker is judged.
impl<C: Clock> Debug for Breaker<C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Breaker")
            .field("state", &self.state())
            .field("since", &self.since())
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}
