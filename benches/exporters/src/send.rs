//! The features of exporters to an OpenTelemetry collector: the scenes that they play, and the
//! judges.

mod judge;

use std::net::SocketAddr;

use crate::table::Feature;

/// Metrics that a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// A counter `hits`, to which [`Sends::hit`] adds.
    Hits,
    /// A histogram `rt` with the values 1 to 1000, in the unit `ms`, as exponential as it can be.
    Native,
    /// A counter `cost` of half a unit, three times.
    Halves,
    /// A counter `hits`, with an exemplar with the id [`TRACE`](crate::scrape::TRACE).
    Exemplar,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    Http,
    Grpc,
}

/// A program's demand.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wish {
    pub(crate) scene: Scene,
    pub(crate) protocol: Protocol,
    /// Changes, and not totals.
    pub(crate) is_delta: bool,
    pub(crate) collector: SocketAddr,
}

/// An exporter that sends to a collector. `None`: it has no call for the scene.
pub(crate) type Exporter = fn(Wish) -> Option<Box<dyn Sends>>;

/// The limit of series of `hits`, if an exporter knows limits.
pub(crate) const LIMIT: usize = 10;

/// A running exporter, with the resource attribute `service.name`, which is `probe`.
pub(crate) trait Sends {
    /// Adds to the counter `hits` with this `path`.
    fn hit(&self, path: &str, n: u64);

    /// Removes the series of this path, if there is a call for it.
    fn remove(&self, _path: &str) -> bool {
        false
    }

    /// Exports now. Errors are the collector's to notice.
    fn flush(&self);
}

/// The features of what is sent.
pub(crate) const FEATURES: &[Feature<Exporter>] = &[
    Feature { name: "OTLP over HTTP", judge: judge::http, words: &[] },
    Feature { name: "OTLP over gRPC", judge: judge::grpc, words: &["grpc"] },
    Feature { name: "totals", judge: judge::totals, words: &[] },
    Feature { name: "changes", judge: judge::changes, words: &["delta"] },
    Feature { name: "exponential histograms", judge: judge::exponential, words: &["exponential"] },
    Feature { name: "units", judge: judge::unit, words: &["unit"] },
    Feature { name: "attributes of the resource", judge: judge::resource, words: &["resource"] },
    Feature { name: "exemplars", judge: judge::exemplars, words: &["with_exemplar"] },
    Feature { name: "totals of fractions", judge: judge::fractions, words: &[] },
    Feature { name: "each series has its own start", judge: judge::starts, words: &[] },
    Feature {
        name: "a series made again has a later one",
        judge: judge::starts_again,
        words: &["fn remove_", "fn unregister"],
    },
    Feature { name: "bounded series, none lost", judge: judge::bounded, words: &["overflow"] },
    Feature { name: "sent again after a 503", judge: judge::again, words: &[] },
    Feature { name: "refused changes are in the next", judge: judge::refused, words: &[] },
];
