//! The terms of a pace that was changed, and their end, exchanged as one.
//!
//! A word has no room for an end and its terms. So they stand in a [value](crate::wide) of several
//! words, and each call exchanges all of them: it is decided by one set of terms and the end under
//! them.
//!
//! A retired pace has the end [`RETIRED`].

use super::terms::{RETIRED, Terms};
use crate::turn::{State, Undo};
use crate::wide::{Version, Wide};

/// The number of changes until now; the end; the period and the burst's periods.
const WORDS: usize = 4;

/// The terms of a pace, and the end of all that was admitted.
#[derive(Debug)]
pub(super) struct Changed(Wide<WORDS>);

/// The terms and the end at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    version: Version,
    changes: u64,
    pub(super) end: u64,
    pub(super) terms: Terms,
}

impl Changed {
    pub(super) fn new(terms: Terms, end: u64) -> Changed {
        Changed(Wide::new(words(1, end, terms)))
    }

    /// Returns the terms and the end; maybe of two moments, unless an exchange succeeds, or
    /// [`is_at`](Self::is_at) says so.
    #[inline]
    pub(super) fn glance(&self) -> Found {
        let (version, [changes, end, period, span]) = self.0.glance();
        Found { version, changes, end, terms: Terms::from_words(period, span) }
    }

    /// Returns whether what was found is so still.
    #[inline]
    pub(super) fn is_at(&self, found: &Found) -> bool {
        self.0.is_at(found.version)
    }

    /// Returns the terms and the end.
    pub(super) fn load(&self) -> Found {
        loop {
            let found = self.glance();
            if self.is_at(&found) {
                return found;
            }
        }
    }

    /// Moves the end, if all is as found. Returns the way back.
    #[inline]
    pub(super) fn take(&self, found: &Found, to: u64) -> Option<Undo<'_>> {
        let Found { version, changes, end, terms } = *found;
        let is_taken = self.0.exchange(version, words(changes, to, terms));
        is_taken.then(|| Undo::Few {
            words: &self.0,
            from: words(changes, end, terms),
            to: [changes, to],
        })
    }

    /// Returns what a reservation refers to.
    pub(super) fn state(&self) -> State<'_> {
        State::Few(&self.0)
    }

    /// Changes the terms and the end, if all is as found.
    pub(super) fn change(&self, found: &Found, terms: Terms, end: u64) -> bool {
        self.0.exchange(found.version, words(found.changes + 1, end, terms))
    }

    /// Retires the pace, if all is as found.
    pub(super) fn retire(&self, found: &Found) -> bool {
        self.change(found, found.terms, RETIRED)
    }
}

fn words(changes: u64, end: u64, terms: Terms) -> [u64; WORDS] {
    [changes, end, terms.period(), terms.span()]
}
