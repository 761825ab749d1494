//! The limits at which the thread that asks looks, each at its time.
//!
//! A step takes as long as the logarithm of their number, but for [`each`](Schedule::each).

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::limit::Limit;

/// The limits that are looked at.
#[derive(Default)]
pub(crate) struct Schedule {
    /// By their addresses.
    held: HashMap<usize, Held>,
    /// The time of the next look at each, and its address.
    looks: BTreeSet<Look>,
}

/// A time, and the address of a limit.
pub(crate) type Look = (u64, usize);

/// A limit that is looked at.
pub(crate) struct Held {
    pub(crate) limit: Arc<Limit>,
    /// The time of the next look.
    due: u64,
    /// The time until which there is reason to look.
    pub(crate) until: u64,
    /// The attempts at the ask that is not answered; zero if there is none.
    pub(crate) attempts: u32,
}

impl Held {
    /// Returns whether there is reason to look at it.
    fn is_needed(&self, now: u64) -> bool {
        let Held { limit, until, attempts, .. } = self;
        *attempts > 0 || now < *until || !limit.waiters().is_empty() || limit.has_news()
    }
}

impl Schedule {
    /// Looks at a limit at a time, and holds it until another one, if there is no other reason.
    pub(crate) fn hold(&mut self, limit: Arc<Limit>, due: u64, until: u64) {
        let at = address(&limit); // the map keeps it alive
        let held = self.held.entry(at).or_insert(Held { limit, due, until, attempts: 0 });
        self.looks.remove(&(held.due, at));
        (held.due, held.until) = (due, until);
        self.looks.insert((due, at));
    }

    /// Returns the time of the first look.
    pub(crate) fn first(&self) -> Option<u64> {
        self.looks.first().map(|(due, _)| *due)
    }

    /// Returns the first look behind another one, if it is due.
    pub(crate) fn due_behind(&self, last: Look, now: u64) -> Option<Look> {
        let next = (last.0, last.1.saturating_add(1));
        self.looks.range(next..=(now.max(last.0), usize::MAX)).next().copied()
    }

    /// Returns the limit of a look.
    pub(crate) fn get(&mut self, look: Look) -> Option<&mut Held> {
        self.held.get_mut(&look.1)
    }

    /// Notes that a limit has no ask under way, and looks at it next at a time, if there is reason.
    pub(crate) fn look_next(&mut self, limit: &Arc<Limit>, due: u64, now: u64) {
        let at = address(limit);
        let Some(held) = self.held.get_mut(&at) else { return };
        held.attempts = 0;
        self.looks.remove(&(held.due, at));
        held.due = due;
        if held.is_needed(now) {
            self.looks.insert((due, at));
        } else {
            self.held.remove(&at);
        }
    }

    /// Returns all that is held.
    pub(crate) fn each(&self) -> impl Iterator<Item = &Held> {
        self.held.values()
    }

    /// Returns the looks that are due.
    pub(crate) fn due(&self, now: u64) -> Vec<Look> {
        self.looks.range(..=(now, usize::MAX)).copied().collect()
    }
}

fn address(limit: &Arc<Limit>) -> usize {
    Arc::as_ptr(limit) as usize
}
