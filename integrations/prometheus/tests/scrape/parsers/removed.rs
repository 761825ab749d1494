//! Series that are removed and made again, as a server scrapes them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use windrow::export::from_fn;
use windrow::{Counter, Family, labels};
use windrow_prometheus::Exposition;

use super::server::{Prometheus, Target};

labels! { struct Route { route: str } }

/// The lives of a series. Each counts more than all before it, so that a count tells nothing of a
/// new beginning.
const LIVES: u32 = 4;

/// The total that was counted, and those that scrapes give.
#[derive(Debug)]
pub(crate) struct Sums {
    /// The family's own total.
    pub(crate) lifetime: f64,
    /// The sum of all increases, where a new time of creation is a new beginning.
    pub(crate) by_creation: f64,
    /// The sum of all increases, where a lower count is a new beginning.
    pub(crate) by_value: f64,
}

/// Counts in series that are removed and made again at once, while a server scrapes them.
pub(crate) fn sums() -> Sums {
    let routes = Arc::new(Family::<Route, Counter>::new());
    let done = Arc::new(AtomicU64::new(0));
    let mut metrics = Exposition::new();
    metrics.register("routes", "", Arc::clone(&routes)).unwrap();
    let seen = Arc::clone(&done);
    metrics.register("done", "", from_fn(move || seen.load(Ordering::Relaxed) as f64)).unwrap();
    let target = Target::serve(metrics);
    let prometheus = Prometheus::start(target.port(), &[]);
    prometheus.wait_for("up", |value| value == 1.0);
    for life in 0..LIVES {
        for (route, factor) in [("a", 3), ("b", 4), ("c", 5)] {
            routes.with(Route { route }).add(factor * 10_u64.pow(life));
        }
        // One scrape may be under way: the one after the next has all.
        target.wait_for_scrapes(2);
        if life < LIVES - 1 {
            routes.remove(Route { route: "a" });
            routes.remove(Route { route: "b" });
        }
    }
    done.store(1, Ordering::Relaxed);
    prometheus.wait_for("done", |value| value == 1.0);
    let counts = prometheus.ranges("routes_total[5m]");
    let created = prometheus.ranges("routes_created[5m]");
    let lifetime = routes.lifetime() as f64;
    let mut sums = Sums { lifetime, by_creation: 0.0, by_value: 0.0 };
    for ((_, labels), samples) in &counts {
        let created = &created[&("routes_created".to_owned(), labels.clone())];
        let (mut lives, mut before) = (BTreeMap::new(), 0.0);
        for (at, count) in samples {
            lives.insert(created[at].to_bits(), *count);
            sums.by_value += if *count < before { *count } else { count - before };
            before = *count;
        }
        sums.by_creation += lives.values().sum::<f64>();
    }
    sums
}
