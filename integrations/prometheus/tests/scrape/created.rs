//! The times of creation of series.

#![allow(clippy::float_cmp, reason = "a time stays the same")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use windrow::{Counter, Family, SlidingWindow, events, labels};
use windrow_prometheus::{Exposition, Format};

use crate::formats::{read, samples};
use crate::spec::text::Rules;

labels! { struct Route { route: str } }

events! { enum Upload { Started: Count, Bytes: Histogram } }

#[test]
fn a_series_that_is_made_again_has_a_new_time_of_creation() {
    let routes = Arc::new(Family::<Route, Counter>::new());
    let mut metrics = Exposition::new();
    metrics.register("routes", "", Arc::clone(&routes)).unwrap();
    let created = || {
        let found = read(&metrics, Format::OPENMETRICS, Rules::OpenMetrics);
        let all = samples(&found);
        let one = all.into_iter().find(|((name, _), _)| name == "routes_created");
        one.expect("a time of creation").1
    };
    routes.with(Route { route: "a" }).add(5);
    let first = created();
    assert_eq!(created(), first);
    thread::sleep(Duration::from_millis(2));
    routes.remove(Route { route: "a" });
    routes.with(Route { route: "a" }).add(3);
    assert!(created() > first);
}

#[test]
fn a_windows_time_of_creation_stays() {
    let window = Arc::new(SlidingWindow::<Upload>::builder().build().unwrap());
    let mut metrics = Exposition::new().since(UNIX_EPOCH + Duration::from_secs(1_000));
    metrics.register("up", "", window).unwrap();
    let created = || {
        let text = String::from_utf8(metrics.encode(Format::OPENMETRICS)).unwrap();
        let lines = text.lines().filter(|line| line.contains("_created{"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    let first = created();
    assert_eq!(first.len(), 2 + 1 + 1, "two counts, a sum and a histogram");
    assert!(first.iter().all(|line| !line.ends_with(" 1000.0")));
    assert_eq!(created(), first);
}
