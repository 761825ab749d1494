//! Several limits in the file, decided at once, whichever processes are killed.
//!
//! # The words
//!
//! Each limit has a *cell*: the limit's end, and a version. The *head* has the last call: its
//! version, its time and its weight. All are words of sixteen bytes, which are exchanged as one.
//!
//! The end of a limit behind a call is a function of the end before it, the time and the weight
//! (the terms never change). So the head says all that is to be done to the cells, and each process
//! can do it:
//!
//! ```text
//!    call of version v:   settle the head's call; read all ends; decide
//!                         exchange the head, from v to v + 1, with this call        (1)
//!    settle a call v:     for each cell: if its version is v - 1, exchange it
//!                         for the end behind the call, and the version v            (2)
//! ```
//!
//! # Why it is right
//!
//! *The cells are settled one call after the other.* A call of version `v + 1` is in the head only
//! after a process has found each cell at version `v`. A cell goes from `v - 1` to `v` by (2)
//! alone, and only for the call that the head had at `v`. A version never comes again, so an
//! exchange of a process that was late fails, however late it is: the cell has a greater version.
//!
//! *A call is settled once, in all cells or in none.* Its end in a cell depends on the end before
//! it, which is the same for all that settle it. It does not matter which process comes first.
//!
//! *Ends that were read at version `v` are of one moment*: that at which the head was loaded. If a
//! cell is ahead, the head has changed, and the call begins anew. So a refusal is of one moment,
//! and an admission of that of its exchange (1), which fails if another call was admitted since.
//!
//! *A process that is killed* has done (1) or not. Before it, the process has only settled calls of
//! others, which is their due. After it, its call is admitted, and the next process that comes
//! settles it. So it takes its own call at most, from all limits alike, and holds up no process.
//! The same is true of one that is stopped.
//!
//! With one order of admissions, and all ends at each of them, the theorem of `windrow::Paces`
//! holds: its proof asks for no more. (The source of `windrow`'s `several` has it.)
//!
//! # Giving back
//!
//! A call is given back by another one, of the same weight, that takes its periods off each end: if
//! all ends are those that the call has left. An end rises with each call by its periods at least,
//! and each giving back takes away one call's. So the ends are there only if all later calls were
//! given back. An end is then where the call's own time was, if it was before that: either way no
//! time is left of it.
//!
//! # Versions
//!
//! A cell's version has 64 bits. The head has the lower 32 of it, beside the time: the exchange (1)
//! of a late process would succeed after a multiple of 2^32 calls whose last one has the same time,
//! to the nanosecond, and the same weight. Settling would be deceived in a process that is stopped
//! between the load of the head and that of a cell, for exactly such a multiple.
//!
//! # Orders
//!
//! Each load is an Acquire and each exchange a Release: a process that reads a head finds the cells
//! at the version before it, or later. A process that reads a cell behind the head that it knows
//! finds the later head, too.
//!
//! # Other values
//!
//! A process of the same user can write anything. A cell that is neither at the version of the head
//! nor one before, while the head stays, was not written by a call: then all calls are refused.

use windrow::pace::Terms;

use super::answer::{self, Answer};
use super::wide::Wide;

/// The greatest number of limits.
pub(crate) const MOST: usize = 4;

/// The bit of a head's time that says that its call gives back.
const BACK: u64 = 1 << 63;

/// Several limits' words in the file, with their terms.
#[derive(Debug)]
pub(crate) struct Ends<'a, W> {
    head: &'a W,
    limits: [(&'a W, Terms); MOST],
    /// The number of limits; those behind are copies.
    count: usize,
}

impl<W> Copy for Ends<'_, W> {}

impl<W> Clone for Ends<'_, W> {
    fn clone(&self) -> Self {
        *self
    }
}

/// A call, as the head has it.
#[derive(Clone, Copy, Debug)]
struct Call {
    version: u32,
    n: u32,
    at: u64,
    is_back: bool,
}

/// The weight of a call, and all ends behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moved {
    n: u32,
    to: [u64; MOST],
}

/// The part of all limits that a call has taken.
pub(crate) type Taken = answer::Taken<Moved>;

impl Call {
    fn of([time, rest]: [u64; 2]) -> Call {
        let (version, n) = ((rest >> 32) as u32, rest as u32);
        Call { version, n, at: time & !BACK, is_back: time & BACK != 0 }
    }

    /// Returns the head of the call behind this one.
    fn next(self, at: u64, n: u32, is_back: bool) -> [u64; 2] {
        let version = u64::from(self.version.wrapping_add(1));
        [at | if is_back { BACK } else { 0 }, version << 32 | u64::from(n)]
    }

    /// Returns the end of a limit behind this call.
    fn behind(self, end: u64, terms: Terms) -> u64 {
        let n = u64::from(self.n);
        if self.is_back {
            return end.saturating_sub(n.saturating_mul(terms.period()));
        }
        // No process writes a call that does not fit.
        terms.take(end, self.at, n).map_or(end, |(behind, _)| behind)
    }

    /// Settles this call in a cell; returns the end behind it. `None` if the cell has another
    /// version: the call is no more the last.
    fn settle(self, cell: &impl Wide, terms: Terms) -> Option<u64> {
        let found @ [end, version] = cell.words();
        match self.version.wrapping_sub(version as u32) {
            0 => Some(end),
            1 => {
                let behind = self.behind(end, terms);
                if cell.exchange(found, [behind, version.wrapping_add(1)]) {
                    return Some(behind);
                }
                // Another process has settled it. If the call is still the last, this is what that
                // process has stored.
                let [end, version] = cell.words();
                (version as u32 == self.version).then_some(end)
            }
            _ => None,
        }
    }
}

impl<'a, W: Wide> Ends<'a, W> {
    /// Returns the limits with these cells and terms: one to [`MOST`].
    pub(crate) fn new(head: &'a W, limits: &[(&'a W, Terms)]) -> Ends<'a, W> {
        let count = limits.len().min(MOST);
        Ends { head, limits: std::array::from_fn(|at| limits[at.min(count - 1)]), count }
    }

    /// Returns the terms of each limit.
    pub(crate) fn terms(&self) -> impl Iterator<Item = Terms> {
        self.limits().map(|(_, terms)| terms)
    }

    fn limits(&self) -> impl Iterator<Item = (&'a W, Terms)> + use<'a, W> {
        self.limits.into_iter().take(self.count)
    }

    /// Decides about a call of weight `n` at `now`, whose moment may be up to `max_wait` away.
    ///
    /// It is repeated only if another call was admitted meanwhile.
    pub(crate) fn take(&self, now: u64, n: u64, max_wait: u64) -> Answer<Moved> {
        let Ok(n) = u32::try_from(n) else { return Answer::Refused { wait: None } };
        if n == 0 {
            return Answer::Taken(Taken { now, due: now, undo: Moved { n, to: [0; MOST] } });
        }
        loop {
            let Some((head, from)) = self.settled() else {
                return Answer::Refused { wait: None };
            };
            let (mut to, mut due) = (from, now);
            for (end, (_, terms)) in to.iter_mut().zip(self.limits()) {
                let Some((behind, moment)) = terms.take(*end, now, n.into()) else {
                    return Answer::Refused { wait: None };
                };
                (*end, due) = (behind, due.max(moment));
            }
            if due - now > max_wait {
                return Answer::Refused { wait: Some(due - now) };
            }
            if self.head.exchange(head, Call::of(head).next(now, n, false)) {
                return Answer::Taken(Taken { now, due, undo: Moved { n, to } });
            }
        }
    }

    /// Gives back what a call has taken. Returns false if a later call was admitted: it was told
    /// its moment.
    pub(crate) fn give_back(&self, taken: Taken) -> bool {
        let Moved { n, to } = taken.undo;
        if n == 0 {
            return false;
        }
        loop {
            let Some((head, ends)) = self.settled() else { return false };
            if ends != to {
                return false;
            }
            if self.head.exchange(head, Call::of(head).next(taken.now, n, true)) {
                return true;
            }
        }
    }

    /// Returns the end of each limit, at one moment. `None` if another process has written what no
    /// call writes.
    pub(crate) fn now(&self) -> Option<impl Iterator<Item = u64>> {
        self.settled().map(|(_, ends)| ends.into_iter().take(self.count))
    }

    /// Settles the last call; returns its head, and all ends behind it. `None` as above.
    fn settled(&self) -> Option<([u64; 2], [u64; MOST])> {
        loop {
            let head = self.head.words();
            match self.settle(Call::of(head)) {
                Some(ends) => return Some((head, ends)),
                None if self.head.words() == head => return None,
                None => {} // another call was admitted
            }
        }
    }

    /// Settles a call; returns all ends behind it. `None` if it is no more the last.
    fn settle(&self, call: Call) -> Option<[u64; MOST]> {
        let mut ends = [0; MOST];
        for (end, (cell, terms)) in ends.iter_mut().zip(self.limits()) {
            *end = call.settle(cell, terms)?;
        }
        Some(ends)
    }
}

#[cfg(test)]
mod tests;
