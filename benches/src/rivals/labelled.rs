//! A counter with labels by prometheus, as its documentation says that it is used.
//!
//! A set of labels comes as texts that are borrowed: what a program has at hand when a request
//! arrives.

use std::hint::black_box;

use prometheus::{IntCounterVec, Opts};

use crate::harness::{Contender, Rival, rival};

/// The number of values of each label.
pub const VALUES: [usize; 3] = [4, 16, 4];
/// The number of series.
pub const SERIES: usize = VALUES[0] * VALUES[1] * VALUES[2];
/// The series that is counted, by the indices of its labels' values.
pub const HOT: [usize; 3] = [1, 7, 2];

/// The values of a series' labels: a method, a route and a status.
pub struct Texts([String; 3]);

impl Texts {
    /// Those of the values with these indices.
    pub fn of([method, route, status]: [usize; 3]) -> Texts {
        Texts([
            ["GET", "POST", "PUT", "DELETE"][method].to_owned(),
            format!("/api/v1/resource{route}"),
            ["200", "301", "404", "500"][status].to_owned(),
        ])
    }

    /// Returns the texts, borrowed and opaque to the compiler.
    #[inline]
    pub fn lend(&self) -> [&str; 3] {
        let [method, route, status] = &black_box(self).0;
        [method, route, status]
    }
}

/// Returns the indices of all series.
pub fn all_sets() -> impl Iterator<Item = [usize; 3]> {
    let [_, routes, statuses] = VALUES;
    (0..SERIES).map(move |n| [n / statuses / routes, n / statuses % routes, n % statuses])
}

/// prometheus, by the values of the labels.
struct Prometheus(IntCounterVec, Texts);

rival! { Prometheus:
    add(self, n) => self.0.with_label_values(&self.1.lend()).inc_by(n);
    sum(self) => self.0.with_label_values(&self.1.lend()).get();
}

/// The name of prometheus with borrowed texts.
pub const PROMETHEUS: &str = "prometheus, 3 texts";

/// Returns it with all series, of which one is counted.
///
/// # Panics
/// Never: the names are sound.
pub fn prometheus() -> Contender {
    let names = ["method", "route", "status"];
    let counters = IntCounterVec::new(Opts::new("requests", "what is counted"), &names);
    let counters = counters.expect("sound names");
    all_sets().for_each(|set| counters.with_label_values(&Texts::of(set).lend()).inc_by(0));
    Contender::new(PROMETHEUS, Prometheus(counters, Texts::of(HOT)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hot_series_is_counted() {
        let Contender { rival, .. } = prometheus();
        assert_eq!(rival.sum(), 0);
        rival.add(40);
        rival.add_many(2);
        assert_eq!(rival.sum(), 42);
    }

    #[test]
    fn sets_differ() {
        let sets: std::collections::HashSet<_> = all_sets().collect();
        assert!(sets.len() == SERIES && sets.contains(&HOT));
    }
}
