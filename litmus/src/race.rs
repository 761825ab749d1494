//! Litmus programs: a race, its outcomes, and a count of each.
//!
//! In the manner of jcstress (Shipilev): a *trial* is a few calls that two or more *actors* make on
//! one *state* at the same time. When all of them are done, the judge looks at the state and at the
//! actors' answers, and names the outcome. An outcome is *expected*; or *interesting*: right,
//! but rare, or only so on some machines; or *forbidden*: the library is broken.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The verdict of an outcome on the library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grade {
    /// It is as it should be.
    Expected,
    /// It is right, and worth knowing that it happens.
    Interesting,
    /// It is wrong.
    Forbidden,
}

/// A possible outcome of a trial.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// The outcome in words.
    pub meaning: &'static str,
    /// The grade of the outcome.
    pub grade: Grade,
}

pub(crate) const fn expected(meaning: &'static str) -> Outcome {
    Outcome { meaning, grade: Grade::Expected }
}

pub(crate) const fn interesting(meaning: &'static str) -> Outcome {
    Outcome { meaning, grade: Grade::Interesting }
}

pub(crate) const fn forbidden(meaning: &'static str) -> Outcome {
    Outcome { meaning, grade: Grade::Forbidden }
}

/// The results of an actor's calls.
pub(crate) type Answer = [u64; 4];

/// The number of an outcome among its race's, and for a forbidden one the observation.
pub(crate) type Verdict = Result<usize, (usize, String)>;

/// One race. A state is used for one trial in each *turn*, turns being numbered from 0.
pub(crate) trait Race {
    const NAME: &'static str;
    const ACTORS: usize;
    const OUTCOMES: &'static [Outcome];
    type State: Sync + Send;

    /// Returns a state that saw no turn.
    fn state() -> Self::State;
    /// Makes it ready for a turn. No other thread is there.
    fn prepare(state: &Self::State, turn: u64);
    /// Plays an actor's part.
    fn act(state: &Self::State, turn: u64, actor: usize) -> Answer;
    /// Names the outcome. No other thread is there.
    fn judge(state: &Self::State, turn: u64, answers: &[Answer]) -> Verdict;
}

/// The counts of the outcomes. Read while they are written, for a live table.
#[derive(Debug)]
pub struct Tally {
    counts: Vec<AtomicU64>,
    first: Mutex<Option<String>>,
}

impl Tally {
    /// Returns a tally of zeros for `outcomes` outcomes.
    pub fn new(outcomes: usize) -> Tally {
        Tally {
            counts: (0..outcomes).map(|_| AtomicU64::new(0)).collect(),
            first: Mutex::new(None),
        }
    }

    /// Counts a trial, by its number from the first.
    pub(crate) fn count(&self, verdict: Verdict, trial: u64) {
        let outcome = verdict.unwrap_or_else(|(outcome, seen)| {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| format!("trial {trial}: {seen}"));
            outcome
        });
        self.counts[outcome].fetch_add(1, Ordering::Relaxed); // a number, read at leisure
    }

    /// Returns the number of times that an outcome was seen.
    pub fn of(&self, outcome: usize) -> u64 {
        self.counts[outcome].load(Ordering::Relaxed)
    }

    /// Returns all trials.
    pub fn trials(&self) -> u64 {
        (0..self.counts.len()).map(|outcome| self.of(outcome)).sum()
    }

    /// Returns the observation of the first forbidden outcome.
    pub fn first_forbidden(&self) -> Option<String> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}
