//! What a scrape shows of a metric.

use std::fmt;

use prometheus_client::encoding::{
    EncodeLabel, EncodeLabelSet, LabelSetEncoder, MetricEncoder, NoLabelSet,
};
use prometheus_client::metrics::MetricType;
use windrow::{Counter, Distribution, Gauge, Histogram, InFlight, LabelValue, Maximum, Minimum};

use crate::buckets::Buckets;

/// One metric in Prometheus' sense: a name, a help and a type.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// What is appended to the name; nothing, if it is empty.
    pub(crate) suffix: &'static str,
    /// What is appended to the help.
    pub(crate) about: &'static str,
    pub(crate) kind: MetricType,
}

/// What a scrape shows of one metric: as which parts, and which samples of each.
pub trait Show: Send + Sync + 'static {
    /// What one scrape reads.
    type Reading;
    const PARTS: &'static [Part];
    /// The labels beside the family's by which samples of a part are told apart.
    const LABELS: &'static [&'static str] = &[];

    fn read(&self) -> Self::Reading;

    /// Below which value its histograms do not tell values apart; 0, if there is none.
    fn below(&self) -> u64 {
        0
    }

    /// Puts a part's samples, as many as there are.
    fn show<P: Pairs>(
        reading: &Self::Reading,
        part: usize,
        samples: &mut Samples<'_, '_, P>,
    ) -> fmt::Result;
}

/// A value as Prometheus knows it.
#[derive(Clone, Copy, Debug)]
pub enum Value {
    Count(u64),
    Unsigned(u64),
    Signed(i64),
    Real(f64),
}

/// The labels of a series.
pub trait Pairs {
    /// Whether there is any.
    fn any(&self) -> bool;
    fn pairs(&self) -> impl Iterator<Item = (&str, LabelValue<'_>)>;
}

/// Of what has no labels, or whose encoder knows them.
pub(crate) struct NoPairs;

impl Pairs for NoPairs {
    fn any(&self) -> bool {
        false
    }

    fn pairs(&self) -> impl Iterator<Item = (&str, LabelValue<'_>)> {
        std::iter::empty()
    }
}

/// Where the samples of one series go.
pub struct Samples<'s, 'e, P> {
    encoder: &'s mut MetricEncoder<'e>,
    pairs: &'s P,
    buckets: &'s Buckets,
}

impl<'s, 'e, P: Pairs> Samples<'s, 'e, P> {
    pub(crate) fn new(
        encoder: &'s mut MetricEncoder<'e>,
        pairs: &'s P,
        buckets: &'s Buckets,
    ) -> Samples<'s, 'e, P> {
        Samples { encoder, pairs, buckets }
    }

    /// The samples of a histogram, with labels more.
    pub(crate) fn put_histogram(
        &mut self,
        labels: &[(&str, &str)],
        distribution: &Distribution,
    ) -> fmt::Result {
        let buckets = self.buckets;
        self.labelled(labels, |encoder| buckets.encode(distribution, encoder))
    }

    /// The only sample of its series.
    pub(crate) fn put(&mut self, value: Value) -> fmt::Result {
        self.put_labelled(&[], value)
    }

    /// A sample with labels more.
    pub(crate) fn put_labelled(&mut self, labels: &[(&str, &str)], value: Value) -> fmt::Result {
        self.labelled(labels, |encoder| write(encoder, value))
    }

    fn labelled(
        &mut self,
        labels: &[(&str, &str)],
        encode: impl FnOnce(&mut MetricEncoder<'_>) -> fmt::Result,
    ) -> fmt::Result {
        if labels.is_empty() && !self.pairs.any() {
            return encode(self.encoder);
        }
        let set = Set { pairs: self.pairs, labels };
        encode(&mut self.encoder.encode_family(&set)?)
    }
}

fn write(encoder: &mut MetricEncoder<'_>, value: Value) -> fmt::Result {
    match value {
        Value::Count(count) => encoder.encode_counter::<NoLabelSet, _, u64>(&count, None),
        Value::Unsigned(number) => encoder.encode_gauge(&number),
        Value::Signed(number) => encoder.encode_gauge(&number),
        Value::Real(number) => encoder.encode_gauge(&number),
    }
}

/// All labels of a sample.
struct Set<'s, P> {
    pairs: &'s P,
    labels: &'s [(&'s str, &'s str)],
}

impl<P: Pairs> EncodeLabelSet for Set<'_, P> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        for (name, value) in self.pairs.pairs() {
            let label = encoder.encode_label();
            match value {
                LabelValue::Text(text) => (name, text).encode(label)?,
                LabelValue::Unsigned(number) => (name, number).encode(label)?,
                LabelValue::Signed(number) => (name, number).encode(label)?,
                LabelValue::Short(text) => (name, text.as_str()).encode(label)?,
                other => (name, other.to_string()).encode(label)?,
            }
        }
        self.labels.iter().try_for_each(|label| label.encode(encoder.encode_label()))
    }
}

const COUNTER: &[Part] = &[Part { suffix: "", about: "", kind: MetricType::Counter }];
const GAUGE: &[Part] = &[Part { suffix: "", about: "", kind: MetricType::Gauge }];

/// Metrics of which there is one number, or none yet.
macro_rules! one_number {
    ($($metric:ty, $parts:ident: |$this:ident| $value:expr;)+) => {
        $(
            impl Show for $metric {
                type Reading = Option<Value>;
                const PARTS: &'static [Part] = $parts;

                fn read(&self) -> Option<Value> {
                    let $this = self;
                    $value
                }

                fn show<P: Pairs>(
                    reading: &Option<Value>,
                    _: usize,
                    samples: &mut Samples<'_, '_, P>,
                ) -> fmt::Result {
                    reading.map_or(Ok(()), |value| samples.put(value))
                }
            }
        )+
    };
}

one_number! {
    Counter, COUNTER: |counter| Some(Value::Count(counter.lifetime()));
    Gauge, GAUGE: |gauge| Some(Value::Signed(gauge.sum()));
    InFlight, GAUGE: |in_flight| Some(Value::Unsigned(in_flight.level()));
    Maximum, GAUGE: |maximum| maximum.get().map(Value::Unsigned);
    Minimum, GAUGE: |minimum| minimum.get().map(Value::Unsigned);
}

impl Show for Histogram {
    type Reading = Distribution;
    const PARTS: &'static [Part] = &[Part { suffix: "", about: "", kind: MetricType::Histogram }];
    const LABELS: &'static [&'static str] = &["le"];

    fn read(&self) -> Distribution {
        self.lifetime()
    }

    fn below(&self) -> u64 {
        self.scale().least() - 1
    }

    fn show<P: Pairs>(
        reading: &Distribution,
        _: usize,
        samples: &mut Samples<'_, '_, P>,
    ) -> fmt::Result {
        samples.put_histogram(&[], reading)
    }
}
