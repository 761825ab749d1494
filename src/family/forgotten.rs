//! The totals of the series that were removed from a family.
//!
//! A thread may still be adding to a series that is being removed, because it found the series
//! before. So a removed series is kept, and its total read anew each time, until no thread can add
//! to it any more: a grace period has passed since the series was taken out of its list, and no
//! handle of it is left. Only then is its total added to the total of all freed series, and the
//! series freed. All of this happens under the family's lock; so a reader of the total, which holds
//! the lock too, finds each series in exactly one place.
//!
//! The caller drops the freed series after it has released the lock, because a metric's drop is the
//! user's, and may use the family. So the caller declares the list of freed series before it takes
//! the lock: then they outlive the lock even if a total or a condition of the user's panics under
//! it. A removal checks a bounded number of the series that handles keep, the next ones each time.
//! A reader of the total, and `retain`, which take time for each series anyway, check all of them.

use std::collections::VecDeque;

use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::series::Series;
use crate::reclaim::{grace, pin};
use crate::sync::{Arc, Ordering, fence, sized};

pub(super) struct Forgotten<L: Labels, M: Metric> {
    /// The total of the series that are freed; `None` if there are none.
    total: Option<M::Total>,
    /// The series removed one by one as others came, which wait for a grace period together.
    batch: Vec<Arc<Series<L, M>>>,
    /// The series removed, in this order; each with the grace period to wait for.
    waiting: VecDeque<(u64, Arc<Series<L, M>>)>,
    /// The series whose grace period has passed, and which had handles when they were last checked.
    kept: VecDeque<Arc<Series<L, M>>>,
    /// The list that [`Family::retain_next`](crate::Family::retain_next) looks at next.
    pub(super) hand: usize,
}

/// The number of kept series that a removal checks. It adds at most one to them.
pub(super) const LOOKS: usize = 2;
/// The number of series that wait for one grace period, where they are removed one by one.
const BATCH: usize = sized(64, 1);

impl<L: Labels, M: Metric> Forgotten<L, M> {
    pub(super) const fn nothing() -> Forgotten<L, M> {
        Forgotten {
            total: None,
            batch: Vec::new(),
            waiting: VecDeque::new(),
            kept: VecDeque::new(),
            hand: 0,
        }
    }

    /// Adds a series that this thread has taken out of its list. It waits for its grace period once
    /// [`settle`](Self::settle) has begun that.
    pub(super) fn take(&mut self, series: Arc<Series<L, M>>) {
        self.batch.push(series);
    }

    /// Returns whether there are enough series to begin a grace period for them.
    pub(super) fn is_batch_full(&self) -> bool {
        self.batch.len() >= BATCH
    }

    /// Begins one grace period for all series that were added.
    pub(super) fn settle(&mut self) {
        if !self.batch.is_empty() {
            let guard = pin();
            let ticket = grace::ticket();
            grace::begin(ticket, &guard);
            self.waiting.extend(self.batch.drain(..).map(|series| (ticket, series)));
        }
    }

    /// Removes the series to which no thread can add any more, after checking at most `looks` of
    /// the kept ones, and appends them to `freed`. The caller drops `freed` after the lock.
    pub(super) fn free(&mut self, looks: usize, freed: &mut Vec<Arc<Series<L, M>>>) {
        self.settle();
        if let Some(newest) = self.waiting.back().map(|(ticket, _)| *ticket) {
            for _ in 0..grace::PINS {
                if grace::passed(newest) {
                    break;
                }
                pin().flush();
            }
        }
        let mut looks = looks.min(self.kept.len());
        // Tickets rise, because each was taken under the lock.
        while self.waiting.front().is_some_and(|(ticket, _)| grace::passed(*ticket)) {
            if let Some((_, series)) = self.waiting.pop_front() {
                self.kept.push_front(series);
                looks += 1;
            }
        }
        for _ in 0..looks {
            let Some(series) = self.kept.front() else { break };
            if Arc::strong_count(series) > 1 {
                self.kept.rotate_left(1);
                continue;
            }
            // Pairs with the Release of the last handle's drop: its adds are in the total.
            fence(Ordering::Acquire);
            // Before the series leaves the queue: if this panics, the series is still there.
            M::merge(self.total.get_or_insert_default(), series.metric.total());
            freed.extend(self.kept.pop_front());
        }
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
