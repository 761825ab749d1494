//! What a family remembers of the series that were removed from it.
//!
//! A thread may be adding to a series that is just being removed: it found it before. So a removed series
//! is kept, and its total read anew each time, until no thread can add to it any more: a grace period has passed
//! since it was taken out of its list, and no handle of it is left. Only then is its total added to that of those
//! that were removed before, and the series freed. All of this happens under the family's lock; so a reader of the total,
//! which has the lock too, finds each series in one place.

use crate::family::labels::Labels;
use crate::family::metric::Metric;
use crate::family::series::Series;
use crate::reclaim::{grace, pin};
use crate::sync::{Arc, Ordering, fence};

pub(super) struct Forgotten<L: Labels, M: Metric> {
    /// What was counted by series that are freed; `None` if there are none.
    total: Option<M::Total>,
    /// Removed, but not yet freed; each with the grace period to wait for.
    waiting: Vec<(u64, Arc<Series<L, M>>)>,
}

impl<L: Labels, M: Metric> Forgotten<L, M> {
    pub(super) const fn nothing() -> Forgotten<L, M> {
        Forgotten { total: None, waiting: Vec::new() }
    }

    /// Takes on a series that this thread has taken out of its list.
    pub(super) fn take(&mut self, series: Arc<Series<L, M>>) {
        let guard = pin();
        let ticket = grace::ticket();
        grace::begin(ticket, &guard);
        self.waiting.push((ticket, series));
    }

    /// Frees what no thread can add to any more.
    pub(super) fn free(&mut self) {
        let Some(newest) = self.waiting.last().map(|(ticket, _)| *ticket) else { return };
        for _ in 0..grace::PINS {
            if grace::passed(newest) {
                break;
            }
            pin().flush();
        }
        let total = &mut self.total;
        self.waiting.retain(|(ticket, series)| {
            if !grace::passed(*ticket) || Arc::strong_count(series) > 1 {
                return true;
            }
            // Pairs with the Release by which the last handle let go: its adds are in the total.
            fence(Ordering::Acquire);
            M::merge(total.get_or_insert_default(), series.metric.total());
            false
        });
    }

    /// What all of them have counted.
    pub(super) fn total(&self) -> M::Total {
        let mut total = self.total.clone().unwrap_or_default();
        self.waiting.iter().for_each(|(_, series)| M::merge(&mut total, series.metric.total()));
        total
    }
}
