//! `labels [--rounds N]`: the cost of one more count, or one more value, by the facade `metrics`:
//! its macros and its handles, over windrow's recorder and over the one that it comes with.
//!
//! 256 series of one name with three labels, one of them hot: each contender on one thread and on
//! one for each core, the median of a round's CPU time for each operation, its minimum and its
//! maximum. Then a text of ten thousand counters; and a `counter!` whose key is any of up to a
//! hundred thousand.

use std::hint::black_box;

use metrics::{Counter, Histogram, Recorder, counter, histogram, with_local_recorder};
use metrics_exporter_prometheus::PrometheusBuilder;
use windrow_benches::harness::{Contender, Rival, time};
use windrow_benches::lab::entries::{Entry, measure, print};
use windrow_benches::terminal::options;

/// Operations of a thread in a round.
const TIMES: u64 = 100_000;
/// Series of the hot one's name.
const SERIES: u64 = 256;
/// The bounds of histograms that have no cells.
const BOUNDS: [f64; 11] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0];

/// A recorder, and how to read a text of all its series.
struct Facade {
    recorder: Box<dyn Recorder + Send + Sync>,
    render: Box<dyn Fn() -> String + Send + Sync>,
}

/// Returns windrow's recorder.
fn of(builder: windrow_metrics::Builder) -> Facade {
    let recorder = builder.build().expect("sound settings");
    let handle = recorder.handle();
    Facade { recorder: Box::new(recorder), render: Box::new(move || handle.render()) }
}

/// Returns it with histograms that have bounds.
fn ours() -> Facade {
    of(windrow_metrics::Recorder::builder().buckets(&BOUNDS))
}

/// Returns it with histograms that have cells and percentiles.
fn cells() -> Facade {
    of(windrow_metrics::Recorder::builder())
}

/// Returns the recorder that the facade comes with.
fn stock() -> Facade {
    let builder = PrometheusBuilder::new().set_buckets(&BOUNDS).expect("there are some");
    let recorder = builder.build_recorder();
    let handle = recorder.handle();
    Facade { recorder: Box::new(recorder), render: Box::new(move || handle.render()) }
}

/// A call that is made once for each number from 0 on, in the scope of a recorder, and the begin of
/// the line that has the number of calls.
struct Called<C> {
    facade: Facade,
    call: C,
    line: &'static str,
}

impl<C: Fn(u64) + Send + Sync> Rival for Called<C> {
    fn add(&self, n: u64) {
        self.add_many(n);
    }

    fn sum(&self) -> u64 {
        let text = (self.facade.render)();
        let hot = |line: &&str| line.starts_with(self.line) && line.contains("route=\"/\"");
        let line = text.lines().find(hot);
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
    }

    fn add_many(&self, times: u64) {
        with_local_recorder(&self.facade.recorder, || (0..times).for_each(&self.call));
    }
}

/// Returns a contender with all series there, the hot one last; `make` makes its call in the scope
/// of the recorder.
fn called<C: Fn(u64) + Send + Sync + 'static>(
    name: &'static str,
    facade: Facade,
    line: &'static str,
    make: impl FnOnce() -> C,
) -> Contender {
    let call = with_local_recorder(&facade.recorder, || {
        for n in 1..SERIES {
            let route = format!("/{n}");
            counter!("requests", "method" => "GET", "route" => route.clone(), "status" => "200")
                .absolute(n);
            histogram!("seconds", "method" => "GET", "route" => route, "status" => "200")
                .record(0.0);
        }
        make()
    });
    Contender::new(name, Called { facade, call, line })
}

/// Returns the hot counter, by a macro with static labels.
#[inline]
fn requests() -> Counter {
    counter!("requests", "method" => "GET", "route" => "/", "status" => "200")
}

/// Returns the hot histogram, by a macro with static labels.
#[inline]
fn seconds() -> Histogram {
    histogram!("seconds", "method" => "GET", "route" => "/", "status" => "200")
}

/// Counts once by a macro with a label's value that is made at each add.
#[inline]
fn count(route: &str) {
    let route = black_box(route).to_owned();
    counter!("requests", "method" => "GET", "route" => route, "status" => "200")
        .increment(black_box(1));
}

/// Returns a value between 0 and 0.1 s.
#[inline]
fn value(number: u64) -> f64 {
    black_box((number % 100) as f64 / 1000.0)
}

fn counters(names: [&'static str; 3], facade: fn() -> Facade) -> [Contender; 3] {
    let of = "requests{";
    [
        called(names[0], facade(), of, || |_| requests().increment(black_box(1))),
        called(names[1], facade(), of, || |_| count("/")),
        called(names[2], facade(), of, || {
            let kept = requests();
            move |_| kept.increment(black_box(1))
        }),
    ]
}

fn histograms(names: [&'static str; 2], facade: fn() -> Facade) -> [Contender; 2] {
    let of = "seconds_count{";
    [
        called(names[0], facade(), of, || |number| seconds().record(value(number))),
        called(names[1], facade(), of, || {
            let kept = seconds();
            move |number| kept.record(value(number))
        }),
    ]
}

fn contenders() -> Vec<Contender> {
    let of_ours = ["windrow: counter!", "windrow: counter! with a String", "windrow: counter kept"];
    let of_stock =
        ["exporter: counter!", "exporter: counter! with a String", "exporter: counter kept"];
    let counters = [counters(of_ours, ours), counters(of_stock, stock)].into_iter().flatten();
    let histograms = [
        histograms(["windrow: histogram!", "windrow: histogram kept"], ours),
        histograms(["windrow: histogram!, cells", "windrow: histogram kept, cells"], cells),
        histograms(["exporter: histogram!", "exporter: histogram kept"], stock),
    ];
    counters.chain(histograms.into_iter().flatten()).collect()
}

/// Returns the routes of some keys.
fn routes(keys: usize) -> Vec<String> {
    (0..keys).map(|n| format!("/api/v1/{n}")).collect()
}

/// Returns what a text of ten thousand counters takes, in milliseconds.
fn renders(name: &str, Facade { recorder, render }: Facade) -> Entry<'static> {
    with_local_recorder(&recorder, || {
        for route in routes(10_000) {
            count(&route);
        }
    });
    Entry::new(name).column(move || time(|| drop(black_box(render()))).each(1_000_000))
}

/// Returns what a `counter!` takes by the number of keys that a thread uses in turn, with windrow's
/// recorder and with the other one.
fn many_keys(keys: usize) -> Entry<'static> {
    const CALLS: u64 = 200_000;
    let ours = of(windrow_metrics::Recorder::builder().keys(keys).keys_per_name(keys));
    [ours, stock()].into_iter().fold(Entry::new(keys.to_string()), |entry, facade| {
        let routes = routes(keys);
        let in_scope = move |work: &mut dyn FnMut()| with_local_recorder(&facade.recorder, work);
        in_scope(&mut || routes.iter().for_each(|route| count(route)));
        let mut place = 0_usize;
        entry.column(move || {
            let mut next = || {
                // In an order that no cache foresees, the same for both.
                place = place.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                count(&routes[(place >> 33) % keys]);
            };
            time(|| in_scope(&mut || (0..CALLS).for_each(|_| next()))).each(CALLS)
        })
    })
}

fn main() {
    let [rounds] = options("labels", [("rounds", 15)], &[]).numbers;
    let contenders = contenders();
    let adds = contenders.iter().map(|one| Entry::new(one.name).adds(&*one.rival, TIMES));
    let mut adds: Vec<_> = adds.collect();
    measure("adds", rounds, &mut adds);
    print(&["ns an operation", "1 thread", "all cores"], &adds);
    let mut texts = [renders("windrow-metrics", cells()), renders("the exporter", stock())];
    measure("texts", rounds, &mut texts);
    print(&["ms a text of 10 000 counters", "median (least to greatest)"], &texts);
    let mut keys = [1, 64, 1_024, 8_192, 100_000].map(many_keys);
    measure("keys", rounds, &mut keys);
    print(&["ns a counter! at keys", "windrow-metrics", "the exporter"], &keys);
}
