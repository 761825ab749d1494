//! The word of a pace, and the decision about one call.

use std::sync::atomic::{AtomicU64, Ordering};

use windrow::pace::Terms;

use super::answer::{self, Answer};

/// A pace's word in the file, with its terms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Word<'a> {
    pub(crate) end: &'a AtomicU64,
    pub(crate) terms: Terms,
}

/// The end before a call, and behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    from: u64,
    to: u64,
}

/// The part of a pace that a call has taken.
pub(crate) type Taken = answer::Taken<Moved>;

impl Word<'_> {
    /// Decides about a call of weight `n` at `now`, whose moment may be up to `max_wait` away.
    ///
    /// It is repeated only if another call has won the exchange meanwhile.
    #[inline]
    pub(crate) fn take(&self, now: u64, n: u64, max_wait: u64) -> Answer<Moved> {
        // Relaxed, as all below: each decision is one exchange of one word, and nothing else is
        // published by it. An older value can only refuse, as of before something was given back.
        let mut from = self.now();
        if n == 0 {
            return Answer::Taken(Taken { now, due: now, undo: Moved { from, to: from } });
        }
        loop {
            let Some((to, due)) = self.terms.take(from, now, n) else {
                return Answer::Refused { wait: None };
            };
            if due - now > max_wait {
                return Answer::Refused { wait: Some(due - now) };
            }
            match self.end.compare_exchange_weak(from, to, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Answer::Taken(Taken { now, due, undo: Moved { from, to } }),
                Err(newer) => from = newer,
            }
        }
    }

    /// Gives back what a call has taken. Returns false if a later call was admitted: it was told
    /// its moment.
    ///
    /// The end is at `to` or above until then, and it is `to` only if all later calls were given
    /// back: each call raises it, and each giving back takes away what one call has raised.
    pub(crate) fn give_back(&self, taken: Taken) -> bool {
        let Moved { from, to } = taken.undo;
        // Relaxed: as above.
        let (order, failed) = (Ordering::Relaxed, Ordering::Relaxed);
        from != to && self.end.compare_exchange(to, from, order, failed).is_ok()
    }

    /// Returns the end as it is now.
    pub(crate) fn now(&self) -> u64 {
        self.end.load(Ordering::Relaxed) // as above
    }
}

#[cfg(test)]
mod tests;
