//! What a family remembers of the series that were removed from it.
//!
//! A thread may be adding to a series that is just being removed: it found it before. So a removed
//! series is kept, and its total read anew each time, until no thread can add to it any more: a
//! grace period has passed since it was taken out of its list, and no handle of it is left. Only
//! then is its total added to that of those that were removed before, and the series freed. All of
//! this happens under the family's lock; so a reader of the total, which has the lock too, finds
//! each series in one place.
//!
//! What is freed is dropped by the caller, behind the lock: a metric's drop is the user's, and may
//! look at the family. So the caller declares the list of them before it takes the lock: then they
//! outlive the lock also where a total or a condition of the user's panics under it. A removal
//! looks at a bounded number of series that handles keep, the next ones each time; a reader of the
//! total, and a walk that removes, which take time for each series anyhow, look at all of them.

use std::collections::VecDeque;

use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::series::Series;
use crate::reclaim::{grace, pin};
use crate::sync::{Arc, Ordering, fence};

pub(super) struct Forgotten<L: Labels, M: Metric> {
    /// What was counted by series that are freed; `None` if there are none.
    total: Option<M::Total>,
    /// Removed, in this order; each with the grace period to wait for.
    waiting: VecDeque<(u64, Arc<Series<L, M>>)>,
    /// Those whose grace period has passed, and of which there were handles when they were looked
    /// at last.
    kept: VecDeque<Arc<Series<L, M>>>,
}

/// So many kept series a removal looks at, which adds one to them at most.
pub(super) const LOOKS: usize = 2;

impl<L: Labels, M: Metric> Forgotten<L, M> {
    pub(super) const fn nothing() -> Forgotten<L, M> {
        Forgotten { total: None, waiting: VecDeque::new(), kept: VecDeque::new() }
    }

    /// Takes on a series that this thread has taken out of its list.
    pub(super) fn take(&mut self, series: Arc<Series<L, M>>) {
        let guard = pin();
        let ticket = grace::ticket();
        grace::begin(ticket, &guard);
        self.waiting.push_back((ticket, series));
    }

    /// Forgets what no thread can add to any more, of the kept ones among `looks`, and appends it
    /// to `freed`, which is to be dropped behind the lock.
    pub(super) fn free(&mut self, looks: usize, freed: &mut Vec<Arc<Series<L, M>>>) {
        if let Some(newest) = self.waiting.back().map(|(ticket, _)| *ticket) {
            for _ in 0..grace::PINS {
                if grace::passed(newest) {
                    break;
                }
                pin().flush();
            }
        }
        let mut looks = looks.min(self.kept.len());
        // Tickets rise: each was taken under the lock.
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
            // Pairs with the Release by which the last handle let go: its adds are in the total.
            fence(Ordering::Acquire);
            // Before it leaves the queue: if this panics, it is still there.
            M::merge(self.total.get_or_insert_default(), series.metric.total());
            freed.extend(self.kept.pop_front());
        }
    }

    /// What all of them have counted.
    pub(super) fn total(&self) -> M::Total {
        let mut total = self.total.clone().unwrap_or_default();
        let all = self.waiting.iter().map(|(_, series)| series).chain(&self.kept);
        all.for_each(|series| M::merge(&mut total, series.metric.total()));
        total
    }
}
