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
        *attempts > 0 || now < *until || !limit.waiters.is_empty() || limit.machine().has_news()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::absence::Absence;
    use crate::machine::{DRIFT, Terms};
    use crate::names::Keys;

    fn limit() -> Arc<Limit> {
        let terms = Terms { limit: 9, version: 1, length: 100_000, buckets: 10, drift: DRIFT };
        let keys = Keys { ledger: [].into(), epoch: [].into() };
        Arc::new(Limit::new("it".into(), terms, [0; 8], keys, Absence::Refuse))
    }

    #[test]
    fn a_limit_has_one_look_until_there_is_no_reason() {
        let (mut schedule, [one, other]) = (Schedule::default(), [limit(), limit()]);
        schedule.hold(one.clone(), 5, 100);
        schedule.hold(other.clone(), 3, 100);
        schedule.hold(one.clone(), 4, 100);
        let first = schedule.due_behind((0, 0), 4).unwrap();
        let second = schedule.due_behind(first, 4).unwrap();
        assert_eq!((first, second), ((3, address(&other)), (4, address(&one))));
        assert_eq!(schedule.due_behind(second, 4), None);
        schedule.look_next(&other, 7, 99);
        assert_eq!((schedule.first(), schedule.due(7).len()), (Some(4), 2));
        schedule.look_next(&one, 200, 100);
        schedule.look_next(&other, 200, 100);
        assert_eq!((schedule.first(), schedule.each().count()), (None, 0));
    }
}
