//! The terms of a pace that was changed, and their end, exchanged as one.
//!
//! One word cannot hold an end and its terms. So they stand in a [value](crate::wide) of several
//! words, and each call exchanges all of them: it is decided by one set of terms and the end under
//! them.
//!
//! A retired pace has the end [`RETIRED`].

use super::terms::{RETIRED, Terms};
use crate::turn::Undo;
use crate::wide::{Version, Wide};

/// The number of changes until now; what was given back; the end; the period and the burst's
/// periods; the last moment that a caller was told.
const WORDS: usize = 6;

/// The terms of a pace, and the end of all that was admitted.
#[derive(Debug)]
pub(super) struct Changed(Wide<WORDS>);

/// The state at one moment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    version: Version,
    pub(super) changes: u64,
    pub(super) state: State,
}

/// The terms, and what was admitted.
#[derive(Clone, Copy, Debug)]
pub(super) struct State {
    pub(super) terms: Terms,
    pub(super) end: u64,
    /// The last moment that a caller was told, or one that is over.
    pub(super) told: u64,
    /// The sum of what was given back, in nanoseconds, by reservations that were not the last: it
    /// only rises, and wraps.
    pub(super) given: u64,
}

impl Changed {
    #[inline]
    pub(super) fn new(changes: u64, state: State) -> Changed {
        Changed(Wide::new(words(changes, state)))
    }

    /// Returns the terms and the end; maybe of two moments, unless an exchange succeeds, or
    /// [`is_at`](Self::is_at) says so.
    #[inline]
    pub(super) fn glance(&self) -> Found {
        let (version, [changes, given, end, period, span, told]) = self.0.glance();
        let terms = Terms::from_words(period, span);
        Found { version, changes, state: State { terms, end, told, given } }
    }

    /// Returns whether what was found is so still.
    #[inline]
    pub(super) fn is_at(&self, found: &Found) -> bool {
        self.0.is_at(found.version)
    }

    /// Returns the terms and the end.
    #[inline]
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
    pub(super) fn take(&self, found: &Found, end: u64) -> Option<Undo<'_>> {
        let Found { version, changes, state } = *found;
        let told = state.told.max(state.terms.told(end));
        let is_taken = self.0.exchange(version, words(changes, State { end, told, ..state }));
        is_taken.then(|| Undo::Few {
            words: &self.0,
            from: words(changes, state),
            to: [changes, state.given, end],
        })
    }

    /// Returns the words that a reservation refers to.
    pub(super) fn words(&self) -> &Wide<WORDS> {
        &self.0
    }

    /// Changes the state, if it is as found.
    #[inline]
    pub(super) fn change(&self, found: &Found, state: State) -> bool {
        self.0.exchange(found.version, words(found.changes + 1, state))
    }

    /// Moves the end under the same terms, if all is as found.
    #[inline]
    pub(super) fn settle(&self, found: &Found, state: State) -> bool {
        self.0.exchange(found.version, words(found.changes, state))
    }

    /// Retires the pace, if all is as found.
    pub(super) fn retire(&self, found: &Found) -> bool {
        self.change(found, State { end: RETIRED, ..found.state })
    }
}

fn words(changes: u64, State { terms, end, told, given }: State) -> [u64; WORDS] {
    [changes, given, end, terms.period(), terms.span(), told]
}
