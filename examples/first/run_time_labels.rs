//! Requests by labels that a configuration names.
//!
//! ```text
//! cargo run --example first -- run_time_labels
//! ```

use std::collections::HashMap;

use windrow::{
    Counter, Family,
    labels::{LabelNamesError, RuntimeLabels},
};

/// The names of the labels, as a configuration has them.
const CONFIGURED: &str = "tenant region";

/// Counts a request by those of its fields that are labels; a field that it lacks is empty.
fn count(requests: &Family<RuntimeLabels, Counter>, fields: &HashMap<&str, &str>) {
    // On the stack: to count allocates nothing.
    let mut values = [""; RuntimeLabels::MAX_NAMES];
    let names = requests.names();
    for (value, name) in values.iter_mut().zip(names) {
        *value = fields.get(name).copied().unwrap_or_default();
    }
    requests.with(&values[..names.len()]).increment();
}

fn run(
    names: impl Iterator<Item = String>,
) -> Result<Family<RuntimeLabels, Counter>, LabelNamesError> {
    let requests = Family::with_names(names)?.with_max_series(10_000);
    for (tenant, region) in [("acme", "eu"), ("acme", "us"), ("acme", "eu")] {
        let fields = HashMap::from([("tenant", tenant), ("region", region), ("route", "/cart")]);
        count(&requests, &fields);
    }
    for series in &requests {
        let labels = series.pairs().map(|(name, value)| format!("{name}={value}"));
        println!("{}: {}", labels.collect::<Vec<_>>().join(" "), series.sum());
    }
    Ok(requests)
}

pub(crate) fn main() -> Result<(), LabelNamesError> {
    run(CONFIGURED.split(' ').map(String::from)).map(drop)
}

#[test]
fn it_runs() {
    let requests = run(["region", "zone"].map(String::from).into_iter()).unwrap();
    assert_eq!((requests.len(), requests.with(&["eu", ""]).sum()), (2, 2));
    assert!(run(["region"; 2].map(String::from).into_iter()).is_err());
}
