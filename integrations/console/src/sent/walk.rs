//! A walk over all series: each is read once, its watch looks at the numbers, and what is unusual
//! is noted.

use std::sync::Arc;

use windrow::export::{AnyMetric, Series};

use crate::read::number::Number;
use crate::read::row::numbers;
use crate::shown::key::write_key;
use crate::shown::names::events_of;
use crate::shown::registry::Shown;
use crate::unusual::list::Unusual;
use crate::unusual::watches::{Keeper, Pass};

/// A walk, metric by metric.
pub(crate) struct Walk<'s> {
    shown: &'s Shown,
    keeper: &'s Keeper,
    pass: Pass,
    unusual: Unusual,
    /// The number of series so far.
    walked: usize,
}

/// A series as it was read.
pub(crate) struct Read<'r> {
    pub(crate) series: &'r dyn Series,
    /// The position of the metric, and that of the series in the walk.
    pub(crate) index: usize,
    pub(crate) place: usize,
    pub(crate) key: &'r str,
    pub(crate) numbers: &'r [Number],
    /// The span of the numbers of an interval, in nanoseconds.
    pub(crate) span: u64,
    /// True if a watch has looked at it.
    pub(crate) is_watched: bool,
    /// The rate in this hour of yesterday, a second, as far as that watch knows it.
    pub(crate) yesterday: Option<f64>,
}

impl<'s> Walk<'s> {
    pub(crate) fn begin(shown: &'s Shown, keeper: &'s Arc<Keeper>) -> Walk<'s> {
        Walk { shown, keeper, pass: keeper.begin(), unusual: Unusual::default(), walked: 0 }
    }

    /// Reads the series of a metric.
    pub(crate) fn metric(&mut self, index: usize, mut see: impl FnMut(&Read<'_>)) {
        let metric = &self.shown.metrics[index];
        let events = events_of(metric.outline.form);
        let is_duration = |event: usize| self.shown.is_duration(events[event].0);
        let (mut key, mut read) = (String::new(), Vec::new());
        metric.source.visit(&mut |series| {
            write_key(&mut key, &metric.name, series);
            read.clear();
            let of_series = series.metric();
            let (span, is_watched, yesterday) = if let AnyMetric::Window(_) = of_series {
                self.keeper.look(&mut self.pass, (index, &key), series, |mut watched| {
                    let bounds = watched.as_ref().and_then(|watched| watched.watch.bounds());
                    let (span, above) = numbers(of_series, bounds, &mut read);
                    if let Some(watched) = &mut watched {
                        watched.look(&read, above);
                    }
                    self.unusual.note((index, &key), watched.as_deref(), is_duration);
                    (span, watched.is_some(), watched.and_then(|watched| watched.yesterday))
                })
            } else {
                (numbers(of_series, None, &mut read).0, false, None)
            };
            let (place, key, numbers) = (self.walked, &*key, &*read);
            see(&Read { series, index, place, key, numbers, span, is_watched, yesterday });
            self.walked += 1;
        });
    }

    /// Ends the walk. Returns what is unusual, the most urgent first, and the number of series.
    pub(crate) fn end(mut self) -> (Unusual, usize) {
        self.keeper.end(&self.pass);
        self.unusual.sort();
        (self.unusual, self.walked)
    }
}
