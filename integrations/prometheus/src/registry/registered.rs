//! A metric in a registry, and the checks before it may be in one.

use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::registry::Registry;
use windrow::export::Part;

use super::probe::Probe;
use super::scrape::{descriptor, scrape};
use super::stage::{ENTERS, SHOWN, WRITES};
use crate::buckets::Bucketed;
use crate::described::{Described, label_names};
use crate::error::RegisterError;
use crate::rules::{Characters, check_help};

/// Registers a metric or a family under a name, after checking all names, labels and helps that a
/// scrape would show of it.
///
/// See the [list](crate#what-a-scrape-shows) of these, and [`Source`](windrow::export::Source) for
/// the types that can be registered. [`buckets`](crate::buckets()) shows histograms with other
/// bounds.
///
/// The registry's prefix and labels are checked too, and the names of all metrics in it and in its
/// sub-registries. For that, the registry is encoded once, into nothing: so register at the
/// beginning of the program.
///
/// # Errors
///
/// Returns [`RegisterError`]. Then no scrape shows the metric. (If it conflicted with other metrics
/// in the registry, an entry that shows nothing stays in it; and of the fields of a family of
/// [`metrics!`](windrow::metrics!), those before the refused one are shown.)
///
/// ```
/// use prometheus_client::{encoding::text::encode, registry::Registry};
/// use windrow::{Counter, Family, labels};
/// use windrow_prometheus::registry::register;
///
/// labels! { pub struct Request { route: str, status: u16 } }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let mut registry = Registry::with_prefix("shop");
/// register(&mut registry, "requests", "Requests by route", &REQUESTS)?;
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
    source: impl Into<Bucketed>,
) -> Result<(), RegisterError> {
    check_help(help)?;
    let all = Described::all(Characters::Plain, (name, help, ""), source.into())?;
    all.into_iter().try_for_each(|described| register_one(registry, described))
}

fn register_one(registry: &mut Registry, described: Described) -> Result<(), RegisterError> {
    let overflows = described.outline.overflows;
    let stage = Arc::new(AtomicU8::new(ENTERS));
    let registered = Registered { described, stage: Arc::clone(&stage) };
    registry.register_collector(Box::new(registered));
    let mut probe = Probe::new(&stage);
    let encoded = encode_registry(&mut probe, registry);
    encoded.map_err(|_| RegisterError::Registry)?;
    // Its own label of that name was refused above: so this one is the registry's.
    probe.outcome().map_err(|error| match error {
        RegisterError::LabelTwice { label } if overflows && label == Part::OVERFLOW.suffix => {
            RegisterError::ReservedLabel { label }
        }
        error => error,
    })
}

struct Registered {
    described: Described,
    stage: Arc<AtomicU8>,
}

impl Registered {
    /// Writes all names, and all names of labels.
    fn names(&self, encoder: &mut DescriptorEncoder<'_>) -> fmt::Result {
        let outline = &self.described.outline;
        let labels: Vec<_> = label_names(outline).map(|name| (name, "")).collect();
        // The overflow series has that label in place of its own.
        let own = outline.labels.len();
        let overflow = [&[(Part::OVERFLOW.suffix, "")], &labels[own..]].concat();
        for named in self.described.named() {
            let mut encoder = descriptor(named, encoder)?;
            encoder.encode_family(&labels)?.encode_gauge(&0_u64)?;
            if outline.overflows {
                encoder.encode_family(&overflow)?.encode_gauge(&0_u64)?;
            }
        }
        Ok(())
    }
}

impl Collector for Registered {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        match self.stage.load(Ordering::Relaxed) {
            SHOWN => scrape(&self.described, &mut encoder),
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
        f.debug_list().entries(self.described.named().map(|named| &named.name)).finish()
    }
}
