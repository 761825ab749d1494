//! The heaviest keys of [`HeavyKeys`], as a bounded number of series.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::SystemTime;

use foldhash::quality::RandomState;

use super::form::Form;
use super::metric::AnyMetric;
use super::outline::Outline;
use super::source::{Series, Source};
use crate::clock::Clock;
use crate::family::LabelValue;
use crate::heavy::{HeavyKeys, Key};

/// The number of the series of all other keys.
const OTHERS: u64 = u64::MAX;

/// Makes a source of the `n` heaviest keys of the interval: a gauge for each, with the key's text
/// as its one label, and the overflow series for the weight of all others.
///
/// A key's number is its lower bound, `at_least`: the key weighs that or more. The overflow series
/// has the rest of the total. So the sum of all series is the exact total of the interval, up to
/// the 53 bits of an `f64`. Keys with the same text are one series. `keys` is a `&'static`, an
/// [`Arc`](std::sync::Arc) or a `Box`.
///
/// A key that is no longer among the heaviest has no series, and may come back: a backend sees
/// gaps. Each export takes a [snapshot](HeavyKeys::snapshot), which costs a pass over all entries.
///
/// ```
/// use std::time::Duration;
/// use windrow::HeavyKeys;
/// use windrow::export::{Catalog, top};
///
/// static CLIENTS: HeavyKeys<str> = HeavyKeys::of(100, Duration::from_secs(60), 6);
///
/// let mut catalog = Catalog::new();
/// catalog.add("heavy_clients", "Requests in a minute", top(&CLIENTS, "client", 10))?;
/// CLIENTS.increment("acme");
/// # Ok::<(), windrow::export::CatalogError>(())
/// ```
#[doc(alias = "top k")]
#[doc(alias = "heavy hitters")]
pub fn top<H, K, C>(keys: H, label: &str, n: usize) -> Top<H, K, C>
where
    H: Deref<Target = HeavyKeys<K, C>> + Send + Sync,
    K: Key<Owned: Display> + ?Sized,
    C: Clock,
{
    Top { keys, label: label.to_owned(), n, random: RandomState::default(), types: PhantomData }
}

/// A source of the heaviest keys: from [`top`].
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub struct Top<H, K: ?Sized, C> {
    keys: H,
    label: String,
    n: usize,
    /// For the series' numbers: strangers cannot choose two keys with one number.
    random: RandomState,
    types: PhantomData<fn(&K, &C)>,
}

impl<H, K, C> Source for Top<H, K, C>
where
    H: Deref<Target = HeavyKeys<K, C>> + Send + Sync,
    K: Key<Owned: Display> + ?Sized,
    C: Clock,
{
    fn outline(&self) -> Outline {
        Outline {
            form: Form::Real,
            labels: vec![self.label.clone()],
            max_series: self.n,
            overflows: true,
            series_return: true,
        }
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        let snapshot = self.keys.snapshot();
        let mut rest = snapshot.total();
        let mut series = BTreeMap::<String, u64>::new();
        for heavy in snapshot.top(self.n) {
            rest = rest.saturating_sub(heavy.at_least);
            let weight = series.entry(heavy.key.to_string()).or_default();
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

    fn labels(&self, see: &mut dyn FnMut(&str, LabelValue<'_>)) {
        match self.label {
            Some(label) => see(label, LabelValue::Text(self.key)),
            None => see(Outline::OVERFLOW, LabelValue::Text("true")),
        }
    }

    fn metric(&self) -> AnyMetric<'_> {
        AnyMetric::Real(self.weight as f64)
    }
}

/// Shows the label and the number of keys.
impl<H, K: ?Sized, C> Debug for Top<H, K, C> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Top")
            .field("label", &self.label)
            .field("n", &self.n)
            .finish_non_exhaustive()
    }
}
