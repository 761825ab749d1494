//! Series of counters by route and status, beside prometheus' and prometheus-client's.
//!
//! Bytes are those asked of the allocator (a counter's column is mapped, and comes to 8 bytes for
//! each core more). Times are of one thread, by the clock of its processor time.

use std::hint::black_box;

use prometheus::{IntCounterVec, Opts, TextEncoder};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter as ClientCounter;
use prometheus_client::metrics::family::Family as ClientFamily;
use prometheus_client::registry::Registry;
use windrow::{Counter, Family, labels};
use windrow_benches::terminal::print_table;
use windrow_prometheus::{Exposition, Format};

use crate::nanos;

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

/// Measures a row: with this number of series.
fn measure<F: Labelled>(series: usize) -> Vec<String> {
    let routes: Vec<String> = (0..series).map(|number| format!("/api/v1/item{number}")).collect();
    let bytes = {
        crate::HEAP.stop(false);
        let before = crate::HEAP.bytes();
        let family = F::new(series);
        for route in &routes {
            family.add(route);
        }
        let bytes = crate::HEAP.bytes() - before;
        drop(family);
        crate::HEAP.stop(true);
        bytes as f64 / series as f64
    };
    let family = F::new(series);
    let first = nanos(series, || routes.iter().for_each(|route| family.add(route)));
    let mut random = fastrand::Rng::with_seed(7);
    let times = 1_000_000;
    let order: Vec<u32> = (0..times).map(|_| random.u32(..series as u32)).collect();
    let again = nanos(times, || {
        for number in &order {
            family.add(black_box(&routes[*number as usize]));
        }
    });
    let mut text = 0;
    let scrape = nanos(series, || text = family.scrape());
    assert!(text > 20 * series, "{} has lost series", F::NAME);
    let clear = nanos(series, || family.clear());
    vec![
        format!("{}, {series}", F::NAME),
        format!("{bytes:.0}"),
        format!("{first:.0}, {again:.0}"),
        format!("{scrape:.0}"),
        format!("{clear:.0}"),
    ]
}

/// Prints the table of these decades.
pub(crate) fn print(decades: &[usize]) {
    let mut rows = Vec::new();
    for series in decades.iter().copied() {
        rows.push(measure::<Windrow>(series));
        rows.push(measure::<Prometheus>(series));
        rows.push(measure::<PrometheusClient>(series));
    }
    print_table(
        &[
            "contender, series",
            "bytes a series",
            "ns: first add, again at random",
            "ns a series: a scrape",
            "ns a series: removal of all",
        ],
        &rows,
    );
}
