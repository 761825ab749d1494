//! The heaviest keys of [`HeavyKeys`], as a bounded number of series.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display, Formatter};
use std::hash::BuildHasher;
use std::marker::PhantomData;
use std::ops::Deref;
use std::time::{Duration, SystemTime};

use foldhash::quality::RandomState;

use super::form::Form;
use super::metric::AnyMetric;
use super::outline::Outline;
use super::source::{Series, Source};
use crate::clock::Clock;
use crate::error::OutOfRangeError;
use crate::family::LabelValue;
use crate::heavy::{HeavyKeys, Key};

/// The number of the series of all other keys.
const OTHERS: u64 = u64::MAX;

/// Makes a source of the `n` heaviest keys of the interval, or of [a span](Top::over): a gauge for
/// each, with the key's text as its one label, and the overflow series for the weight of all
/// others.
///
/// A key's number is its lower bound, `at_least`: the key weighs that or more. The overflow series
/// has the rest of the total. So the sum of all series is the exact total of the interval, up to
/// the 53 bits of an `f64`. These are gauges, and not counters: a weight falls when its bucket
/// leaves the interval, so a rate of it is without meaning. Keys with the same text are one series.
/// `keys` is a `&'static`, an [`Arc`](std::sync::Arc) or a `Box`.
///
/// A text comes from strangers: exporters escape it, and it is cut to its first
/// [`MAX_TEXT_BYTES`](crate::heavy::MAX_TEXT_BYTES), at the end of a character.
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
    let random = RandomState::default();
    Top { keys, label: label.to_owned(), n, span: None, random, types: PhantomData }
}

/// A source of the heaviest keys: from [`top`].
#[must_use = "a source is not exported before an exporter or a catalog has it"]
pub struct Top<H, K: ?Sized, C> {
    keys: H,
    label: String,
    n: usize,
    /// `None` for the interval.
    span: Option<Duration>,
    /// For the series' numbers: strangers cannot choose two keys with one number.
    random: RandomState,
    types: PhantomData<fn(&K, &C)>,
}

impl<H, K, C> Top<H, K, C>
where
    H: Deref<Target = HeavyKeys<K, C>> + Send + Sync,
    K: Key + ?Sized,
    C: Clock,
{
    /// Returns the source for the newest buckets that cover `span`, instead of the interval: a
    /// [tier's](crate::heavy::HeavyKeysBuilder::tier) hour, for example.
    ///
    /// # Errors
    ///
    /// The errors of [`HeavyKeys::snapshot_over`]: the span is zero or too long.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::time::Duration;
    /// use windrow::HeavyKeys;
    /// use windrow::export::top;
    ///
    /// let hour = Duration::from_secs(3_600);
    /// let clients = Arc::new(HeavyKeys::<str>::builder(100).tier(hour, 24).build()?);
    /// let of_a_day = top(clients, "client", 10).over(24 * hour)?;
    /// # let _ = of_a_day;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn over(self, span: Duration) -> Result<Top<H, K, C>, OutOfRangeError> {
        self.keys.check_span(span)?;
        Ok(Top { span: Some(span), ..self })
    }
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
            fields: Vec::new(),
        }
    }

    fn visit(&self, see: &mut dyn FnMut(&dyn Series)) {
        let snapshot = match self.span {
            Some(span) => self.keys.snapshot_over(span).expect("the span was checked"),
            None => self.keys.snapshot(),
        };
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
            .field("span", &self.span)
            .finish_non_exhaustive()
    }
}
