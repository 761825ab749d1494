//! Exemplars: with totals all that there are, with changes each one once.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::metrics::v1::{Exemplar, exemplar};
use windrow::exemplar::TraceContext;
use windrow::{Counter, Histogram, SlidingWindow};
use windrow_otlp::{HistogramForm, Started, Temporality};

use crate::book::Point;
use crate::receiver::{Receiver, Treatment, WIRES, Wire};
use crate::successes::{Http, NEVER, exporter};

/// Returns the ids that belong to a value.
fn ids(value: u64) -> TraceContext {
    TraceContext { trace_id: u128::from(value) << 64 | 5, span_id: value + 1 }
}

/// Returns the value of an exemplar, whose ids belong to it.
fn value(exemplar: &Exemplar) -> u64 {
    let Some(exemplar::Value::AsInt(value)) = exemplar.value else { panic!("{exemplar:?}") };
    let value = u64::try_from(value).unwrap();
    assert_eq!(exemplar.trace_id, ids(value).trace_id.to_be_bytes());
    assert_eq!(exemplar.span_id, ids(value).span_id.to_be_bytes());
    assert!(exemplar.filtered_attributes.is_empty());
    value
}

fn values(point: &Point) -> Vec<u64> {
    point.exemplars.iter().map(value).collect()
}

/// A service that is sent, and what it counts.
struct Sent {
    errors: Arc<Counter>,
    latency: Arc<Histogram>,
    started: Started,
}

impl Sent {
    fn new(receiver: &Receiver, wire: Wire, temporality: Temporality, form: HistogramForm) -> Sent {
        let (errors, latency) = (Arc::new(Counter::new()), Arc::new(Histogram::new()));
        let started = exporter(receiver, wire)
            .temporality(temporality)
            .histograms(form)
            .metric("errors", "", Arc::clone(&errors))
            .metric("latency", "", Arc::clone(&latency))
            .start(NEVER)
            .unwrap();
        Sent { errors, latency, started }
    }

    fn count(&self, value: u64) {
        self.errors.add_with_exemplar(value, ids(value));
        self.latency.record_with_exemplar(value, ids(value));
    }
}

/// Returns the exemplars of each point of a metric.
fn of(receiver: &Receiver, metric: &str) -> Vec<Vec<u64>> {
    receiver.book().of(metric, "").iter().map(values).collect()
}

#[test]
fn totals_have_the_last_one_of_each_octave() {
    for (wire, form) in WIRES.into_iter().zip([HistogramForm::Exponential, HistogramForm::Octaves])
    {
        let receiver = Receiver::start(wire);
        let before = SystemTime::now();
        let sent = Sent::new(&receiver, wire, Temporality::Cumulative, form);
        sent.errors.add(1);
        sent.latency.record(1_000);
        sent.started.flush().unwrap();
        for value in [1_000, 700_000, 1_020, 5] {
            sent.count(value);
        }
        sent.started.flush().unwrap();
        sent.started.flush().unwrap();
        assert_eq!(of(&receiver, "errors"), [vec![], vec![5], vec![5]]);
        let all = vec![5, 1_020, 700_000];
        assert_eq!(of(&receiver, "latency"), [vec![], all.clone(), all]);
        let book = receiver.book();
        let (since, until) = [before, SystemTime::now()]
            .map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_nanos())
            .into();
        for exemplar in book.last("latency", "").exemplars {
            assert!((since..=until).contains(&u128::from(exemplar.time_unix_nano)), "{exemplar:?}");
        }
    }
}

#[test]
fn changes_have_each_one_once_also_behind_a_refused_request() {
    for wire in WIRES {
        let receiver = Receiver::start(wire);
        let sent = Sent::new(&receiver, wire, Temporality::Delta, HistogramForm::default());
        sent.count(1_000);
        sent.started.flush().unwrap();
        sent.started.flush().unwrap(); // nothing
        sent.errors.add(1);
        sent.latency.record(1_000);
        sent.started.flush().unwrap();
        sent.count(3_000);
        receiver.next([Treatment::Refuse]);
        sent.started.flush().unwrap_err();
        sent.count(70_000);
        sent.started.flush().unwrap();
        sent.count(70_001);
        sent.started.flush().unwrap();
        let latency = [vec![1_000], vec![], vec![3_000, 70_000], vec![70_001]];
        assert_eq!(of(&receiver, "latency"), latency);
        assert_eq!(of(&receiver, "errors"), [vec![1_000], vec![], vec![70_000], vec![70_001]]);
    }
}

/// An event that has not changed keeps its exemplars as sent.
#[test]
fn changes_of_one_event_send_no_exemplars_of_another_again() {
    let receiver = Receiver::start(Wire::Http);
    let window = Arc::new(SlidingWindow::<Http>::builder().build().unwrap());
    let started = exporter(&receiver, Wire::Http)
        .temporality(Temporality::Delta)
        .metric("http", "", Arc::clone(&window))
        .start(NEVER)
        .unwrap();
    window.record_with_exemplar(Http::Rt, 1_000, ids(1_000));
    started.flush().unwrap();
    window.add(Http::Pass, 1);
    started.flush().unwrap();
    window.record_with_exemplar(Http::Rt, 70_000, ids(70_000));
    started.flush().unwrap();
    let book = receiver.book();
    let sent: Vec<_> = book.points().iter().map(values).filter(|sent| !sent.is_empty()).collect();
    assert_eq!(sent, [[1_000], [70_000]]);
}
