//! The `metrics` facade: its macros and its handles, over windrow's recorder and over those that it
//! comes with.

use std::hint::black_box;

use metrics::{Recorder, counter, histogram};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusRecorder};

use crate::harness::{Contender, Rival, time};
use crate::lab::entries::Entry;
use crate::lab::stats::Sample;

/// Series of the hot one's name.
const SERIES: u64 = 256;

/// The name of all counters here, and of all histograms.
const REQUESTS: &str = "requests";
const SECONDS: &str = "seconds";

/// The bounds of histograms that have no cells.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A recorder, and how to read the hot series of a name from it.
struct Facade {
    recorder: Box<dyn Recorder + Send + Sync>,
    read: Box<dyn Fn() -> u64 + Send + Sync>,
}

impl Facade {
    /// With all series there, the hot one last.
    fn new(
        recorder: impl Recorder + Send + Sync + 'static,
        read: impl Fn() -> u64 + Send + Sync + 'static,
    ) -> Facade {
        metrics::with_local_recorder(&recorder, || {
            for n in 1..SERIES {
                let route = format!("/{n}");
                counter!(REQUESTS, "method" => "GET", "route" => route.clone(), "status" => "200")
                    .absolute(n);
                histogram!(SECONDS, "method" => "GET", "route" => route, "status" => "200")
                    .record(0.0);
            }
        });
        Facade { recorder: Box::new(recorder), read: Box::new(read) }
    }

    fn windrow(line: &'static str) -> Facade {
        Facade::of(windrow_metrics::Recorder::builder().buckets(&BOUNDS), line)
    }

    /// Returns windrow's recorder, whose histograms have cells and percentiles.
    fn windrow_cells(line: &'static str) -> Facade {
        Facade::of(windrow_metrics::Recorder::builder(), line)
    }

    fn of(builder: windrow_metrics::Builder, line: &'static str) -> Facade {
        let recorder = builder.build().expect("sound settings");
        let handle = recorder.handle();
        Facade::new(recorder, move || value(&handle.render(), line))
    }

    fn exporter(line: &'static str) -> Facade {
        let builder = PrometheusBuilder::new().set_buckets(&BOUNDS).expect("there are some");
        let recorder = builder.build_recorder();
        let handle = recorder.handle();
        Facade::new(recorder, move || value(&handle.render(), line))
    }
}

/// Returns the value of the hot series in a text of Prometheus, of the metric whose lines begin so.
fn value(text: &str, name: &str) -> u64 {
    let hot = |line: &&str| line.starts_with(name) && line.contains("route=\"/\"");
    let line = text.lines().find(hot);
    line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
}

const COUNTER: &str = "requests{";
const HISTOGRAM: &str = "seconds_count{";

/// A call that is made once for each number from 0 on, in the scope of the recorder.
struct Called<C> {
    facade: Facade,
    call: C,
}

impl<C: Fn(u64) + Send + Sync> Rival for Called<C> {
    fn add(&self, n: u64) {
        self.add_many(n);
    }

    fn sum(&self) -> u64 {
        (self.facade.read)()
    }

    fn add_many(&self, times: u64) {
        metrics::with_local_recorder(&self.facade.recorder, || (0..times).for_each(&self.call));
    }
}

fn called<C>(name: &'static str, facade: Facade, call: C) -> Contender
where
    C: Fn(u64) + Send + Sync + 'static,
{
    Contender::new(name, Called { facade, call })
}

/// `counter!` with static labels at each add.
fn by_macro(name: &'static str, facade: Facade) -> Contender {
    called(name, facade, |_| {
        counter!("requests", "method" => "GET", "route" => "/", "status" => "200")
            .increment(black_box(1));
    })
}

/// A macro call with a label's value made at each add.
fn by_made_macro(name: &'static str, facade: Facade) -> Contender {
    called(name, facade, |_| {
        let route = black_box("/").to_owned();
        counter!("requests", "method" => "GET", "route" => route, "status" => "200")
            .increment(black_box(1));
    })
}

/// A handle that is kept.
fn kept(name: &'static str, facade: Facade) -> Contender {
    let handle = metrics::with_local_recorder(
        &facade.recorder,
        || counter!("requests", "method" => "GET", "route" => "/", "status" => "200"),
    );
    called(name, facade, move |_| handle.increment(black_box(1)))
}

/// Returns a value between 0 and 0.1 s.
#[inline]
fn seconds(number: u64) -> f64 {
    black_box((number % 100) as f64 / 1000.0)
}

/// `histogram!` with static labels at each record.
fn histogram_by_macro(name: &'static str, facade: Facade) -> Contender {
    called(name, facade, |number| {
        histogram!("seconds", "method" => "GET", "route" => "/", "status" => "200")
            .record(seconds(number));
    })
}

/// A record by a kept handle.
fn kept_histogram(name: &'static str, facade: Facade) -> Contender {
    let handle = metrics::with_local_recorder(
        &facade.recorder,
        || histogram!("seconds", "method" => "GET", "route" => "/", "status" => "200"),
    );
    called(name, facade, move |number| handle.record(seconds(number)))
}

/// Returns everything that goes through the facade, fresh.
///
/// # Panics
/// Never: the settings are sound.
pub fn all() -> Vec<Contender> {
    let (ours, cells, stock) = (Facade::windrow, Facade::windrow_cells, Facade::exporter);
    vec![
        by_macro("counter!: windrow-metrics", ours(COUNTER)),
        by_macro("counter!: metrics-exporter-prometheus", stock(COUNTER)),
        by_made_macro("counter! with a String: windrow-metrics", ours(COUNTER)),
        by_made_macro("counter! with a String: metrics-exporter-prometheus", stock(COUNTER)),
        kept("counter kept: windrow-metrics", ours(COUNTER)),
        kept("counter kept: metrics-exporter-prometheus", stock(COUNTER)),
        histogram_by_macro("histogram!: windrow-metrics", ours(HISTOGRAM)),
        histogram_by_macro("histogram!, cells: windrow-metrics", cells(HISTOGRAM)),
        histogram_by_macro("histogram!: metrics-exporter-prometheus", stock(HISTOGRAM)),
        kept_histogram("histogram kept: windrow-metrics", ours(HISTOGRAM)),
        kept_histogram("histogram kept: metrics-exporter-prometheus", stock(HISTOGRAM)),
    ]
}

/// Returns the recorders with windrow's first: with room for some keys, and nothing in them.
fn both(keys: usize) -> (windrow_metrics::Recorder, PrometheusRecorder) {
    let ours = windrow_metrics::Recorder::builder().keys(keys).keys_per_name(keys);
    (ours.build().expect("sound settings"), PrometheusBuilder::new().build_recorder())
}

/// Counts once at a key.
fn count(route: &str) {
    counter!(REQUESTS, "method" => "GET", "route" => route.to_owned(), "status" => "200")
        .increment(1);
}

/// Returns the routes of some keys.
fn routes(keys: usize) -> Vec<String> {
    (0..keys).map(|n| format!("/api/v1/{n}")).collect()
}

/// Returns what a text of ten thousand counters takes, in milliseconds of CPU time.
pub fn renders() -> [Entry<'static>; 2] {
    let (ours, stock) = both(20_000);
    let (our_handle, stock_handle) = (ours.handle(), stock.handle());
    for recorder in [&ours as &dyn Recorder, &stock] {
        metrics::with_local_recorder(recorder, || {
            for route in routes(10_000) {
                count(&route);
            }
        });
    }
    let millis = |sample: Sample| sample.each(1_000_000);
    [
        Entry::new("windrow-metrics")
            .column(move || millis(time(|| drop(black_box(our_handle.render()))))),
        Entry::new("metrics-exporter-prometheus")
            .column(move || millis(time(|| drop(black_box(stock_handle.render()))))),
    ]
}

/// Returns what a `counter!` takes by the number of keys that a thread uses in turn, with windrow's
/// recorder and with the one that the facade comes with.
pub fn many_keys(keys: usize) -> Entry<'static> {
    const CALLS: u64 = 200_000;
    let (ours, stock) = both(keys);
    let both: [Box<dyn Recorder>; 2] = [Box::new(ours), Box::new(stock)];
    both.into_iter().fold(Entry::new(keys.to_string()), |entry, recorder| {
        let routes = routes(keys);
        metrics::with_local_recorder(&recorder, || routes.iter().for_each(|route| count(route)));
        let mut place = 0_usize;
        entry.column(move || {
            let mut next = || {
                // In an order that no cache foresees, the same for both.
                place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                count(&routes[(place >> 33) % keys]);
            };
            metrics::with_local_recorder(&recorder, || {
                time(|| (0..CALLS).for_each(|_| next())).each(CALLS)
            })
        })
    })
}
