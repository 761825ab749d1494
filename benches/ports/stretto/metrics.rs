//! stretto's metrics on windrow's counters: takes the place of `src/metrics.rs`, without its
//! feature `serde`.
//!
//! Where the crate has 256 numbers of a kind, of which a hash picks one, there is a counter. It is
//! found as there, in a map, so that the two differ only in the counters.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Formatter};
use std::sync::Arc;

use windrow::Counter;

use crate::histogram::Histogram;

macro_rules! kinds {
    ($($kind:ident $name:literal $getter:ident,)*) => {
        /// The kinds of metrics.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum MetricType { $($kind,)* }

        impl MetricType {
            const ALL: &'static [MetricType] = &[$(MetricType::$kind,)*];
        }

        impl Display for MetricType {
            fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(MetricType::$kind => $name,)* })
            }
        }

        impl MetricsInner {
            $(
                #[allow(missing_docs)]
                pub fn $getter(&self) -> u64 {
                    self.get(MetricType::$kind)
                }
            )*
        }

        impl Metrics {
            $(
                #[allow(missing_docs)]
                pub fn $getter(&self) -> Option<u64> {
                    self.inner().map(MetricsInner::$getter)
                }
            )*
        }
    };
}

kinds! {
    Hit "hit" get_hits,
    Miss "miss" get_misses,
    KeyAdd "keys-added" get_keys_added,
    KeyUpdate "keys-updated" get_keys_updated,
    KeyEvict "keys-evicted" get_keys_evicted,
    CostAdd "cost-added" get_cost_added,
    CostEvict "cost-evicted" get_cost_evicted,
    DropSets "sets-dropped" get_sets_dropped,
    RejectSets "sets-rejected" get_sets_rejected,
    DropGets "gets-dropped" get_gets_dropped,
    KeepGets "gets-kept" get_gets_kept,
}

/// Returns the lifetimes of keys, in seconds: buckets that double.
fn lives() -> Histogram {
    Histogram::new((1..=16).map(|exponent| f64::from(1_u32 << exponent)).collect())
}

/// The metrics of a cache, if they are enabled.
#[derive(Clone)]
#[allow(missing_docs)]
pub enum Metrics {
    Noop,
    Op(MetricsInner),
}

#[allow(missing_docs)]
impl Metrics {
    pub fn new() -> Metrics {
        Metrics::Noop
    }

    pub fn new_op() -> Metrics {
        Metrics::Op(MetricsInner::new())
    }

    pub fn is_op(&self) -> bool {
        self.inner().is_some()
    }

    pub fn is_noop(&self) -> bool {
        self.inner().is_none()
    }

    fn inner(&self) -> Option<&MetricsInner> {
        match self {
            Metrics::Noop => None,
            Metrics::Op(inner) => Some(inner),
        }
    }

    pub(crate) fn track_eviction(&self, seconds: i64) {
        if let Some(inner) = self.inner() {
            inner.life.update(seconds);
        }
    }

    pub(crate) fn add(&self, kind: MetricType, hash: u64, delta: u64) -> bool {
        self.inner().map(|inner| inner.add(kind, hash, delta)).is_some()
    }

    pub fn ratio(&self) -> Option<f64> {
        self.inner().map(MetricsInner::ratio)
    }

    pub fn life_expectancy_seconds(&self) -> Option<Histogram> {
        self.inner().map(MetricsInner::life_expectancy_seconds)
    }

    pub fn clear(&self) {
        if let Some(inner) = self.inner() {
            inner.clear();
        }
    }
}

impl Display for Metrics {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.inner() {
            None => f.write_str("Metrics::Noop"),
            Some(inner) => inner.fmt(f),
        }
    }
}

/// The metrics of a cache.
#[derive(Clone)]
pub struct MetricsInner {
    all: Arc<BTreeMap<MetricType, Counter>>,
    life: Histogram,
}

#[allow(missing_docs)]
impl MetricsInner {
    pub fn new() -> MetricsInner {
        let all = MetricType::ALL.iter().map(|kind| (*kind, Counter::new())).collect();
        MetricsInner { all: Arc::new(all), life: lives() }
    }

    pub fn ratio(&self) -> f64 {
        let (hits, misses) = (self.get_hits(), self.get_misses());
        if hits + misses == 0 { 0.0 } else { hits as f64 / (hits + misses) as f64 }
    }

    pub fn life_expectancy_seconds(&self) -> Histogram {
        self.life.clone()
    }

    pub fn clear(&self) {
        self.all.values().for_each(Counter::reset);
        self.life.clear();
    }

    /// The hash is that of a key: nothing here depends on which.
    #[inline]
    pub(crate) fn add(&self, kind: MetricType, _hash: u64, delta: u64) {
        if let Some(counter) = self.all.get(&kind) {
            counter.add(delta);
        }
    }

    fn get(&self, kind: MetricType) -> u64 {
        self.all.get(&kind).map_or(0, Counter::sum)
    }
}

/// Shows the metrics as the crate does, which one of its tests compares.
impl Display for MetricsInner {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "Metrics::Op {{")?;
        for (kind, counter) in &*self.all {
            writeln!(f, "  \"{kind}\": {counter},")?;
        }
        writeln!(f, "  \"gets-total\": {},", self.get_hits() + self.get_misses())?;
        write!(f, "  \"hit-ratio\": {:.2}\n}}", self.ratio())
    }
}
