//! Counters with labels, as the published crates have them, each as its documentation says that it
//! is used.
//!
//! A set of labels comes as texts that are borrowed: what a program has at hand when a request
//! arrives. So a crate whose key owns its texts copies them at each add. Beside it is the same
//! crate with a key or a handle that is kept.

use std::hint::black_box;
use std::sync::atomic::Ordering;

use metrics::{Key, Label};
use prometheus::{IntCounter, IntCounterVec, Opts};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;

use super::published::registry;
use crate::harness::{Contender, Rival, rival};

/// The names of the labels.
pub const NAMES: [&str; 3] = ["method", "route", "status"];
/// The number of values of each label.
pub const VALUES: [usize; 3] = [4, 16, 4];
/// The number of series.
pub const SERIES: usize = VALUES[0] * VALUES[1] * VALUES[2];
/// The series that is counted, by the indices of its labels' values.
pub const HOT: [usize; 3] = [1, 7, 2];

/// The values of a series' labels.
#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Texts {
    /// The first label.
    pub method: String,
    /// The second.
    pub route: String,
    /// The third.
    pub status: String,
}

impl Texts {
    /// Those of the values with these indices.
    pub fn of([method, route, status]: [usize; 3]) -> Texts {
        Texts {
            method: ["GET", "POST", "PUT", "DELETE"][method].to_owned(),
            route: format!("/api/v1/resource{route}"),
            status: ["200", "301", "404", "500"][status].to_owned(),
        }
    }

    /// Returns the texts, borrowed and opaque to the compiler.
    #[inline]
    pub fn lend(&self) -> [&str; 3] {
        let Texts { method, route, status } = black_box(self);
        [method, route, status]
    }

    /// With their names.
    #[inline]
    fn pairs(&self) -> [(&'static str, &str); 3] {
        let [method, route, status] = self.lend();
        [(NAMES[0], method), (NAMES[1], route), (NAMES[2], status)]
    }
}

/// Returns the indices of all series.
pub fn all_sets() -> impl Iterator<Item = [usize; 3]> {
    let [methods, routes, statuses] = VALUES;
    let pairs = (0..methods).flat_map(move |method| (0..routes).map(move |route| (method, route)));
    pairs.flat_map(move |(method, route)| (0..statuses).map(move |status| [method, route, status]))
}

/// prometheus, by the values of the labels.
struct Prometheus(IntCounterVec, Texts);

rival! { Prometheus:
    add(self, n) => self.0.with_label_values(&self.1.lend()).inc_by(n);
    sum(self) => self.0.with_label_values(&self.1.lend()).get();
}

/// prometheus' vector of counters, and its hot one.
fn prometheus() -> (Prometheus, IntCounter) {
    let counters = IntCounterVec::new(Opts::new("requests", "what is counted"), &NAMES);
    let counters = counters.expect("sound names");
    all_sets().for_each(|set| counters.with_label_values(&Texts::of(set).lend()).inc_by(0));
    let hot = Texts::of(HOT);
    let kept = counters.with_label_values(&hot.lend());
    (Prometheus(counters, hot), kept)
}

/// prometheus-client, by labels that are copied.
struct Client(Family<Texts, Counter>, Texts);

rival! { Client:
    add(self, n) => {
        let [method, route, status] = self.1.lend().map(str::to_owned);
        self.0.get_or_create(&Texts { method, route, status }).inc_by(n);
    };
    sum(self) => self.0.get_or_create(&self.1).get();
}

/// prometheus-client, by labels that are kept.
struct ClientKept(Client);

rival! { ClientKept:
    add(self, n) => self.0.0.get_or_create(black_box(&self.0.1)).inc_by(n);
    sum(self) => self.0.sum();
}

fn client() -> Client {
    let family = Family::<Texts, Counter>::default();
    all_sets().for_each(|set| _ = family.get_or_create(&Texts::of(set)).inc_by(0));
    Client(family, Texts::of(HOT))
}

/// `metrics::counter!` with three labels, in the registry that exporters are built on.
struct Macro {
    hot: Texts,
    before: u64,
}

impl Macro {
    fn new() -> Macro {
        registry();
        for set in all_sets() {
            Macro::count(&Texts::of(set), 0);
        }
        let mut new = Macro { hot: Texts::of(HOT), before: 0 };
        new.before = new.sum();
        new
    }

    #[inline]
    fn count(texts: &Texts, n: u64) {
        let [method, route, status] = texts.lend().map(str::to_owned);
        let counter = metrics::counter!(
            "labelled requests", "method" => method, "route" => route, "status" => status
        );
        counter.increment(n);
    }
}

rival! { Macro:
    add(self, n) => Macro::count(&self.hot, n);
    sum(self) => {
        let labels: Vec<Label> =
            self.hot.pairs().map(|(name, value)| Label::new(name, value.to_owned())).to_vec();
        let key = Key::from_parts("labelled requests", labels);
        registry().get_or_create_counter(&key, |cell| cell.load(Ordering::Relaxed)) - self.before
    };
}

/// The name of prometheus with borrowed texts.
pub const PROMETHEUS: &str = "prometheus, 3 texts";
/// The name of an add by a kept counter of its.
pub const PROMETHEUS_KEPT: &str = "prometheus, handle kept";
/// The name of prometheus-client with texts that are copied.
pub const CLIENT: &str = "prometheus-client, 3 texts";
/// The name of `metrics` with texts that are copied.
pub const MACRO: &str = "metrics, macro, 3 texts";

/// The name of opentelemetry's counter with attributes that are made for each add.
pub const OTEL_TEXTS: &str = "opentelemetry, 3 texts";
/// The name of an add by an instrument bound to its attributes.
pub const OTEL_BOUND: &str = "opentelemetry, bound";

/// Returns all of them, with all series, of which one is counted.
///
/// # Panics
/// If the process has a recorder of `metrics` that is not ours.
pub fn all() -> Vec<Contender> {
    // That whose series is kept is of counters of its own: each counts for itself.
    let (by_values, (_, kept)) = (prometheus().0, prometheus());
    vec![
        Contender::new(PROMETHEUS, by_values),
        Contender::new(PROMETHEUS_KEPT, kept),
        Contender::new(CLIENT, client()),
        Contender::new("prometheus-client, labels kept", ClientKept(client())),
        Contender::new(MACRO, Macro::new()),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_with_labels_counts_the_hot_series() {
        for Contender { name, rival } in all() {
            assert_eq!(rival.sum(), 0, "{name}");
            rival.add(40);
            rival.add_many(2);
            assert_eq!(rival.sum(), 42, "{name}");
        }
    }

    #[test]
    fn there_are_as_many_sets_as_series() {
        assert_eq!(all_sets().count(), SERIES);
        assert!(all_sets().any(|set| set == HOT));
    }
}
