//! Requests are those that prost makes of the generated messages, byte for byte.

use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::metrics::v1::NumberDataPoint;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value as Sent;
use prost::Message;
use windrow::clock::Manual;
use windrow::exemplar::TraceContext;
use windrow::export::{AnyMetric, Form, Outline, Series, Source};
use windrow::histogram::Scale;
use windrow::labels::{LabelValue, RuntimeLabels};
use windrow::{Counter, Family, Gauge, Histogram, SlidingWindow, labels};

use super::FULL;
use crate::acknowledged::Acknowledged;
use crate::attributes::{Attribute, Attributes};
use crate::clock::{Clock, nanos};
use crate::collect::Collector;
use crate::draft::{Frame, put_number};
use crate::histograms::HistogramForm;
use crate::number::Number;
use crate::points::PointMaker;
use crate::rules::{Described, Name, describe};
use crate::temporality::Temporality;
use generated::Naive;

mod generated;

labels! { struct Numbers { signed: i64, unsigned: u64 } }

windrow::events! { enum Http { Ok: Count, Open: Signed, Size: Value in "By", Rt: Histogram in "ns" } }

/// Numbers of a program's own, which include those that are not sent.
struct Own(Vec<AnyMetric<'static>>);

struct OwnSeries(u64, AnyMetric<'static>);

impl Source for Own {
    fn outline(&self) -> Outline {
        Outline::from(self.0.first().map_or(Form::Counter, |metric| metric.form()))
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        (0..).zip(&self.0).for_each(|(number, metric)| see(&OwnSeries(number, *metric)));
    }
}

impl Series for OwnSeries {
    fn number(&self) -> u64 {
        self.0
    }

    fn is_overflow(&self) -> bool {
        false
    }

    fn created(&self) -> Option<SystemTime> {
        // Sent as zero, which is no field, in either case.
        self.0.is_multiple_of(2).then_some(UNIX_EPOCH)
    }

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        see("", LabelValue::Unsigned(u64::MAX - self.0));
        see("n", LabelValue::Unsigned(self.0));
    }

    fn metric(&self) -> AnyMetric<'_> {
        self.1
    }
}

fn described(name: &str, source: impl Source + 'static) -> Vec<Described> {
    let [full, description, unit] = [name, "About \0 it", "ns"].map(str::to_owned);
    let name = Name { full, description, unit };
    describe(&name, Arc::new(source), UNIX_EPOCH, &mut HashSet::new()).unwrap()
}

fn texts() -> Vec<String> {
    let long = "caf\u{e9}\0".repeat(200); // 1 200 bytes
    let cut = |bytes: usize| "x".repeat(bytes);
    vec![String::new(), "\0".to_owned(), cut(100), cut(127), cut(128), cut(1_000), long]
}

/// Sources with values that are on the edge of something.
fn hostile() -> Vec<Described> {
    let names = ["one", "a_name_of_more_than_a_few_bytes"];
    let counters = Family::<RuntimeLabels, Counter>::with_names(names).unwrap().with_max_series(48);
    let trace = TraceContext { trace_id: 1 << 100, span_id: 7 };
    for (at, one) in (0..).zip(texts()) {
        for (and, other) in (0..).zip(texts()) {
            // The last one overflows.
            let counter = counters.with(&[&one, &other]);
            counter.add([0, 1, 127, i64::MAX.cast_unsigned(), u64::MAX][(at + and) % 5]);
            if at == and {
                counter.add_with_exemplar(at as u64, trace);
            }
        }
    }
    let gauges = Family::<Numbers, Gauge>::new();
    for (signed, unsigned) in [(i64::MIN, u64::MAX), (0, 0), (-1, 1 << 63), (i64::MAX, 127)] {
        gauges.with(Numbers { signed, unsigned }).add(signed);
    }
    let scales = [Scale::DEFAULT, Scale::new(0, 1, u64::MAX).unwrap()];
    let scales = scales.into_iter().chain([Scale::new(5, 2, 1 << 30).unwrap()]);
    let histograms = scales.flat_map(|scale| {
        let all = [&[][..], &[0], &[u64::MAX], &[1, 1 << 20], &[600, 700, 701, 1 << 35, 1 << 36]];
        let all = all.map(|values| {
            let histogram = Histogram::with_scale(scale);
            for value in values {
                histogram.record_with_exemplar(*value, (value % 2 == 0).then_some(trace));
            }
            histogram
        });
        let shape = format!("histogram.{}.{}", scale.schema(), scale.min());
        (0..).zip(all).map(move |(at, one)| described(&format!("{shape}.{at}"), one))
    });
    let full = Histogram::new();
    (0..100_000).for_each(|value| full.record(value * 700_000));
    let clock = Manual::default();
    let window = SlidingWindow::<Http, _>::builder().clock(clock.clone()).build().unwrap();
    for value in [3, 5_000, u64::MAX] {
        window.add(Http::Ok, 1);
        window.add(Http::Open, -4);
        window.record(Http::Size, value);
        window.record(Http::Rt, value);
        clock.advance(std::time::Duration::from_millis(500));
    }
    let real = [0.0, -0.0, 1.5, f64::MIN, f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY];
    let of_real = |make: fn(f64) -> AnyMetric<'static>| Own(real.map(make).into());
    let counts = [Some(0), Some(u64::MAX), None].map(AnyMetric::Count);
    let mut all = vec![
        described("counters", counters),
        described("gauges", gauges),
        described("real", of_real(AnyMetric::Real)),
        described("real.total", of_real(AnyMetric::RealTotal)),
        described("counts", Own(counts.into())),
        described("full", full),
        described("window", window),
        described("none", Own(Vec::new())),
    ];
    all.extend(histograms);
    all.into_iter().flatten().collect()
}

fn collector(
    sources: Vec<Described>,
    temporality: Temporality,
    histograms: HistogramForm,
) -> Collector {
    let maker = PointMaker { temporality, histograms, clock: Clock::new() };
    // So that no series is younger than the collection.
    maker.clock.read(nanos(SystemTime::now()) + 3_600_000_000_000, Instant::now());
    let (mut attributes, mut resource) = (Attributes::default(), Vec::new());
    attributes.push("service.name", Attribute::Text(&"s".repeat(300)));
    attributes.put(1, &mut resource);
    Collector { sources, resource, maker, since: 1, longest: Cell::default() }
}

/// Collects, and returns the requests as generated messages, whose encoding each of them is.
fn collect(collector: &Collector) -> Vec<ExportMetricsServiceRequest> {
    let batches = collector.collect(&mut Acknowledged::new(collector.sources.len()));
    let decode = |body: &[u8]| {
        let message = ExportMetricsServiceRequest::decode(body).unwrap();
        assert!(message.encode_to_vec() == body, "of {} bytes", body.len());
        message
    };
    batches.iter().map(|batch| decode(&batch.body)).collect()
}

#[test]
fn a_request_is_the_encoding_of_the_generated_messages() {
    let forms = [HistogramForm::Exponential, HistogramForm::Octaves];
    let temporalities = [Temporality::Cumulative, Temporality::Delta];
    for (form, temporality) in forms.into_iter().flat_map(|form| temporalities.map(|of| (form, of)))
    {
        let collector = collector(hostile(), temporality, form);
        let requests = collect(&collector);
        assert_eq!(requests.len(), 1);
        let scope = &requests[0].resource_metrics[0].scope_metrics[0];
        // The times are all that is not known before.
        let times: HashMap<_, _> = scope.metrics.iter().map(generated::time).collect();
        let naive = Naive { temporality, form, times, since: collector.since };
        let metrics: Vec<_> =
            collector.sources.iter().flat_map(|source| naive.metrics(source)).collect();
        assert_eq!(scope.metrics, metrics, "{form:?} {temporality:?}");
    }
}

#[test]
fn requests_are_split_at_a_size_and_have_all_points_once() {
    let family = Family::<RuntimeLabels, Counter>::with_names(["text"]).unwrap();
    let family = family.with_max_series(2_000);
    for series in 0..2_000 {
        family.with(&[&format!("{series:01000}")]).add(series);
    }
    let (temporality, form) = (Temporality::Cumulative, HistogramForm::default());
    let collector = collector(described("many", family), temporality, form);
    let batches = collector.collect(&mut Acknowledged::new(1));
    assert_eq!(batches.len(), 4); // of about half a mebibyte
    assert!(batches.iter().all(|batch| batch.body.len() < FULL + 2_000));
    let requests = collect(&collector);
    let all: Vec<_> = requests
        .iter()
        .flat_map(|request| &request.resource_metrics[0].scope_metrics[0].metrics)
        .cloned()
        .collect();
    let times = HashMap::from([generated::time(&all[0])]);
    let naive = Naive { temporality, form, times, since: collector.since };
    let mut naive = naive.metrics(&collector.sources[0]);
    // The uses of the overflow series, which nothing has used, are the last metric.
    assert_eq!(all.last().unwrap().name, "many.overflow");
    naive.truncate(1);
    let points: Vec<_> = all[..all.len() - 1].iter().flat_map(generated::numbers).collect();
    assert_eq!(points, generated::numbers(&naive[0]).collect::<Vec<_>>());
}

#[test]
fn a_number_of_any_bits_is_sent_as_it_is() {
    let doubles = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 5e-324];
    let numbers = doubles.map(Number::Double).into_iter();
    for number in numbers.chain([i64::MIN, -1, 0, i64::MAX].map(Number::Int)) {
        for (start, time) in [(0, 0), (1, u64::MAX), (u64::MAX, 0)] {
            let attributes = &Attributes::default();
            let mut bytes = Vec::new();
            put_number(number, Frame { attributes, exemplars: &[], start, time }, &mut bytes);
            let value = Some(match number {
                Number::Double(number) => Sent::AsDouble(number),
                Number::Int(number) => Sent::AsInt(number),
            });
            let (start_time_unix_nano, time_unix_nano) = (start, time);
            let point = NumberDataPoint {
                start_time_unix_nano,
                time_unix_nano,
                value,
                ..NumberDataPoint::default()
            };
            assert_eq!(bytes, point.encode_to_vec(), "{number:?}");
        }
    }
}
