//! A metric in a registry, and what is looked at before it may be in one.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabel, EncodeLabelSet, LabelSetEncoder,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use crate::error::RegisterError;
use crate::probe::Probe;
use crate::rules::{check_help, check_labels, check_name};
use crate::show::Part;
use crate::source::{Encode, Named, Outline, Source};

/// Registers a metric or a family under a name, after it has looked at everything that a scrape
/// would show of it.
///
/// See the [list](crate#what-a-scrape-shows) of what that is, and [`Source`] for what can be
/// registered.
///
/// The registry's prefix and labels are looked at too, and the names of all that is in it and in
/// its sub-registries. For that, it is encoded once, into nothing: so register where the program
/// begins.
///
/// # Errors
///
/// [`RegisterError`], which says what is wrong. Then no scrape shows the metric. (If it was wrong only together with
/// what else is in the registry, an entry that shows nothing stays in it.)
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
    source: impl Source,
) -> Result<(), RegisterError> {
    let outline = source.outline();
    check_name(name)?;
    check_help(help)?;
    check_labels(outline.label_names())?;
    if source.buckets().divides_by_zero() {
        return Err(RegisterError::PerZero { name: name.to_owned() });
    }
    if let Some(bound) = source.buckets().least_bound() {
        let least = source.below();
        if bound < least {
            return Err(RegisterError::BoundBelow { name: name.to_owned(), bound, least });
        }
    }
    if outline.overflows && outline.labels.contains(&OVERFLOW) {
        return Err(RegisterError::ReservedLabel { label: OVERFLOW.to_owned() });
    }
    let is_counter =
        outline.parts.iter().any(|part| part.suffix.is_empty() && is_counter(part.kind));
    if is_counter && name.ends_with("_total") {
        return Err(RegisterError::Total { name: name.to_owned() });
    }

    let stage = Arc::new(AtomicU8::new(ENTERS));
    let (parts, overflows) = (named(name, help, &outline), outline.overflows);
    let registered = Registered { parts, source, stage: Arc::clone(&stage) };
    registry.register_collector(Box::new(registered));
    let mut probe = Probe::new(&stage);
    let encoded = encode_registry(&mut probe, registry);
    encoded.map_err(|_| RegisterError::Registry)?;
    // Its own label of that name was refused above: so this one is the registry's.
    probe.outcome().map_err(|error| match error {
        RegisterError::LabelTwice { label } if overflows && label == OVERFLOW => {
            RegisterError::ReservedLabel { label }
        }
        error => error,
    })
}

/// The label of the series in which all sets count that find no room.
const OVERFLOW: &str = "overflow";

/// How often that was.
const OVERFLOWED: Part = Part {
    suffix: OVERFLOW,
    about: "uses of labels that found no room, counted under the label overflow",
    kind: MetricType::Counter,
};

// What has become of a metric that was registered.

/// To be looked at; `WRITES` while it writes what is looked at.
const ENTERS: u8 = 0;
pub(crate) const WRITES: u8 = 1;
/// Each scrape shows it.
pub(crate) const SHOWN: u8 = 2;
/// No scrape shows it.
pub(crate) const REFUSED: u8 = 3;

pub(crate) fn is_counter(kind: MetricType) -> bool {
    matches!(kind, MetricType::Counter)
}

fn named(name: &str, help: &str, outline: &Outline<'_>) -> Vec<Named> {
    let named = |part: &Part| Named {
        name: [name, part.suffix].join(if part.suffix.is_empty() { "" } else { "_" }),
        help: [help, part.about].join(if help.is_empty() || part.about.is_empty() {
            ""
        } else {
            ": "
        }),
        kind: part.kind,
    };
    outline.parts.iter().chain(outline.overflows.then_some(&OVERFLOWED)).map(named).collect()
}

struct Registered<S> {
    parts: Vec<Named>,
    source: S,
    stage: Arc<AtomicU8>,
}

impl<S: Encode> Registered<S> {
    /// All names, and all labels' names.
    fn outline(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let labels = Empty(self.source.outline());
        // The series of all sets that find no room has that label in the place of its own.
        let overflow = Empty(Outline { labels: &[OVERFLOW], ..self.source.outline() });
        for part in &self.parts {
            let mut encoder = part.descriptor(encoder)?;
            encoder.encode_family(&labels)?.encode_gauge(&0_u64)?;
            if overflow.0.overflows {
                encoder.encode_family(&overflow)?.encode_gauge(&0_u64)?;
            }
        }
        Ok(())
    }
}

/// Labels with empty values.
struct Empty<'s>(Outline<'s>);

impl EncodeLabelSet for Empty<'_> {
    fn encode(&self, encoder: &mut LabelSetEncoder<'_>) -> fmt::Result {
        self.0.label_names().try_for_each(|name| (name, "").encode(encoder.encode_label()))
    }
}

impl<S: Encode> Collector for Registered<S> {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        match self.stage.load(Ordering::Relaxed) {
            SHOWN => self.source.encode(&self.parts, self.source.buckets(), &mut encoder),
            ENTERS => {
                self.stage.store(WRITES, Ordering::Relaxed);
                self.outline(&mut encoder)?;
                self.stage.store(ENTERS, Ordering::Relaxed);
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// Shows the names.
impl<S> Debug for Registered<S> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.parts.iter().map(|part| &part.name)).finish()
    }
}
