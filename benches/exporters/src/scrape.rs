//! The features of a scrape: the scenes that exporters of Prometheus' formats play, and the judges.

mod judge;

use std::net::SocketAddr;

use crate::table::Feature;

/// Metrics that a program has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scene {
    /// A counter `hits` by the label `path`, which is `/cart`, at 3.
    Hits,
    /// [`Scene::Hits`] with the path [`HOSTILE`], and a help of 2 KiB.
    Hostile,
    /// A counter named [`UNNAMABLE`].
    Unnamable,
    /// Two counters under one name for Prometheus, at 1 and 2.
    Twice,
    /// A counter `http.hits` at 3.
    Utf8,
    /// An information `build` with the label `version`, which is `1`.
    Info,
    /// A histogram `rt` in seconds, with a value of 0.25, and its unit said.
    Seconds,
    /// A histogram `rt` with the values 1 to 1000, as native as it can be.
    Native,
    /// A counter `cost` of half a unit, three times.
    Halves,
    /// A counter `hits`, with an exemplar with the id [`TRACE`].
    Exemplar,
    /// A counter `hits` with 50 values of `path`, at 1 each, and a limit of 10 series if there is
    /// such a thing.
    Crowd,
    /// [`Scene::Hits`], with an idle timeout as short as possible.
    Idle,
}

/// The id of a trace.
pub(crate) const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";

/// A label's value with all that a text must escape.
pub(crate) const HOSTILE: &str = "a \"b\"\\c\nd";

/// A part of a help that is long enough to be compressed.
pub(crate) const HELP: &str = "Hits. ";

/// A name that is a sample of its own, if it is written as it is.
pub(crate) const UNNAMABLE: &str = "a b\n{c} 1";

/// The limit of [`Scene::Crowd`], and the sets of labels there.
pub(crate) const LIMIT: usize = 10;
pub(crate) const CROWD: usize = 50;

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    Text,
    Text1(Names),
    OpenMetrics(Names),
    Protobuf,
}

/// A scheme for names with other characters than Prometheus' own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Names {
    Utf8,
    Underscores,
    Dots,
    Values,
}

/// An exporter's answer to a request to play a scene.
pub(crate) enum Made {
    Metrics(Box<dyn Metrics>),
    /// It says that it will not, by an error, or by exporting nothing of it.
    Refused,
    /// It has no call for it.
    Lacking,
}

impl Made {
    pub(crate) fn new(metrics: impl Metrics + 'static) -> Made {
        Made::Metrics(Box::new(metrics))
    }
}

/// An exporter that a scraper reads.
pub(crate) type Exporter = fn(Scene) -> Made;

/// An answer to a scraper.
pub(crate) struct Answer {
    pub(crate) content_type: String,
    pub(crate) content_encoding: String,
    pub(crate) body: Vec<u8>,
}

/// The metrics of a scene. `None` and false: the exporter has no call for it.
pub(crate) trait Metrics {
    /// Returns a scrape's body.
    fn body(&self, form: Form) -> Option<Vec<u8>>;

    /// Answers a scraper by its headers `Accept` and `Accept-Encoding`. Exporters that only do so
    /// where they listen are asked there.
    fn answer(&self, _accept: &str, _encoding: &str) -> Option<Answer> {
        None
    }

    /// Removes the series of [`Scene::Hits`], and makes it again, at 2.
    fn make_again(&self) -> bool {
        false
    }

    /// Returns whether the series of [`Scene::Idle`] are to leave by themselves.
    fn has_idle_timeout(&self) -> bool {
        false
    }

    /// Begins to listen for scrapers.
    fn listen(&self) -> Option<SocketAddr> {
        None
    }

    /// Pushes to a gateway.
    fn push(&self, _gateway: SocketAddr) -> bool {
        false
    }
}

/// The features of a scrape.
pub(crate) const FEATURES: &[Feature<Exporter>] = &[
    Feature { name: "text 0.0.4", judge: judge::text, words: &["0.0.4"] },
    Feature {
        name: "text 1.0.0, with quoted names",
        judge: judge::text_1,
        words: &["version=1.0.0"],
    },
    Feature { name: "OpenMetrics 1.0.0", judge: judge::openmetrics, words: &["openmetrics"] },
    Feature { name: "protobuf", judge: judge::protobuf, words: &["protobuf"] },
    Feature {
        name: "native histograms",
        judge: judge::native,
        words: &["native_histogram", "schema"],
    },
    Feature { name: "format chosen by `Accept`", judge: judge::accept, words: &["negotiat"] },
    Feature { name: "gzip", judge: judge::gzip, words: &["gzip", "flate2"] },
    Feature { name: "names of UTF-8", judge: judge::utf_8, words: &["allow-utf-8", "allow_utf"] },
    Feature { name: "escaping schemes", judge: judge::escaping, words: &["_dot_"] },
    Feature { name: "information", judge: judge::info, words: &["info {", "# type {} info"] },
    Feature { name: "units", judge: judge::units, words: &["# unit"] },
    Feature { name: "times of creation", judge: judge::created, words: &["_created"] },
    Feature {
        name: "a series made again has a new one",
        judge: judge::created_again,
        words: &["fn remove", "fn retain", "fn clear", "fn delete"],
    },
    Feature { name: "totals of fractions", judge: judge::fractions, words: &["for f64"] },
    Feature { name: "exemplars", judge: judge::exemplars, words: &["exemplar"] },
    Feature { name: "any label's value is escaped", judge: judge::hostile, words: &[] },
    Feature { name: "no name breaks a scrape", judge: judge::unnamable, words: &[] },
    Feature { name: "no two metrics are mixed up", judge: judge::twice, words: &[] },
    Feature { name: "a server of `/metrics`", judge: judge::listener, words: &["tcplistener"] },
    Feature { name: "push to a gateway", judge: judge::push, words: &["gateway", "/job/"] },
    Feature {
        name: "bounded series, none lost",
        judge: judge::bounded,
        words: &["cardinality", "max_series", "series_limit"],
    },
    Feature { name: "idle series leave", judge: judge::idle, words: &["idle"] },
];
