//! Sends a program's counts to statsd, over UDP: a visitor of `windrow::export`.
//!
//! It shows the visit alone. It leaves out failed sends, series that have gone, refused sets of
//! labels and panics; CONTRIBUTING.md lists all that an exporter does.
//!
//! `cargo run --example statsd -- 127.0.0.1:8125`

use std::collections::HashMap;
use std::fmt::{Display, Write};
use std::net::UdpSocket;
use std::sync::Arc;
use std::time::Duration;

use windrow::export::{Catalog, Part, Sample, Series, Value, fields};
use windrow::{Counter, Family, Histogram, SlidingWindow, events, labels};

labels! { struct Route { route: str } }
events! { enum Jobs { Done: Count, Waiting: Signed, Took: Histogram } }

static REQUESTS: Family<Route, Counter> = Family::new();
static SIZES: Histogram = Histogram::new();
static JOBS: SlidingWindow<Jobs> = SlidingWindow::of(Duration::from_secs(60), 60);

/// Writes metrics as lines of statsd.
#[derive(Default)]
struct Statsd {
    /// The total that was sent last, by name and series: statsd adds up what it is sent.
    sent: HashMap<(u64, String), u64>,
}

impl Statsd {
    fn lines(&mut self, catalog: &Catalog) -> Vec<String> {
        let mut lines = Vec::new();
        for metric in catalog {
            for field in fields(Arc::clone(&metric.source)) {
                let metric = field.full_name(&metric.name, ".");
                field.source.visit(&mut |series| {
                    let reading = series.metric().read();
                    for part in reading.form.parts() {
                        reading.samples(part, &mut |sample| {
                            let name = name(&metric, part, series, &sample);
                            self.sample(series.number(), &name, sample.value, &mut lines);
                        });
                    }
                });
            }
        }
        lines
    }

    fn sample(&mut self, series: u64, name: &str, value: Value<'_>, lines: &mut Vec<String>) {
        match value {
            Value::Count(total) => {
                let last = self.sent.entry((series, name.to_owned())).or_default();
                let added = total.wrapping_sub(std::mem::replace(last, total));
                lines.extend((added > 0).then(|| format!("{name}:{added}|c")));
            }
            Value::Unsigned(level) => lines.push(gauge(name, &level)),
            Value::Signed(level) => lines.push(gauge(name, &level)),
            Value::Real(real) | Value::RealTotal(real) => lines.push(gauge(name, &real)),
            Value::Distribution(ever) => {
                self.sample(series, &format!("{name}.count"), Value::Count(ever.count()), lines);
                self.sample(series, &format!("{name}.sum"), Value::Count(ever.sum()), lines);
            }
        }
    }
}

/// A sign would change the gauge by the number: it is set to zero first.
fn gauge(name: &str, number: &dyn Display) -> String {
    let number = number.to_string();
    let zero = if number.starts_with('-') { format!("{name}:0|g\n") } else { String::new() };
    format!("{zero}{name}:{number}|g")
}

/// `requests.cart`, `jobs.per_second.Done`: statsd has names alone, without labels.
fn name(metric: &str, part: &Part, series: &dyn Series, sample: &Sample<'_>) -> String {
    let mut name = metric.to_owned();
    let mut push = |text: &str| {
        let safe = |c: char| if c.is_alphanumeric() || c == '_' { c } else { '-' };
        write!(name, ".{}", text.chars().map(safe).collect::<String>()).expect("no error");
    };
    series.labels(&mut |_, value| push(&value.to_string()));
    [part.suffix].into_iter().filter(|suffix| !suffix.is_empty()).for_each(&mut push);
    sample.labels().for_each(|(_, value)| push(value));
    name
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut catalog = Catalog::new();
    catalog.add("requests", "Requests by route", &REQUESTS)?;
    catalog.add("sizes", "Sizes of answers", &SIZES)?.unit = "By".into();
    catalog.add("jobs", "Jobs", &JOBS)?;
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let target = std::env::args().nth(1);
    let mut statsd = Statsd::default();
    for second in 1..=3 {
        REQUESTS.with(Route { route: "/cart" }).add(second);
        SIZES.record(1_000 * second);
        JOBS.add(Jobs::Done, second);
        JOBS.add(Jobs::Waiting, -1);
        JOBS.record(Jobs::Took, Duration::from_millis(second));
        for line in statsd.lines(&catalog) {
            println!("{line}");
            target.iter().try_for_each(|to| socket.send_to(line.as_bytes(), to).map(drop))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::float_cmp, reason = "quarters of small whole numbers are exact")]

    use windrow::export::{field_fn, from_fn};
    use windrow::{Gauge, metrics};

    use super::*;

    metrics! { struct Cache { hits: Counter } }

    /// Reads lines as statsd does: a gauge with a sign is changed by its number.
    fn read(lines: &[String], numbers: &mut HashMap<String, f64>) {
        for line in lines.iter().flat_map(|line| line.lines()) {
            let (name, rest) = line.split_once(':').expect("a name");
            let (text, kind) = rest.split_once('|').expect("a kind");
            let number: f64 = text.parse().expect("a number");
            let held = numbers.entry(name.to_owned()).or_default();
            let changes = kind == "c" || text.starts_with(['+', '-']);
            *held = if changes { *held + number } else { number };
        }
    }

    #[test]
    fn gauges_are_what_they_are_below_zero_too() {
        static LEVEL: Gauge = Gauge::new();
        static LOADS: Family<Route, Gauge> = Family::new();
        static DONE: Counter = Counter::new();
        static CACHES: Family<Route, Cache> = Family::new();
        let mut catalog = Catalog::new();
        catalog.add("done", "", &DONE).unwrap();
        catalog.add("level", "", &LEVEL).unwrap();
        catalog.add("real", "", from_fn(|| LEVEL.sum() as f64 / 4.0)).unwrap();
        let of_one = field_fn(&LOADS, |load: &Gauge| load.sum() as f64 * 0.5);
        catalog.add("load", "", of_one).unwrap();
        catalog.add("cache", "", &CACHES).unwrap();
        let (mut statsd, mut numbers) = (Statsd::default(), HashMap::new());
        for (level, done) in [(-3, 1), (-7, 2), (0, 3), (5, 4), (-1, 5), (-1, 6)] {
            LEVEL.add(level - LEVEL.sum());
            let load = LOADS.with(Route { route: "a" });
            load.add(level - load.sum());
            DONE.add(1);
            CACHES.with(Route { route: "a" }).hits.add(1);
            read(&statsd.lines(&catalog), &mut numbers);
            let shown =
                ["done", "cache.hits.a", "level", "real", "load.a"].map(|name| numbers[name]);
            let level = level as f64;
            let done = f64::from(done);
            assert_eq!(shown, [done, done, level, level / 4.0, level / 2.0]);
        }
    }
}
