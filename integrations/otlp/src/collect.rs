//! Collections: reading all sources once, into requests.

use std::panic::{AssertUnwindSafe, catch_unwind};

use windrow::export::{Reading, Series};
use windrow::labels::LabelValue;

use crate::acknowledged::{Acknowledged, Number as SeriesNumber};
use crate::batch::{Batch, Batches, Open};
use crate::clock::{Clock, nanos};
use crate::exporter::Temporality;
use crate::histograms::HistogramForm;
use crate::message::{Attribute, KeyValue, Resource};
use crate::points::Points;
use crate::rules::{Described, OVERFLOW};

/// The sources of an exporter, and the way in which it sends them.
pub(crate) struct Collector {
    pub(crate) sources: Vec<Described>,
    pub(crate) resource: Resource,
    pub(crate) temporality: Temporality,
    pub(crate) histograms: HistogramForm,
    /// The time since which metrics count that do not know their own, in nanoseconds since 1970.
    pub(crate) since: u64,
    pub(crate) clock: Clock,
}

impl Collector {
    /// Reads all sources. For deltas, `acknowledged` has the totals that they are counted from.
    pub(crate) fn collect(&self, acknowledged: &mut Acknowledged) -> Vec<Batch> {
        acknowledged.begin();
        let mut batches = Batches::new(self.resource.clone(), self.temporality);
        for (index, described) in self.sources.iter().enumerate() {
            let mut open = Open::default();
            // Before the series are listed: so a series that takes the labels of a removed one is
            // made after the last time of that one.
            let began = self.clock.now();
            let mut visit = |series: &dyn Series| {
                // A panic costs its own series; the thread goes on. (It was reported by the panic
                // hook. Reading does not change a metric.)
                let read = catch_unwind(AssertUnwindSafe(|| Read::of(series, described)));
                let Ok(mut read) = read else {
                    acknowledged.look_up(index, Some(series.number())); // it is there
                    described.starts.see(series.number());
                    return;
                };
                let mut points = Points::begin(self, index, &read, began, acknowledged);
                points.add_all(described, &mut read);
                points.finish(&mut batches, &mut open);
            };
            // A panic of the program's own source costs the rest of its series, as above.
            let visited = catch_unwind(AssertUnwindSafe(|| {
                described.source.visit(&mut visit);
                described.source.refused()
            }));
            let Ok(uses) = visited else { continue };
            if let Some((name, uses)) = described.uses.as_ref().zip(uses) {
                let read = Read::of_uses(self.since);
                let mut points = Points::begin(self, index, &read, began, acknowledged);
                points.count(described.parts.len(), name, Vec::new(), uses, Vec::new());
                points.finish(&mut batches, &mut open);
            }
            if !described.series_return {
                acknowledged.forget_removed(index);
                described.starts.forget_removed();
            }
        }
        batches.finish()
    }
}

/// The reading of a series.
pub(crate) struct Read {
    pub(crate) series: SeriesNumber,
    pub(crate) attributes: Vec<KeyValue>,
    /// The time since which it counts.
    pub(crate) born: u64,
    /// `None` for the uses of an overflow series.
    pub(crate) reading: Option<Reading>,
}

impl Read {
    fn of(series: &dyn Series, described: &Described) -> Read {
        let mut attributes = Vec::new();
        if series.is_overflow() {
            attributes.push(KeyValue::new(OVERFLOW, Attribute::Bool(true)));
        } else {
            series.labels(&mut |name, value| attributes.push(KeyValue::new(name, label(value))));
        }
        let metric = series.metric();
        let born = nanos(described.starts.of(series, metric));
        Read { series: Some(series.number()), attributes, born, reading: Some(metric.read()) }
    }

    fn of_uses(since: u64) -> Read {
        Read { series: None, attributes: Vec::new(), born: since, reading: None }
    }
}

fn label(value: LabelValue<'_>) -> Attribute {
    match value {
        LabelValue::Signed(number) => Attribute::Int(number),
        LabelValue::Unsigned(number) if number <= i64::MAX.cast_unsigned() => {
            Attribute::Int(number.cast_signed())
        }
        LabelValue::Text(text) => Attribute::Text(text.to_owned()),
        other => Attribute::Text(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use prost::Message;
    use windrow::Counter;

    use super::*;
    use crate::message::{Data, Request};
    use crate::rules::{Name, describe};

    #[test]
    fn times_go_on_when_the_systems_clock_is_set_back() {
        let [full, description, unit] = ["hits", "", ""].map(str::to_owned);
        let name = Name { full, description, unit };
        let source = describe(&name, Arc::new(Counter::new()), UNIX_EPOCH, &mut HashSet::new());
        let collector = Collector {
            sources: vec![source.unwrap()],
            resource: Resource { attributes: Vec::new() },
            temporality: Temporality::Cumulative,
            histograms: HistogramForm::default(),
            since: 1,
            clock: Clock::new(),
        };
        let ahead = nanos(SystemTime::now()) + 3_600_000_000_000;
        collector.clock.read(ahead, Instant::now()); // before the clock was set back by an hour
        let times = [(); 2].map(|()| {
            let batches = collector.collect(&mut Acknowledged::new(1));
            let request = Request::decode(&*batches[0].body).unwrap();
            let metric = &request.resource_metrics[0].scope_metrics[0].metrics[0];
            let Some(Data::Sum(sum)) = &metric.data else { panic!("{metric:?}") };
            sum.data_points[0].time_unix_nano
        });
        assert!(ahead <= times[0] && times[0] < times[1], "{ahead} {times:?}");
    }
}
