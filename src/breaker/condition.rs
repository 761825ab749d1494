//! The full state of a breaker, and what follows it: without atomics, and without a clock.

use super::state::State;
use super::terms::Terms;
use crate::last_calls::Outcome;

/// The words of a condition.
pub(super) const WORDS: usize = 5;

/// A breaker's state, and all that its transitions depend on. Zeros are those of a new breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    pub(super) state: State,
    /// The number of transitions before.
    pub(super) generation: u64,
    /// The time of the last transition.
    pub(super) since: u64,
    /// If open: the time from which trials are let through. If half open: that at which the trials
    /// that run are overdue.
    deadline: u64,
    /// The number of openings since it was closed.
    openings: u64,
    trials: Trials,
}

/// The trials of one half-open time: at most 1000.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Trials {
    begun: u16,
    ended: u16,
    failed: u16,
    slow: u16,
}

/// The answer of a breaker to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// It is let through, in the generation of the condition that follows.
    Call { is_trial: bool },
    /// It is not, before this time; `None` if trials are under way.
    Refused { until: Option<u64> },
}

impl Condition {
    pub(super) fn of(words: [u64; WORDS]) -> Condition {
        let [state, since, deadline, openings, trials] = words;
        let (generation, state) = (state >> 2, State::of(state & 3));
        Condition { state, generation, since, deadline, openings, trials: Trials::of(trials) }
    }

    pub(super) fn words(self) -> [u64; WORDS] {
        let state = self.generation << 2 | self.state as u64;
        [state, self.since, self.deadline, self.openings, self.trials.word()]
    }

    /// Returns the answer to a call at the time `now`, and the condition that follows if it is
    /// another one.
    #[inline]
    pub(super) fn asked(self, now: u64, terms: &Terms) -> (Answer, Option<Condition>) {
        match self.state {
            State::Closed => (Answer::Call { is_trial: false }, None),
            State::Open if now < self.deadline => self.refused_until(now, terms),
            State::Open => {
                let trials = Trials { begun: 1, ..Trials::default() };
                let deadline = now.saturating_add(terms.trial_timeout);
                let next = self.at(State::HalfOpen, now);
                (Answer::Call { is_trial: true }, Some(Condition { deadline, trials, ..next }))
            }
            State::HalfOpen => self.asked_half_open(now, terms),
        }
    }

    /// Answers while it is open. After a clock that has stepped back, it is open for no longer than
    /// an opening lasts.
    #[inline]
    fn refused_until(self, now: u64, terms: &Terms) -> (Answer, Option<Condition>) {
        let latest = now.saturating_add(terms.open_time(self.openings));
        let deadline = self.deadline.min(latest);
        let next = (deadline < self.deadline).then_some(Condition { deadline, ..self });
        (Answer::Refused { until: Some(deadline) }, next)
    }

    #[inline]
    fn asked_half_open(self, now: u64, terms: &Terms) -> (Answer, Option<Condition>) {
        let running = self.trials.begun > self.trials.ended;
        if running && now >= self.deadline {
            let next = self.opened(now, terms);
            return (Answer::Refused { until: Some(next.deadline) }, Some(next));
        }
        // Also after a clock that has stepped back, trials are not overdue later than this.
        let latest = now.saturating_add(terms.trial_timeout);
        let deadline = if running { self.deadline.min(latest) } else { latest };
        if u64::from(self.trials.begun) < terms.trials {
            let trials = Trials { begun: self.trials.begun + 1, ..self.trials };
            let next = Condition { deadline, trials, ..self };
            return (Answer::Call { is_trial: true }, Some(next));
        }
        let next = (deadline < self.deadline).then_some(Condition { deadline, ..self });
        (Answer::Refused { until: None }, next)
    }

    /// Returns the condition after a trial of this generation has ended. It is open again as soon
    /// as the shares are reached, whatever the trials that still run will say; it is closed once
    /// all have ended.
    #[inline]
    pub(super) fn trial_ended(self, outcome: Outcome, now: u64, terms: &Terms) -> Condition {
        let trials = Trials {
            ended: self.trials.ended + 1,
            failed: self.trials.failed + u16::from(outcome.failed),
            slow: self.trials.slow + u16::from(outcome.slow),
            ..self.trials
        };
        if terms.is_bad(terms.trials, trials.failed.into(), trials.slow.into()) {
            self.opened(now, terms)
        } else if u64::from(trials.ended) >= terms.trials {
            Condition { openings: 0, ..self.at(State::Closed, now) }
        } else {
            Condition { trials, ..self }
        }
    }

    /// Returns the condition after a trial of this generation was given back.
    pub(super) fn trial_given_back(self) -> Condition {
        let begun = self.trials.begun.saturating_sub(1);
        Condition { trials: Trials { begun, ..self.trials }, ..self }
    }

    #[inline]
    pub(super) fn opened(self, now: u64, terms: &Terms) -> Condition {
        let openings = self.openings.saturating_add(1);
        let deadline = now.saturating_add(terms.open_time(openings));
        Condition { deadline, openings, ..self.at(State::Open, now) }
    }

    /// Returns the condition after a transition, without trials.
    fn at(self, state: State, now: u64) -> Condition {
        let (generation, trials) = (self.generation + 1, Trials::default());
        Condition { state, generation, since: now, deadline: 0, trials, ..self }
    }
}

impl Trials {
    fn of(word: u64) -> Trials {
        let field = |at: u32| (word >> (16 * at)) as u16;
        Trials { begun: field(0), ended: field(1), failed: field(2), slow: field(3) }
    }

    fn word(self) -> u64 {
        let field = |value: u16, at: u32| u64::from(value) << (16 * at);
        field(self.begun, 0) | field(self.ended, 1) | field(self.failed, 2) | field(self.slow, 3)
    }
}
