//! A metric in a registry, and the checks before it may be in one.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabel, EncodeLabelSet, LabelSetEncoder,
};
use prometheus_client::registry::Registry;
use windrow::export::{Catalog, Outline, PartKind, Source};

use crate::buckets::{Buckets, Registrable};
use crate::error::RegisterError;
use crate::probe::Probe;
use crate::rules::{check_help, check_labels, check_name};
use crate::scrape::{Named, scrape};
use crate::show::metric_type;

/// Registers a metric or a family under a name, after checking all names, labels and helps that a
/// scrape would show of it.
///
/// See the [list](crate#what-a-scrape-shows) of these, and [`export::Source`](Source) for the types
/// that can be registered. [`buckets`](crate::buckets) shows histograms with other bounds.
///
/// The registry's prefix and labels are checked too, and the names of all metrics in it and in its
/// sub-registries. For that, the registry is encoded once, into nothing: so register at the
/// beginning of the program.
///
/// # Errors
///
/// Returns [`RegisterError`]. Then no scrape shows the metric. (If it conflicted with other metrics
/// in the registry, an entry that shows nothing stays in it.)
///
/// ```
/// use prometheus_client::{encoding::text::encode, registry::Registry};
/// use windrow::{Counter, Family, labels};
///
/// labels! { pub struct Request { route: str, status: u16 } }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let mut registry = Registry::with_prefix("shop");
/// windrow_prometheus::register(&mut registry, "requests", "Requests by route", &REQUESTS)?;
///
/// REQUESTS.with(Request { route: "/cart", status: 200 }).add(3);
/// let mut text = String::new();
/// encode(&mut text, &registry)?;
/// assert!(text.contains("shop_requests_total{route=\"/cart\",status=\"200\"} 3\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn register(
    registry: &mut Registry,
    name: &str,
    help: &str,
    source: impl Registrable,
) -> Result<(), RegisterError> {
    let (source, buckets) = source.with_buckets();
    let outline = source.outline();
    let form = outline.form;
    check_name(name)?;
    check_help(help)?;
    check_labels(label_names(&outline))?;
    if buckets.divides_by_zero() {
        return Err(RegisterError::PerZero { name: name.to_owned() });
    }
    if let Some(bound) = buckets.least_bound() {
        let least = form.scales().map(|scale| scale.min() - 1).max().unwrap_or(0);
        if bound < least {
            return Err(RegisterError::BoundBelow { name: name.to_owned(), bound, least });
        }
    }
    if let Some(label) = outline.reserved_label() {
        return Err(RegisterError::ReservedLabel { label: label.to_owned() });
    }
    let is_counter =
        form.parts().any(|part| part.suffix.is_empty() && part.kind == PartKind::Counter);
    if is_counter && name.ends_with("_total") {
        return Err(RegisterError::Total { name: name.to_owned() });
    }

    let overflows = outline.overflows;
    let stage = Arc::new(AtomicU8::new(ENTERS));
    let named = named(name, help, &outline);
    let registered = Registered { named, source, outline, buckets, stage: Arc::clone(&stage) };
    registry.register_collector(Box::new(registered));
    let mut probe = Probe::new(&stage);
    let encoded = encode_registry(&mut probe, registry);
    encoded.map_err(|_| RegisterError::Registry)?;
    // Its own label of that name was refused above: so this one is the registry's.
    probe.outcome().map_err(|error| match error {
        RegisterError::LabelTwice { label } if overflows && label == Outline::OVERFLOW => {
            RegisterError::ReservedLabel { label }
        }
        error => error,
    })
}

/// Registers each source of a catalog under its name.
///
/// # Errors
///
/// Returns the error of [`register`] for the first source that is refused. Those before it are
/// registered.
///
/// ```
/// use prometheus_client::registry::Registry;
/// use windrow::Counter;
/// use windrow::export::Catalog;
///
/// static HITS: Counter = Counter::new();
///
/// let mut catalog = Catalog::new();
/// catalog.add("hits", "Hits since the start", &HITS)?;
/// let mut registry = Registry::default();
/// windrow_prometheus::register_all(&mut registry, &catalog)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn register_all(registry: &mut Registry, catalog: &Catalog) -> Result<(), RegisterError> {
    for listed in catalog {
        register(registry, listed.name(), listed.help(), Arc::clone(listed.source()))?;
    }
    Ok(())
}

/// The suffix and the help of the number of uses of the overflow series.
const OVERFLOWED: (&str, &str) =
    ("overflow", "uses of labels beyond the limit of series, counted under the label overflow");

// The states of a metric that was registered.

/// The metric is to be checked; `WRITES` while it is written for the check.
const ENTERS: u8 = 0;
pub(crate) const WRITES: u8 = 1;
/// Each scrape shows it.
pub(crate) const SHOWN: u8 = 2;
/// No scrape shows it.
pub(crate) const REFUSED: u8 = 3;

/// Returns the names of all labels of the samples.
fn label_names(outline: &Outline) -> impl Iterator<Item = &str> {
    let form = outline.form;
    let bounds = form.parts().any(|part| part.kind == PartKind::Histogram).then_some("le");
    let more = form.sample_labels().iter().copied().chain(bounds);
    outline.labels.iter().map(String::as_str).chain(more)
}

/// Returns the parts with their full names; and, if there may be an overflow series, the number of
/// its uses.
fn named(name: &str, help: &str, outline: &Outline) -> Vec<Named> {
    let named = |suffix: &str, about: &str, kind: PartKind| Named {
        name: [name, suffix].join(if suffix.is_empty() { "" } else { "_" }),
        help: [help, about].join(if help.is_empty() || about.is_empty() { "" } else { ": " }),
        kind: metric_type(kind),
    };
    let parts = outline.form.parts().map(|part| named(part.suffix, part.about, part.kind));
    let overflowed = named(OVERFLOWED.0, OVERFLOWED.1, PartKind::Counter);
    parts.chain(outline.overflows.then_some(overflowed)).collect()
}

struct Registered {
    named: Vec<Named>,
    source: Box<dyn Source>,
    outline: Outline,
    buckets: Buckets,
    stage: Arc<AtomicU8>,
}

impl Registered {
    /// Writes all names, and all names of labels.
    fn names(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let labels = Empty(label_names(&self.outline).collect());
        // The overflow series has that label in place of its own.
        let own = self.outline.labels.len();
        let mut overflow = vec![Outline::OVERFLOW];
        overflow.extend(&labels.0[own..]);
        let overflow = Empty(overflow);
        for named in &self.named {
            let mut encoder = named.descriptor(encoder)?;
            encoder.encode_family(&labels)?.encode_gauge(&0_u64)?;
            if self.outline.overflows {
                encoder.encode_family(&overflow)?.encode_gauge(&0_u64)?;
            }
        }
        Ok(())
    }
}

/// Labels with empty values.
struct Empty<'n>(Vec<&'n str>);

impl EncodeLabelSet for Empty<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|name| (*name, "").encode(encoder.encode_label()))
    }
}

impl Collector for Registered {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        match self.stage.load(Ordering::Relaxed) {
            SHOWN => {
                let parts: Vec<_> = self.outline.form.parts().collect();
                scrape(&*self.source, &parts, &self.named, &self.buckets, &mut encoder)
            }
            ENTERS => {
                self.stage.store(WRITES, Ordering::Relaxed);
                self.names(&mut encoder)?;
                self.stage.store(ENTERS, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Shows the names.
impl Debug for Registered {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.named.iter().map(|named| &named.name)).finish()
    }
}
