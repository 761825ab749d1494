//! Setting up an exporter: its metrics, and the collector that it sends to.

use std::cell::Cell;
use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use windrow::Counter;
use windrow::export::{Catalog, Source};

use crate::attributes::{Attribute, Attributes};
use crate::clock::{Clock, nanos};
use crate::collect::Collector;
use crate::error::{ExportError, StartError};
use crate::histograms::HistogramForm;
use crate::points::PointMaker;
use crate::random::{program, uuid};
use crate::rules::{Name, describe};
use crate::started::Started;
use crate::temporality::Temporality;
use crate::wire::{Protocol, Wire};
use crate::worker::{OnError, Worker};

/// The time in which a collector must answer, unless the program says otherwise.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The name and the description of the exporter's own metric.
const UNKNOWN: &str = "windrow.otlp.unknown_points";
const ABOUT_UNKNOWN: &str =
    "Data points that the collector may have taken or not, and that are not sent again";

/// An exporter that is being set up: metrics, and the collector that they are sent to.
///
/// Mistakes in what is given are errors of [`start`](Self::start).
///
/// ```no_run
/// use std::time::Duration;
/// use windrow::{Counter, Family, Histogram, labels};
/// use windrow_otlp::Exporter;
///
/// labels! { pub struct Route { route: str } }
///
/// static REQUESTS: Family<Route, Counter> = Family::new();
/// static RT: Histogram = Histogram::new();
///
/// let exporter = Exporter::to("http://127.0.0.1:4318")
///     .resource("service.name", "cart")
///     .metric("requests", "Requests by route", &REQUESTS)
///     .metric_in("ns", "rt", "Response times", &RT)
///     .start(Duration::from_secs(10))?;
/// // ...
/// exporter.shutdown()?; // with a last export
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is sent before it is started"]
pub struct Exporter {
    endpoint: String,
    protocol: Protocol,
    headers: Vec<(String, String)>,
    resource: Vec<(String, String)>,
    metrics: Vec<(Name, Arc<dyn Source>)>,
    temporality: Temporality,
    histograms: HistogramForm,
    timeout: Duration,
    since: SystemTime,
    on_error: OnError,
}

impl Exporter {
    /// Sends over HTTP, as protobuf, to a collector such as `http://127.0.0.1:4318`.
    ///
    /// Appends the path `/v1/metrics`, as for the variable `OTEL_EXPORTER_OTLP_ENDPOINT`, unless
    /// the endpoint ends in it.
    ///
    /// ```
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to("http://127.0.0.1:4318");
    /// let below_a_path = Exporter::to("http://gateway/otlp"); // sends to /otlp/v1/metrics
    /// let host = "127.0.0.1";
    /// let from_a_setting = Exporter::to(format!("http://{host}:4318"));
    /// ```
    pub fn to(endpoint: impl Into<String>) -> Exporter {
        Exporter::over(Protocol::Http, endpoint.into())
    }

    /// Sends over gRPC, to a collector such as `http://127.0.0.1:4317`.
    ///
    /// ```
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to_grpc("http://127.0.0.1:4317");
    /// ```
    #[cfg(feature = "grpc")]
    #[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
    pub fn to_grpc(endpoint: impl Into<String>) -> Exporter {
        Exporter::over(Protocol::Grpc, endpoint.into())
    }

    fn over(protocol: Protocol, endpoint: String) -> Exporter {
        Exporter {
            endpoint,
            protocol,
            headers: Vec::new(),
            resource: Vec::new(),
            metrics: Vec::new(),
            temporality: Temporality::default(),
            histograms: HistogramForm::default(),
            timeout: TIMEOUT,
            since: SystemTime::now(),
            on_error: Box::new(|_| {}),
        }
    }

    /// Adds an attribute of the resource, which is the service that the metrics describe.
    ///
    /// `service.name` is `unknown_service:` and the program's name if it is not given, and
    /// `service.instance.id` a random UUID.
    ///
    /// ```
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to("http://127.0.0.1:4318")
    ///     .resource("service.name", "cart")
    ///     .resource("deployment.environment.name", "production");
    /// ```
    pub fn resource(mut self, key: &str, value: impl Into<String>) -> Exporter {
        self.resource.push((key.to_owned(), value.into()));
        self
    }

    /// Adds a header to each request, such as a tenant's.
    ///
    /// ```
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to("http://127.0.0.1:4318").header("x-scope-orgid", "shop");
    /// ```
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Exporter {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// Adds a metric or a family: any [`Source`].
    ///
    /// A `&'static` or an `Arc` is kept, and a `Weak` sends nothing any more once the last `Arc` is
    /// dropped. The [table](crate#what-is-sent) lists the metrics of each type.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use windrow::export::from_fn;
    /// use windrow::{Counter, Gauge};
    /// use windrow_otlp::Exporter;
    ///
    /// static HITS: Counter = Counter::new();
    ///
    /// let open = Arc::new(Gauge::new());
    /// let exporter = Exporter::to("http://127.0.0.1:4318")
    ///     .metric("hits", "Hits since the start", &HITS)
    ///     .metric("open", "Open connections", Arc::downgrade(&open))
    ///     .metric("load", "Load, from 0 to 1", from_fn(|| 0.5));
    /// ```
    pub fn metric(self, name: &str, description: &str, source: impl Source + 'static) -> Exporter {
        self.metric_in("", name, description, source)
    }

    /// Adds a metric or a family as [`metric`](Self::metric) does, with the unit of its values:
    /// `ns`, `By`, `s`, as the [Unified Code for Units of Measure](https://ucum.org/ucum) spells
    /// it.
    ///
    /// ```
    /// use windrow::Histogram;
    /// use windrow_otlp::Exporter;
    ///
    /// static RT: Histogram = Histogram::new();
    ///
    /// let exporter = Exporter::to("http://127.0.0.1:4318");
    /// let exporter = exporter.metric_in("ns", "rt", "Response times", &RT);
    /// ```
    pub fn metric_in(
        mut self,
        unit: &str,
        name: &str,
        description: &str,
        source: impl Source + 'static,
    ) -> Exporter {
        let [full, description, unit] = [name, description, unit].map(str::to_owned);
        self.metrics.push((Name { full, description, unit }, Arc::new(source)));
        self
    }

    /// Adds each source of a catalog.
    ///
    /// ```
    /// use windrow::export::Catalog;
    /// use windrow::{Counter, Histogram};
    /// use windrow_otlp::Exporter;
    ///
    /// static HITS: Counter = Counter::new();
    /// static RT: Histogram = Histogram::new();
    ///
    /// let mut catalog = Catalog::new();
    /// catalog.add("hits", "Hits since the start", &HITS)?;
    /// catalog.add("rt", "Response times", &RT)?.unit = "ns".into();
    /// let exporter = Exporter::to("http://127.0.0.1:4318").catalog(&catalog);
    /// # Ok::<(), windrow::export::CatalogError>(())
    /// ```
    pub fn catalog(mut self, catalog: &Catalog) -> Exporter {
        for listed in catalog {
            let source = Arc::clone(&listed.source);
            self = self.metric_in(&listed.unit, &listed.name, &listed.help, source);
        }
        self
    }

    /// Sends totals or changes. The default is [`Temporality::Cumulative`].
    pub fn temporality(self, temporality: Temporality) -> Exporter {
        Exporter { temporality, ..self }
    }

    /// Sends histograms in this form. The default is [`HistogramForm::Exponential`].
    ///
    /// ```
    /// # use windrow_otlp::{Exporter, HistogramForm};
    /// let exporter = Exporter::to("http://127.0.0.1:4318").histograms(HistogramForm::Octaves);
    /// ```
    pub fn histograms(self, form: HistogramForm) -> Exporter {
        Exporter { histograms: form, ..self }
    }

    /// Waits for the answer to a request for this time at most. The default is 10 s.
    ///
    /// ```
    /// # use std::time::Duration;
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to("http://127.0.0.1:4318").timeout(Duration::from_secs(2));
    /// ```
    pub fn timeout(self, timeout: Duration) -> Exporter {
        Exporter { timeout, ..self }
    }

    /// Sets the time since which metrics have counted that do not know it themselves: those without
    /// labels, except windows. The default is the time at which the exporter was set up.
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use windrow_otlp::Exporter;
    /// let at_the_start = SystemTime::now(); // first thing in `main`
    /// // ...
    /// let exporter = Exporter::to("http://127.0.0.1:4318").since(at_the_start);
    /// ```
    pub fn since(self, since: SystemTime) -> Exporter {
        Exporter { since, ..self }
    }

    /// Calls a function with each error of an export, on the exporter's thread: to log it, or to
    /// count it. There, [`Started::flush`] returns an [error](ExportError::OwnThread) at once.
    ///
    /// ```
    /// # use windrow_otlp::Exporter;
    /// let exporter = Exporter::to("http://127.0.0.1:4318")
    ///     .on_error(|error| eprintln!("metrics: {error}"));
    /// ```
    pub fn on_error(self, see: impl Fn(&ExportError) + Send + 'static) -> Exporter {
        Exporter { on_error: Box::new(see), ..self }
    }

    /// Starts a thread that exports once in each period, the first time after one.
    ///
    /// # Errors
    ///
    /// [`StartError`], for the first mistake in what was given. The collector may come later.
    ///
    /// ```
    /// use std::time::Duration;
    /// use windrow_otlp::{Exporter, StartError};
    ///
    /// let exporter = Exporter::to("https://collector.example:4318");
    /// let error = exporter.start(Duration::from_secs(10)).unwrap_err();
    /// assert!(matches!(error, StartError::Endpoint { .. })); // there is no TLS
    /// ```
    pub fn start(mut self, period: Duration) -> Result<Started, StartError> {
        if period.is_zero() {
            return Err(StartError::NoPeriod);
        }
        let unknown = Arc::new(Counter::new());
        if self.temporality == Temporality::Delta {
            self = self.metric_in("{data_point}", UNKNOWN, ABOUT_UNKNOWN, Arc::clone(&unknown));
        }
        let wire = Wire::new(self.protocol, &self.endpoint, &self.headers, self.timeout)?;
        let resource = resource(&self.resource)?;
        let mut taken = HashSet::new();
        let since = self.since;
        let mut describe = |(name, source): (Name, _)| describe(&name, source, since, &mut taken);
        let sources: Result<Vec<_>, _> = self.metrics.into_iter().map(&mut describe).collect();
        let sources: Vec<_> = sources?.into_iter().flatten().collect();
        let (temporality, histograms) = (self.temporality, self.histograms);
        let maker = PointMaker { temporality, histograms, clock: Clock::new() };
        let longest = Cell::default();
        let collector = Collector { sources, resource, maker, since: nanos(since), longest };
        Started::spawn(Worker::new(collector, wire, self.on_error, unknown), period)
    }
}

/// The tag of the attributes in the message `Resource`.
const ATTRIBUTES: u8 = 1;

/// Returns the resource of these attributes, and of those that every one has, as a message.
fn resource(given: &[(String, String)]) -> Result<Vec<u8>, StartError> {
    let mut attributes = Attributes::default();
    let mut keys = HashSet::new();
    for (key, value) in given {
        if key.is_empty() || !keys.insert(&**key) {
            return Err(StartError::Resource { key: key.clone() });
        }
        attributes.push(key, Attribute::Text(value));
    }
    let mut default = |key: &str, value: fn() -> String| {
        if !keys.contains(key) {
            attributes.push(key, Attribute::Text(&value()));
        }
    };
    default("service.name", || format!("unknown_service:{}", program()));
    default("service.instance.id", uuid);
    let mut resource = Vec::new();
    attributes.put(ATTRIBUTES, &mut resource);
    Ok(resource)
}
