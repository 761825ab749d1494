//! The acknowledged totals, from which deltas are counted.
//!
//! A delta is the difference between a total and the acknowledged one. It becomes acknowledged when
//! the collector has accepted the request that has it, or when the request is given up and may have
//! arrived. So a request that was certainly not taken leaves its numbers to the next one, and no
//! number is in two requests of which both were taken: a repetition has the same bytes, and is the
//! same request. Series are told apart by their numbers and not by their labels.

use std::collections::HashMap;

use windrow::exemplar::Exemplar;
use windrow::export::Value;
use windrow::histogram::Distribution;

/// The number of a series; `None` for the uses of a source's overflow series.
pub(crate) type Number = Option<u64>;

/// An all-time total.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Total {
    Count(u64),
    Real(f64),
    Values(Distribution),
}

impl Total {
    /// Returns a total as it is kept; `None` of a level or a gauge, which are none.
    pub(crate) fn of(value: Value<'_>) -> Option<Total> {
        match value {
            Value::Count(count) => Some(Total::Count(count)),
            Value::RealTotal(total) => Some(Total::Real(total)),
            Value::Distribution(values) => Some(Total::Values(values.clone())),
            Value::Unsigned(_) | Value::Signed(_) | Value::Real(_) => None,
        }
    }

    /// Returns the change since an earlier total; `None` if this one has begun anew, at zero.
    pub(crate) fn since(&self, before: &Total) -> Option<Total> {
        match (self, before) {
            // A count never goes back: a lower one has wrapped.
            (Total::Count(now), Total::Count(then)) => Some(Total::Count(now.wrapping_sub(*then))),
            (Total::Real(now), Total::Real(then)) if then <= now => Some(Total::Real(now - then)),
            (Total::Values(now), Total::Values(then)) => now.since(then).ok().map(Total::Values),
            _ => None,
        }
    }

    pub(crate) fn is_zero(&self) -> bool {
        match self {
            Total::Count(count) => *count == 0,
            Total::Real(total) => *total == 0.0,
            Total::Values(values) => values.count() == 0,
        }
    }

    pub(crate) fn value(&self) -> Value<'_> {
        match self {
            Total::Count(count) => Value::Count(*count),
            Total::Real(total) => Value::RealTotal(*total),
            Total::Values(values) => Value::Distribution(values),
        }
    }
}

/// The totals of a series at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct State {
    /// The time at which the totals were read, in nanoseconds since 1970.
    pub(crate) time: u64,
    /// The totals in the order of parts and samples, which is one for the life of a series.
    pub(crate) totals: Vec<Total>,
    /// The exemplars that were read with them.
    pub(crate) exemplars: Vec<Exemplar>,
}

/// A state that is acknowledged once its request is accepted.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) source: usize,
    pub(crate) series: Number,
    pub(crate) state: State,
}

/// The acknowledged states of all series.
#[derive(Debug, Default)]
pub(crate) struct Acknowledged {
    sources: Vec<HashMap<Number, Known>>,
    /// The number of collections.
    collections: u64,
}

#[derive(Debug)]
struct Known {
    state: State,
    /// The last collection that had the series.
    seen: u64,
}

impl Acknowledged {
    /// Returns that of `sources`, without any series.
    pub(crate) fn new(sources: usize) -> Acknowledged {
        let sources = (0..sources).map(|_| HashMap::new()).collect();
        Acknowledged { sources, collections: 0 }
    }

    /// Begins a collection.
    pub(crate) fn begin(&mut self) {
        self.collections += 1;
    }

    /// Returns the acknowledged state of a series, which the present collection has seen.
    pub(crate) fn look_up(&mut self, source: usize, series: Number) -> Option<&State> {
        let known = self.sources[source].get_mut(&series)?;
        known.seen = self.collections;
        Some(&known.state)
    }

    /// Returns a state that a collection leads to, for the request that has its changes. If the
    /// series has not changed (the second is false), takes the state over at once: nothing is sent
    /// that a collector could miss.
    pub(crate) fn reach(
        &mut self,
        source: usize,
        series: Number,
        reached: Option<(State, bool)>,
    ) -> Option<Pending> {
        let (state, has_changed) = reached?;
        let pending = Pending { source, series, state };
        if has_changed {
            return Some(pending);
        }
        self.acknowledge([pending]);
        None
    }

    /// Takes over states, such as those of a request.
    pub(crate) fn acknowledge(&mut self, pending: impl IntoIterator<Item = Pending>) {
        for Pending { source, series, state } in pending {
            self.sources[source].insert(series, Known { state, seen: self.collections });
        }
    }

    /// Forgets the series of a source that the present collection has not seen.
    pub(crate) fn forget_removed(&mut self, source: usize) {
        let now = self.collections;
        self.sources[source].retain(|_, known| known.seen == now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_series_that_are_there_are_kept() {
        let mut acknowledged = Acknowledged::new(1);
        let state = |count| {
            let (totals, exemplars) = (vec![Total::Count(count)], Vec::new());
            State { time: count, totals, exemplars }
        };
        let pending =
            |series, count| Pending { source: 0, series: Some(series), state: state(count) };
        acknowledged.begin();
        for series in 0..1_000 {
            acknowledged.acknowledge([pending(series, 1)]);
        }
        acknowledged.begin();
        assert_eq!(acknowledged.look_up(0, Some(7)).unwrap().totals, [Total::Count(1)]);
        assert!(acknowledged.look_up(0, Some(1_000)).is_none());
        acknowledged.forget_removed(0);
        assert_eq!(acknowledged.sources[0].len(), 1);
        acknowledged.acknowledge([pending(7, 2)]);
        assert_eq!(acknowledged.look_up(0, Some(7)).unwrap().time, 2);
    }
}
