//! Collections: reading all sources once, into requests.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use windrow::export::{Series, Value};

use crate::acknowledged::Acknowledged;
use crate::attributes::{Attribute, Attributes};
use crate::batch::{Batch, Batches, Open};
use crate::clock::nanos;
use crate::draft::Draft;
use crate::points::PointMaker;
use crate::rules::{Described, OVERFLOW};

/// The sources of an exporter, and the way in which it sends them.
pub(crate) struct Collector {
    pub(crate) sources: Vec<Described>,
    /// An encoded message.
    pub(crate) resource: Vec<u8>,
    pub(crate) maker: PointMaker,
    /// The time since which metrics count that do not know their own, in nanoseconds since 1970.
    pub(crate) since: u64,
    /// The length of the longest request of the last collection, in bytes.
    pub(crate) longest: Cell<usize>,
}

impl Collector {
    /// Reads all sources. For deltas, `acknowledged` has the totals that they are counted from; for
    /// totals it stays empty.
    pub(crate) fn collect(&self, acknowledged: &mut Acknowledged) -> Vec<Batch> {
        acknowledged.begin();
        let mut batches = Batches::new(&self.resource, self.maker.temporality, self.longest.get());
        let (mut attributes, mut draft) = (Attributes::default(), Draft::default());
        for (index, described) in self.sources.iter().enumerate() {
            let mut open = Open::default();
            // Before the series are listed: so a series that takes the labels of a removed one is
            // made after the last time of that one.
            let began = self.maker.clock.now();
            let mut visit = |series: &dyn Series| {
                // A panic costs its own series; the thread goes on. (It was reported by the panic
                // hook. Reading does not change a metric.)
                let read = catch_unwind(AssertUnwindSafe(|| {
                    let number = Some(series.number());
                    read_labels(series, &mut attributes);
                    let metric = series.metric();
                    let born = nanos(described.starts.of(series, metric));
                    let reading = metric.read();
                    let known = acknowledged.look_up(index, number);
                    let mut points = self.maker.begin(born, began, known, &mut draft);
                    points.add_all(described, &reading, &mut attributes);
                    (number, points.finish())
                }));
                let Ok((number, reached)) = read else {
                    acknowledged.look_up(index, Some(series.number())); // it is there
                    described.starts.see(series.number());
                    return;
                };
                let pending = acknowledged.reach(index, number, reached);
                batches.add(&mut open, described, &draft, pending);
            };
            // A panic of the program's own source costs the rest of its series, as above.
            let visited = catch_unwind(AssertUnwindSafe(|| {
                described.source.visit(&mut visit);
                described.source.refused()
            }));
            let Ok(uses) = visited else { continue };
            if let Some((_, uses)) = described.uses.as_ref().zip(uses) {
                let known = acknowledged.look_up(index, None);
                let mut points = self.maker.begin(self.since, began, known, &mut draft);
                let uses = Value::Count(uses);
                points.total(described.parts.len(), &Attributes::default(), uses, &[]);
                let reached = points.finish();
                let pending = acknowledged.reach(index, None, reached);
                batches.add(&mut open, described, &draft, pending);
            }
            if !described.series_return {
                acknowledged.forget_removed(index);
                described.starts.forget_removed();
            }
        }
        let batches = batches.finish();
        self.longest.set(batches.iter().map(|batch| batch.body.len()).max().unwrap_or_default());
        batches
    }
}

/// Makes the attributes those of a series.
fn read_labels(series: &dyn Series, attributes: &mut Attributes) {
    attributes.clear();
    if series.is_overflow() {
        attributes.push(OVERFLOW, Attribute::Bool(true));
    } else {
        series.labels(&mut |name, value| attributes.push_label(name, value));
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::Arc;
    use std::time::{Instant, SystemTime, UNIX_EPOCH};

    use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
    use opentelemetry_proto::tonic::metrics::v1::metric::Data;
    use prost::Message;
    use windrow::Counter;

    use super::*;
    use crate::clock::Clock;
    use crate::histograms::HistogramForm;
    use crate::rules::{Name, describe};
    use crate::temporality::Temporality;

    #[test]
    fn times_go_on_when_the_systems_clock_is_set_back() {
        let [full, description, unit] = ["hits", "", ""].map(str::to_owned);
        let name = Name { full, description, unit };
        let source = describe(&name, Arc::new(Counter::new()), UNIX_EPOCH, &mut HashSet::new());
        let collector = Collector {
            sources: source.unwrap(),
            resource: Vec::new(),
            maker: PointMaker {
                temporality: Temporality::Cumulative,
                histograms: HistogramForm::default(),
                clock: Clock::new(),
            },
            since: 1,
            longest: Cell::default(),
        };
        let ahead = nanos(SystemTime::now()) + 3_600_000_000_000;
        // Before the clock was set back by an hour.
        collector.maker.clock.read(ahead, Instant::now());
        let times = [(); 2].map(|()| {
            let batches = collector.collect(&mut Acknowledged::new(1));
            let request = ExportMetricsServiceRequest::decode(&*batches[0].body).unwrap();
            let metric = &request.resource_metrics[0].scope_metrics[0].metrics[0];
            let Some(Data::Sum(sum)) = &metric.data else { panic!("{metric:?}") };
            sum.data_points[0].time_unix_nano
        });
        assert!(ahead <= times[0] && times[0] < times[1], "{ahead} {times:?}");
    }
}
