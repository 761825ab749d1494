//! Settling a call at what it has really cost.
//!
//! # Promise
//!
//! The [theorem](super) holds for the weights as they are settled, with each call at its moment. A
//! weight that is charged counts as calls of one unit, one in each period up to the end that it
//! makes.
//!
//! # Giving back
//!
//! A call of weight `n` has made the end `e`, and is settled at `a`. If no other call is behind it,
//! the end becomes `e - (n - a) T`: *that of a call of weight `a`*.
//!
//! Otherwise the end is lowered by
//!
//! ```text
//!    d = the least of (n - a) T and e - g - m        or not at all, if that is negative
//!
//!    g    all that was given back since the call, of calls that were not the last
//!    m    now, or the last moment that a caller was told
//! ```
//!
//! For each call `j` that was admitted since, let `e'(j)` be the end behind it, less all that was
//! given back since then of this call and of earlier ones. The theorem needs two things of it:
//!
//! ```text
//!    e'(j) - b T <= due(j) <= e'(j) - n(j) T
//! ```
//!
//! The first stays if `e'(j)` is lowered. The second: `e'(j) - n(j) T` is at least the end that was
//! there before `j`, and that is at least `e - g`. The moment `due(j)` is at most `m`: a caller
//! that waits was told it, and any other call had come by now. So it is at most `e - g - d`, and
//! the second stays, too. For the call itself, `due <= e - n T <= (e - d) - a T`. For the calls
//! before it nothing has changed. And each call raises `e'` by its weight's periods at least, this
//! one by those of `a`.
//!
//! "Had come by now" needs a clock that does not step back. If one has leapt ahead for a call, and
//! stepped back before the settling, then a span may also hold the weight that was given back.
//!
//! # How
//!
//! The sum of what was given back must be of the same moment as the end. So a pace goes over to the
//! [words](super::changed) of a changed one when it lowers an end below that of a later call for
//! the first time, or charges more than the burst: one exchange then compares all, and no end that
//! comes twice deceives it. The last call's end, and a small charge, need no more than the word.
//!
//! A change of the terms ends it: a call from before gives nothing back. Neither does a call that
//! has the turn of a caller that gave up, whose end it does not know. Both count as reserved.

use super::changed::{Changed, State};
use super::end::{End, Meaning};
use super::terms::{LAST, RETIRED, Terms};
use crate::sync::Ordering;
use crate::turn::vacancies::Turn;
use crate::turn::{Settle, Undo};

/// The state that a call has made.
#[derive(Clone, Copy, Debug)]
struct Made {
    changes: u64,
    given: u64,
    end: u64,
}

impl Made {
    #[inline]
    fn of(undo: &Undo<'_>) -> Option<Made> {
        match *undo {
            Undo::Word { to, .. } => Some(Made { changes: 0, given: 0, end: to }),
            Undo::Few { to: [changes, given, end], .. } => Some(Made { changes, given, end }),
            Undo::Nothing | Undo::Words { .. } => None,
        }
    }

    /// Returns the state without a weight of this call; `None` if nothing can be given back.
    fn without(self, weight: u64, found: State, now: u64) -> Option<State> {
        let State { terms, end, told, given } = found;
        let most = weight.saturating_mul(terms.period());
        let since = given.wrapping_sub(self.given);
        if since == 0 && end == self.end {
            return Some(State { end: end.saturating_sub(most), ..found });
        }
        let free = self.end.saturating_sub(since).saturating_sub(now.max(told)).min(most);
        let state =
            State { end: end.saturating_sub(free), given: given.wrapping_add(free), ..found };
        (free > 0).then_some(state)
    }
}

impl Terms {
    /// Returns the end behind a weight that is charged at `now`: at most the last time.
    fn charged(self, end: u64, now: u64, weight: u64) -> u64 {
        let more = weight.saturating_mul(self.period());
        end.max(now).saturating_add(more).min(LAST)
    }
}

impl End {
    /// Returns the state under the first terms, by their end.
    fn first_state(&self, end: u64) -> State {
        State { terms: self.first, end, told: self.first.told(end), given: 0 }
    }

    /// Moves the end from one to another, under the first terms.
    fn moves(&self, from: u64, to: u64) -> bool {
        // Relaxed, as the exchanges of calls: see the top of `src/pace.rs`.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        self.word().compare_exchange(from, to, order, failed).is_ok()
    }

    fn give_back(&self, weight: u64, made: Made, clock: &dyn Fn() -> u64) -> bool {
        loop {
            // Relaxed: see the top of `src/pace.rs`, and `End::meaning`.
            let word = self.word().load(Ordering::Relaxed);
            let (found, is_done);
            match self.meaning(word) {
                Meaning::End(end) => {
                    found = self.first_state(end);
                    // Behind the look at the end: no call that it has in it came later.
                    let state = made.without(weight, found, clock());
                    let Some(state) = state.filter(|_| end != RETIRED) else { return false };
                    is_done = if end == made.end {
                        self.moves(end, state.end)
                    } else {
                        self.replace(end, Changed::new(0, state))
                    };
                }
                Meaning::Changed(changed) => {
                    let now = changed.load();
                    found = now.state;
                    if now.changes != made.changes || found.end == RETIRED {
                        return false;
                    }
                    let state = made.without(weight, found, clock());
                    let Some(state) = state else { return false };
                    is_done = changed.settle(&now, state);
                }
            }
            if is_done {
                return true;
            }
        }
    }

    fn charge(&self, weight: u64, clock: &dyn Fn() -> u64) {
        loop {
            // Relaxed: as above.
            let word = self.word().load(Ordering::Relaxed);
            let now = clock();
            let is_done = match self.meaning(word) {
                Meaning::End(RETIRED) => true,
                Meaning::End(end) => {
                    let (to, state) = (self.first.charged(end, now, weight), self.first_state(end));
                    if self.first.told(to) <= now.max(state.told) {
                        self.moves(end, to)
                    } else {
                        // The word alone would say that a caller was told to come so late.
                        self.replace(end, Changed::new(0, State { end: to, ..state }))
                    }
                }
                Meaning::Changed(changed) => {
                    let found = changed.load();
                    let State { terms, end, .. } = found.state;
                    let end = if end == RETIRED { end } else { terms.charged(end, now, weight) };
                    changed.settle(&found, State { end, ..found.state })
                }
            };
            if is_done {
                return;
            }
        }
    }
}

impl Settle for End {
    fn passes_on(&self, _: Turn) -> bool {
        true // moments and weights stay what they are, whatever the rates
    }

    #[inline]
    fn settle(&self, turn: Turn, made: &Undo<'_>, actual: u64, clock: &dyn Fn() -> u64) -> bool {
        match actual.checked_sub(turn.weight) {
            None => {
                let made = Made::of(made);
                made.is_some_and(|made| self.give_back(turn.weight - actual, made, clock))
            }
            Some(more) => {
                self.charge(more, clock);
                false
            }
        }
    }
}
