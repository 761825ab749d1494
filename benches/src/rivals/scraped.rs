//! Many series, and what an exporter does with them: texts for a scraper.

use std::fmt::Write as _;

use prometheus::{IntCounterVec, Opts, TextEncoder};
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

use super::labelled::{NAMES, Texts};
use crate::harness::{Contender, Rival, at_once, cores, rival};

impl Texts {
    /// Returns the texts of one of very many series.
    pub fn numbered(number: usize) -> Texts {
        let mut texts = Texts::of([number % 4, 0, number / 4 % 4]);
        let _ = write!(texts.route, "{}", number / 16); // a `String` takes all
        texts
    }
}

/// Has every core add once to each series, by `add`.
pub fn fill(series: usize, add: &(dyn Fn(&Texts) + Sync)) {
    let all: Vec<Texts> = (0..series).map(Texts::numbered).collect();
    at_once(cores(), &|_| {}, &|_| all.iter().for_each(add));
}

/// prometheus-client's text of all series.
struct Client {
    registry: Registry,
    family: Family<Texts, Counter>,
}

rival! { Client:
    add(self, n) => self.family.get_or_create(&Texts::numbered(0)).inc_by(n);
    // Returns the length of the text.
    sum(self) => {
        let mut text = String::new();
        encode(&mut text, &self.registry).expect("a `String` takes all");
        text.len() as u64
    };
}

fn client(series: usize) -> Client {
    let (mut registry, family) = (Registry::default(), Family::<Texts, Counter>::default());
    registry.register("requests", "what is counted", family.clone());
    fill(series, &|texts| _ = family.get_or_create(texts).inc());
    Client { registry, family }
}

/// prometheus' text of all series.
struct Prometheus {
    registry: prometheus::Registry,
    counters: IntCounterVec,
}

rival! { Prometheus:
    add(self, n) => self.counters.with_label_values(&Texts::numbered(0).lend()).inc_by(n);
    // Returns the length of the text.
    sum(self) => {
        let text = TextEncoder::new().encode_to_string(&self.registry.gather());
        text.expect("sound names").len() as u64
    };
}

fn prometheus(series: usize) -> Prometheus {
    let counters = IntCounterVec::new(Opts::new("requests", "what is counted"), &NAMES);
    let (registry, counters) = (prometheus::Registry::new(), counters.expect("sound names"));
    registry.register(Box::new(counters.clone())).expect("a fresh registry");
    fill(series, &|texts| counters.with_label_values(&texts.lend()).inc());
    Prometheus { registry, counters }
}

/// The name of prometheus-client.
pub const CLIENT: &str = "prometheus-client, text";
/// The name of prometheus.
pub const PROMETHEUS: &str = "prometheus, text";

/// Returns the contender called `name`, with `series` series.
pub fn make(name: &str, series: usize) -> Option<Contender> {
    match name {
        CLIENT => Some(Contender::new(CLIENT, client(series))),
        PROMETHEUS => Some(Contender::new(PROMETHEUS, prometheus(series))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_series_has_a_line() {
        let [short, long] = [10, 1000].map(|series| client(series).sum());
        assert!(long - short >= 990 * 30, "{short} {long}");
        let [short, long] = [10, 1000].map(|series| prometheus(series).sum());
        assert!(long - short >= 990 * 30, "{short} {long}");
    }
}
