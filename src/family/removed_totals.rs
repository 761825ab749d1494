//! The totals of the series that were removed from a family.
//!
//! A thread may still be adding to a series that is being removed, because it found the series
//! before. So a removed series is kept, and its total read anew each time, until no thread can add
//! to it any more. Three things must hold: the wait that `series_hold` asks for is over, no thread
//! announces the series, and no handle of it is left. Only then is its total added to the total of
//! all freed series, and the series freed. All of this happens under the family's lock; so a reader
//! of the total, which holds the lock too, finds each series in exactly one place.
//!
//! The caller drops the freed series after it has released the lock, because a metric's drop is the
//! user's, and may use the family. So the caller declares the list of freed series before it takes
//! the lock: then they outlive the lock even if a total or a condition of the user's panics under
//! it. A removal checks a bounded number of the series that handles keep, the next ones each time.
//! A reader of the total, and `retain`, which take time for each series anyway, check all of them.

use std::collections::VecDeque;
use std::ptr::from_ref;

use crate::family::hand::Hand;
use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::shared::Shared;
use crate::reclaim::{announced, grace, pin};
use crate::stripe::membarrier;
use crate::sync::{Ordering, fence, sized};

pub(super) struct Forgotten<L: Labels, M: Metric> {
    /// The total of the series that are freed; `None` if there are none.
    total: Option<M::Total>,
    /// The series removed one by one as others came, whose wait begins together.
    batch: Vec<Shared<L, M>>,
    /// The series removed, in this order; each with what it waits for.
    waiting: VecDeque<(Until, Shared<L, M>)>,
    /// The series whose wait is over, and which were in use when they were last checked.
    kept: VecDeque<Shared<L, M>>,
    /// The place from which [`Family::retain_next`](crate::Family::retain_next) goes on.
    pub(super) hand: Hand,
}

/// The events for which a removed series waits.
#[derive(Clone, Copy)]
struct Until {
    /// The ticket of a grace period, for lookups that pin.
    grace: u64,
    /// That of a barrier, for lookups that announce; `None` if there are none.
    barrier: Option<u64>,
}

impl Until {
    #[inline]
    fn is_over(self) -> bool {
        grace::passed(self.grace)
            && self.barrier.is_none_or(|ticket| membarrier::fencing().passed(ticket))
    }
}

/// The number of kept series that are checked for each removal. It adds at most one to them.
pub(super) const LOOKS: usize = 2;
/// The number of series whose wait begins together, where they are removed one by one.
const BATCH: usize = sized(64, 1);

impl<L: Labels, M: Metric> Forgotten<L, M> {
    pub(super) const fn nothing() -> Forgotten<L, M> {
        Forgotten {
            total: None,
            batch: Vec::new(),
            waiting: VecDeque::new(),
            kept: VecDeque::new(),
            hand: Hand::START,
        }
    }

    /// Adds a series that this thread has taken out of its list. Its wait begins with
    /// [`settle`](Self::settle).
    pub(super) fn take(&mut self, series: Shared<L, M>) {
        self.batch.push(series);
    }

    /// Returns whether there are enough series to begin a wait for them.
    pub(super) fn is_batch_full(&self) -> bool {
        self.batch.len() >= BATCH
    }

    /// Begins one wait for all series that were added, in a family whose lookups announce their
    /// series if this is so.
    pub(super) fn settle(&mut self, announces: bool) {
        if !self.batch.is_empty() {
            let guard = pin();
            let grace = grace::ticket();
            grace::begin(grace, &guard);
            let barrier = announces.then(|| membarrier::fencing().ticket());
            let until = Until { grace, barrier };
            self.waiting.extend(self.batch.drain(..).map(|series| (until, series)));
        }
    }

    /// Removes the series to which no thread can add any more, and appends them to `freed`, which
    /// the caller drops after the lock. Checks at most `looks` of the kept series for each one of
    /// the batch.
    pub(super) fn free(&mut self, looks: usize, announces: bool, freed: &mut Vec<Shared<L, M>>) {
        // One that is removed alone is no longer in the batch.
        let looks = looks.saturating_mul(self.batch.len().max(1));
        self.settle(announces);
        if let Some(newest) = self.waiting.back().map(|(until, _)| *until) {
            for _ in 0..grace::PINS {
                if grace::passed(newest.grace) {
                    break;
                }
                pin().flush();
            }
            if let Some(ticket) = newest.barrier {
                membarrier::fencing().execute(ticket);
            }
        }
        let mut looks = looks.min(self.kept.len());
        // Tickets rise, because each was taken under the lock.
        while self.waiting.front().is_some_and(|(until, _)| until.is_over()) {
            if let Some((_, series)) = self.waiting.pop_front() {
                self.kept.push_front(series);
                looks += 1;
            }
        }
        // Collected before the references are counted: a thread that announces a series may make a
        // handle of it.
        let used = if announces && looks > 0 { announced::all() } else { Vec::new() };
        for _ in 0..looks {
            let Some(series) = self.kept.front() else { break };
            let address = from_ref(&**series).cast_mut().cast();
            if used.binary_search(&address).is_ok() || Shared::count(series) > 1 {
                self.kept.rotate_left(1);
                continue;
            }
            // Pairs with the Release of the last handle's drop: its adds are in the total. (Those
            // of a thread that has announced the series are, because the look is Acquire.)
            fence(Ordering::Acquire);
            // Before the series leaves the queue: if this panics, the series is still there.
            M::merge(self.total.get_or_insert_default(), series.metric.total());
            freed.extend(self.kept.pop_front());
        }
        give_back(&mut self.waiting);
        give_back(&mut self.kept);
    }

    /// Returns the total of all removed series.
    pub(super) fn total(&self) -> M::Total {
        let mut total = self.total.clone().unwrap_or_default();
        let waiting = self.waiting.iter().map(|(_, series)| series);
        let all = self.batch.iter().chain(waiting).chain(&self.kept);
        all.for_each(|series| M::merge(&mut total, series.metric.total()));
        total
    }
}

/// Gives most of a queue's memory back if it needs less than a quarter of it.
fn give_back<T>(queue: &mut VecDeque<T>) {
    let needed = queue.len().max(BATCH);
    if queue.capacity() / 4 > needed {
        queue.shrink_to(2 * needed);
    }
}
