//! The scrapes of one instance by Prometheus: raw samples, by life of the process.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use serde_json::Value;

use crate::load::Counts;
use crate::prometheus::Prometheus;

/// All counters whose values the sender knows.
const COUNTERS: &str =
    "shop_(requests|orders|payments_count|payments_sum)_total|shop_requests_values_seconds_count";

/// One life of a process, from its start to its end, as it was scraped.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// The beginning of the last scrape.
    pub(crate) last: f64,
    /// The counts of that scrape: each counter begins at zero, so it is all that was counted until
    /// then.
    pub(crate) counts: Counts,
}

impl Life {
    /// Returns all requests.
    pub(crate) fn requests(&self) -> u64 {
        let requests = self.counts.iter().filter(|(name, _)| name.ends_with(" Request"));
        requests.map(|(_, count)| count).sum()
    }
}

/// Returns the lives of an instance, the oldest first.
///
/// A counter that is lower than before shows a restart; but one that has caught up before it is
/// scraped does not. So lives are told apart by the start of the process, which each scrape also
/// has.
pub(crate) async fn lives(prometheus: &Prometheus, instance: SocketAddr) -> Vec<Life> {
    let raw = |name: &str| format!("{{__name__=~\"{name}\",instance=\"{instance}\"}}[10m]");
    let started = prometheus.query(&raw("shop_start_time_seconds")).await;
    let [started] = &started[..] else { panic!("when did {instance} begin? {started:?}") };
    // All samples of a scrape have the same time.
    let starts: Vec<(f64, u64)> = samples(started).collect();
    let mut lives: BTreeMap<u64, Life> = BTreeMap::new();
    for series in prometheus.query(&raw(COUNTERS)).await {
        let name = name(&series["metric"]);
        for (at, value) in samples(&series) {
            let start = starts.iter().find(|(same, _)| same.total_cmp(&at).is_eq());
            let (_, start) = start.expect("the scrape says when the process began");
            let life = lives.entry(*start).or_default();
            life.last = life.last.max(at);
            let before = if value > 0 {
                life.counts.insert(name.clone(), value).unwrap_or(0)
            } else {
                life.counts.get(&name).copied().unwrap_or(0)
            };
            assert!(before <= value, "{name} of {instance} went back from {before} to {value}");
        }
    }
    lives.into_values().collect()
}

/// Returns the samples of a series: when, in seconds since 1970, and the value.
fn samples(series: &Value) -> impl Iterator<Item = (f64, u64)> {
    let values = series["values"].as_array().expect("a range has values");
    values.iter().map(|sample| {
        let value = sample[1].as_str().and_then(|text| text.parse().ok());
        (sample[0].as_f64().expect("a time"), value.expect("a whole number, not below zero"))
    })
}

/// Returns the sender's name for it.
fn name(metric: &Value) -> String {
    let text = |label: &str| metric[label].as_str().unwrap_or("");
    let name = text("__name__");
    let name = name.trim_start_matches("shop_").trim_end_matches("_total");
    let name = name.trim_end_matches("_values_seconds_count").trim_end_matches("_count");
    let words = [name, text("method"), text("route"), text("outcome"), text("event")];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
