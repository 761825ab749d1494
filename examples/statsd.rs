//! Sends a program's counts to statsd, over UDP: a visitor of `windrow::export`.
//!
//! `cargo run --example statsd -- 127.0.0.1:8125`

use std::collections::HashMap;
use std::fmt::Write;
use std::net::UdpSocket;
use std::time::Duration;

use windrow::export::{Catalog, Part, Sample, Series, Value};
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
            metric.source().visit(&mut |series| {
                let reading = series.metric().read();
                for part in reading.parts() {
                    reading.samples(part, &mut |sample| {
                        let name = name(metric.name(), part, series, &sample);
                        self.sample(series.number(), &name, sample.value, &mut lines);
                    });
                }
            });
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
            Value::Unsigned(level) => lines.push(format!("{name}:{level}|g")),
            // A sign would change the gauge by the number: it is set to zero first.
            Value::Signed(level) if level < 0 => {
                lines.push(format!("{name}:0|g\n{name}:{level}|g"));
            }
            Value::Signed(level) => lines.push(format!("{name}:{level}|g")),
            Value::Real(real) | Value::RealTotal(real) => lines.push(format!("{name}:{real}|g")),
            Value::Distribution(ever) => {
                self.sample(series, &format!("{name}.count"), Value::Count(ever.count()), lines);
                self.sample(series, &format!("{name}.sum"), Value::Count(ever.sum()), lines);
            }
        }
    }
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
    catalog.add("sizes", "Sizes of answers", &SIZES)?.set_unit("By");
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
