//! The times of creation of series.

#![allow(clippy::float_cmp, reason = "a time stays the same")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, UNIX_EPOCH};

use windrow::{Counter, Family, SlidingWindow, events, labels};
use windrow_prometheus::{Exposition, Format};

use crate::formats::{read, samples};
use crate::spec::text::Rules;

labels! { struct Route { route: str } struct Turn { left: bool } }

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
fn a_series_of_enums_that_is_used_again_goes_on_with_its_count_and_its_time() {
    let turns = Arc::new(Family::<Turn, Counter>::new());
    let mut metrics = Exposition::new();
    metrics.register("turns", "", Arc::clone(&turns)).unwrap();
    let scraped = || samples(&read(&metrics, Format::OPENMETRICS, Rules::OpenMetrics));
    turns.with(Turn { left: true }).add(5);
    let first = scraped();
    assert_eq!(first.len(), 2, "a total and a time of creation: {first:?}");
    thread::sleep(Duration::from_millis(2));
    assert!(turns.remove(Turn { left: true }));
    assert!(scraped().is_empty());
    turns.with(Turn { left: true }).add(1);
    let expected = first.into_iter().map(|(series, number)| {
        let more = if series.0 == "turns_total" { 1.0 } else { 0.0 };
        (series, number + more)
    });
    assert_eq!(scraped(), expected.collect());
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
    assert_eq!(first.len(), 1 + 1, "a count and a histogram");
    assert!(first.iter().all(|line| !line.ends_with(" 1000.0")));
    assert_eq!(created(), first);
}
