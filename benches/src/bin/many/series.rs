//! Series of counters by route and status, beside prometheus' and prometheus-client's.

use std::hint::black_box;

use prometheus::{IntCounterVec, Opts, TextEncoder};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter as ClientCounter;
use prometheus_client::metrics::family::Family as ClientFamily;
use prometheus_client::registry::Registry;
use windrow::{Counter, Family, labels};
use windrow_prometheus::{Exposition, Format};

use crate::part::{AT_RANDOM, Part, Row, at_random, bytes, nanos, sets};

labels! { struct Request { route: str, status: u16 } }

/// A counter by labels.
trait Labelled: Sized {
    const NAME: &str;

    fn new(series: usize) -> Self;

    fn add(&self, route: &str);

    /// Returns the length of a text of all series, in bytes.
    fn scrape(&self) -> usize;

    fn clear(self);
}

/// Never freed: a registry wants it as a static is.
struct Windrow(&'static Family<Request<'static>, Counter>);

impl Labelled for Windrow {
    const NAME: &str = "windrow";

    fn new(series: usize) -> Self {
        Windrow(Box::leak(Box::new(Family::new().with_max_series(series))))
    }

    fn add(&self, route: &str) {
        self.0.with(Request { route, status: 200 }).increment();
    }

    fn scrape(&self) -> usize {
        let mut metrics = Exposition::new();
        metrics.register("requests", "what is counted", self.0).expect("sound names");
        metrics.encode(Format::TEXT).len()
    }

    fn clear(self) {
        self.0.retain(|_, _| false);
    }
}

struct Prometheus(IntCounterVec);

impl Labelled for Prometheus {
    const NAME: &str = "prometheus";

    fn new(_series: usize) -> Self {
        let options = Opts::new("requests", "what is counted");
        Prometheus(IntCounterVec::new(options, &["route", "status"]).expect("sound names"))
    }

    fn add(&self, route: &str) {
        self.0.with_label_values(&[route, "200"]).inc();
    }

    fn scrape(&self) -> usize {
        let families = prometheus::core::Collector::collect(&self.0);
        TextEncoder::new().encode_to_string(&families).expect("a string takes all").len()
    }

    fn clear(self) {
        self.0.reset();
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Client {
    route: String,
    status: u16,
}

struct PrometheusClient(ClientFamily<Client, ClientCounter>);

impl Labelled for PrometheusClient {
    const NAME: &str = "prometheus-client";

    fn new(_series: usize) -> Self {
        PrometheusClient(ClientFamily::default())
    }

    fn add(&self, route: &str) {
        self.0.get_or_create(&Client { route: route.to_owned(), status: 200 }).inc();
    }

    fn scrape(&self) -> usize {
        let mut registry = Registry::default();
        registry.register("requests", "what is counted", self.0.clone());
        let mut text = String::new();
        encode(&mut text, &registry).expect("a string takes all");
        text.len()
    }

    fn clear(self) {
        self.0.clear();
    }
}

/// Measures a contender with this number of series.
fn measure<F: Labelled>(count: usize) -> Row {
    let routes: Vec<String> = (0..count).map(|number| format!("/api/v1/item{number}")).collect();
    let add_all = |family: &F| routes.iter().for_each(|route| family.add(route));
    let (family, bytes) = bytes(|| {
        let family = F::new(count);
        add_all(&family);
        family
    });
    let order = at_random(count);
    let again = nanos(AT_RANDOM, || {
        for number in &order {
            family.add(black_box(&routes[*number as usize]));
        }
    });
    let mut text = 0;
    let all = sets(count) * count;
    let scrape = nanos(all, || (0..sets(count)).for_each(|_| text = family.scrape()));
    assert!(text > 20 * count, "{} has lost series", F::NAME);
    let families: Vec<F> = (0..sets(count)).map(|_| F::new(count)).collect();
    let first = nanos(all, || families.iter().for_each(add_all));
    let clear = nanos(all, || families.into_iter().for_each(F::clear));
    let figures = vec![bytes as f64 / count as f64, first, again, scrape, clear];
    Row { contender: F::NAME, count, figures }
}

pub(crate) const PART: Part = Part {
    name: "series",
    title: "Series of counters by route and status",
    about: "A scrape writes the text format, and is per series.",
    columns: &["bytes", "first add", "add at random", "a scrape", "removal of all"],
    measure: |count| {
        vec![
            measure::<Windrow>(count),
            measure::<Prometheus>(count),
            measure::<PrometheusClient>(count),
        ]
    },
};
