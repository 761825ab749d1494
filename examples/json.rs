//! Writes a program's metrics as JSON: a visitor of `windrow::export`.
//!
//! `cargo run --example json`

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use windrow::export::{Catalog, Listed, Value};
use windrow::{Counter, Family, Histogram, SlidingWindow, events, labels};

labels! { struct Route { route: str } }
events! { enum Jobs { Done: Count, Waiting: Signed, Took: Histogram } }

static REQUESTS: Family<Route, Counter> = Family::new();
static SIZES: Histogram = Histogram::new();
static JOBS: SlidingWindow<Jobs> = SlidingWindow::of(Duration::from_secs(60), 60);

/// `{"requests": {"help": "...", "unit": "", "samples": [{"route": "/cart", "value": 1}]}}`.
fn all(catalog: &Catalog) -> Json {
    catalog.into_iter().map(|metric| (metric.name.clone(), one(metric))).collect()
}

fn one(metric: &Listed) -> Json {
    let mut samples = Vec::new();
    metric.source.visit(&mut |series| {
        let mut labels = Map::new();
        series.labels(&mut |name, value| {
            labels.insert(name.to_owned(), json!(value.to_string()));
        });
        let reading = series.metric().read();
        for part in reading.form.parts() {
            reading.samples(part, &mut |sample| {
                let mut object = labels.clone();
                object.extend(sample.labels().map(|(name, value)| (name.to_owned(), json!(value))));
                if !part.suffix.is_empty() {
                    object.insert("part".to_owned(), json!(part.suffix));
                }
                object.insert("value".to_owned(), number(sample.value));
                samples.push(Json::Object(object));
            });
        }
    });
    json!({ "help": metric.help, "unit": metric.unit, "samples": samples })
}

fn number(value: Value<'_>) -> Json {
    match value {
        Value::Count(number) | Value::Unsigned(number) => json!(number),
        Value::Signed(number) => json!(number),
        Value::Real(number) | Value::RealTotal(number) => json!(number), // both are finite
        Value::Distribution(ever) => json!({
            "count": ever.count(),
            "sum": ever.sum(),
            "median": ever.quantile(0.5),
            "p99": ever.quantile(0.99),
        }),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut catalog = Catalog::new();
    catalog.add("requests", "Requests by route", &REQUESTS)?;
    catalog.add("sizes", "Sizes of answers", &SIZES)?.unit = "By".into();
    catalog.add("jobs", "Jobs", &JOBS)?;
    REQUESTS.with(Route { route: "/cart" }).increment();
    SIZES.record(1_000);
    JOBS.add(Jobs::Done, 2);
    JOBS.add(Jobs::Waiting, -1);
    JOBS.record(Jobs::Took, Duration::from_millis(3));
    println!("{:#}", all(&catalog));
    Ok(())
}
