//! The heaviest keys of [`HeavyKeys`](crate::HeavyKeys), as a bounded number of series.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::hash::BuildHasher;
use std::time::SystemTime;

use foldhash::quality::RandomState;

use super::form::Form;
use super::from_fn::read;
use super::metric::AnyMetric;
use super::outline::Outline;
use super::parts::Part;
use super::source::{Series, Source};
use crate::family::LabelValue;
use crate::heavy::{HeavySnapshot, Key};

/// The number of the series of all other keys.
const OTHERS: u64 = u64::MAX;

/// Makes a source of the `n` heaviest keys of a snapshot, which a function takes at each export: a
/// gauge for each, with the key's text as its one label, and the overflow series for the weight of
/// all others.
///
/// A key's number is its lower bound, `at_least`: the key weighs that or more. The overflow series
/// has the rest of the total. So the sum of all series is the exact total of the snapshot, up to
/// the 53 bits of an `f64`. These are gauges, and not counters: a weight falls when its bucket
/// leaves the interval, so a rate of it is without meaning. Keys with the same text are one series.
///
/// A text comes from strangers: exporters escape it, and it is cut to its first
/// [`MAX_TEXT_BYTES`](crate::heavy::MAX_TEXT_BYTES), at the end of a character.
///
/// A key that is no longer among the heaviest has no series, and may come back: a backend sees
/// gaps. Each export takes a snapshot, which costs a pass over all entries: that of the
/// [interval](crate::HeavyKeys::snapshot), that of [a span](crate::HeavyKeys::snapshot_over), for
/// example a [tier's](crate::heavy::HeavyKeysBuilder::tier) hour, or several of them
/// [merged](HeavySnapshot::merge). An export waits for the function. A panic of it is caught, and
/// the export has none of the series.
///
/// ```
/// use std::time::Duration;
/// use windrow::HeavyKeys;
/// use windrow::export::{Catalog, top};
///
/// static CLIENTS: HeavyKeys<str> = HeavyKeys::of(100, Duration::from_secs(60), 6);
///
/// let mut catalog = Catalog::new();
/// let heavy = top(|| CLIENTS.snapshot(), "client", 10);
/// catalog.add("heavy_clients", "Requests in a minute", heavy)?;
/// CLIENTS.increment("acme");
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
///
/// ```
/// use std::sync::Arc;
/// use std::time::Duration;
/// use windrow::HeavyKeys;
/// use windrow::export::top;
///
/// let hour = Duration::from_secs(3_600);
/// let clients = Arc::new(HeavyKeys::<str>::builder(100).tier(hour, 24).build()?);
/// let of_a_day = move || clients.snapshot_over(24 * hour).expect("a tier that is as long");
/// let of_a_day = top(of_a_day, "client", 10);
/// # let _ = of_a_day;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "top k")]
#[doc(alias = "heavy hitters")]
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub fn top<K, S>(snapshot: S, label: &str, n: usize) -> impl Source + use<K, S>
where
    K: Key<Owned: Display> + ?Sized,
    S: Fn() -> HeavySnapshot<K> + Send + Sync,
{
    Top { snapshot, label: label.to_owned(), n, random: RandomState::default() }
}

/// A source of the heaviest keys.
struct Top<S> {
    snapshot: S,
    label: String,
    n: usize,
    /// For the series' numbers: strangers cannot choose two keys with one number.
    random: RandomState,
}

impl<K, S> Source for Top<S>
where
    K: Key<Owned: Display> + ?Sized,
    S: Fn() -> HeavySnapshot<K> + Send + Sync,
{
    fn outline(&self) -> Outline {
        Outline {
            form: Form::Real,
            labels: vec![self.label.clone()],
            max_series: self.n,
            overflows: true,
            series_return: true,
            fields: Vec::new(),
        }
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        let Some(snapshot) = read(&self.snapshot) else { return };
        let mut rest = snapshot.total();
        let mut series = BTreeMap::<String, u64>::new();
        for heavy in snapshot.top(self.n) {
            rest = rest.saturating_sub(heavy.at_least);
            let weight = series.entry(text(&heavy.key)).or_default();
            *weight = weight.saturating_add(heavy.at_least);
        }
        let label = Some(self.label.as_str());
        for (key, weight) in &series {
            let number = self.random.hash_one(key) >> 1; // another one than `OTHERS`
            see(&Weighed { number, label, key, weight: *weight });
        }
        see(&Weighed { number: OTHERS, label: None, key: "", weight: rest });
    }
}

/// Returns the beginning of a key's text.
fn text(key: &impl Display) -> String {
    kept(key.to_string().as_str()).to_owned()
}

/// Returns the part of a key by which it is told apart: of a text, a beginning of bounded length.
fn kept<K: Key + ?Sized>(key: &K) -> &K {
    key.kept()
}

/// A key, or all others.
struct Weighed<'v> {
    number: u64,
    /// `None` for all others.
    label: Option<&'v str>,
    key: &'v str,
    weight: u64,
}

impl Series for Weighed<'_> {
    fn number(&self) -> u64 {
        self.number
    }

    fn is_overflow(&self) -> bool {
        self.label.is_none()
    }

    fn created(&self) -> Option<SystemTime> {
        None
    }

    #[inline]
    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        match self.label {
            Some(label) => see(label, LabelValue::Text(self.key)),
            None => see(Part::OVERFLOW.suffix, LabelValue::Text("true")),
        }
    }

    fn metric(&self) -> AnyMetric<'_> {
        AnyMetric::Real(self.weight as f64)
    }
}
