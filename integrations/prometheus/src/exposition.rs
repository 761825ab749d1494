//! The metrics of a program as Prometheus scrapes them.

use std::collections::HashSet;
use std::fmt::{self, Debug, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use windrow::export::{Catalog, Part, StartTimes};

use crate::buckets::Bucketed;
use crate::collect::{Labels, Registered, Writer, collect};
use crate::described::{Described, Named, Type, label_names, take};
use crate::error::RegisterError;
use crate::escaping::Escaping;
use crate::format::{Format, Kind};
#[cfg(feature = "protobuf")]
use crate::protobuf::Protobuf;
use crate::rules::{Characters, check_labels, check_name};
use crate::text::{Dialect, Text};
use crate::units::prometheus_unit;

/// A registry of the metrics that a program exports, which writes them in each format that
/// Prometheus reads.
///
/// ```
/// use windrow::{Counter, Family, labels};
/// use windrow_prometheus::{Exposition, Format};
///
/// labels! { pub struct Request { route: str, status: u16 } }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let mut metrics = Exposition::new().with_prefix("shop");
/// metrics.register("requests", "Requests by route", &REQUESTS)?;
///
/// REQUESTS.with(Request { route: "/cart", status: 200 }).add(3);
/// let body = metrics.encode(Format::negotiate(Some("text/plain"))); // the scraper's `Accept`
/// let text = String::from_utf8(body)?;
/// assert!(text.contains("shop_requests_total{route=\"/cart\",status=\"200\"} 3\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Displayed, it is the text in version 0.0.4.
pub struct Exposition {
    prefix: String,
    labels: Vec<(String, String)>,
    characters: Characters,
    since: SystemTime,
    taken: HashSet<String>,
    metrics: Vec<Metric>,
    /// The length of the last text in each dialect.
    lengths_of_text: [LastLength; 2],
    #[cfg(feature = "protobuf")]
    length_of_protobuf: LastLength,
}

/// The length of the last body of a format, for which the next one makes room at once.
#[derive(Debug, Default)]
struct LastLength(AtomicUsize);

impl LastLength {
    /// Returns the room to make for a body: a little more than for the last one, since numbers grow
    /// and series come.
    fn expected(&self) -> usize {
        let last = self.0.load(Ordering::Relaxed); // only a guess
        last + last / 16
    }

    /// Notes the length of a body, and returns it.
    fn note(&self, body: Vec<u8>) -> Vec<u8> {
        self.0.store(body.len(), Ordering::Relaxed);
        body
    }
}

/// A registered source, or texts that do not change.
enum Metric {
    Source(Box<Registered>),
    Info(Named, Labels),
}

impl Exposition {
    /// Makes one without metrics.
    ///
    /// ```
    /// let metrics = windrow_prometheus::Exposition::new();
    /// assert_eq!(metrics.to_string(), "");
    /// ```
    pub fn new() -> Exposition {
        Exposition {
            prefix: String::new(),
            labels: Vec::new(),
            characters: Characters::Any,
            since: SystemTime::now(),
            taken: HashSet::new(),
            metrics: Vec::new(),
            lengths_of_text: Default::default(),
            #[cfg(feature = "protobuf")]
            length_of_protobuf: LastLength::default(),
        }
    }

    /// Begins the names of metrics that are registered afterwards with `prefix` and `_`.
    ///
    /// ```
    /// # use windrow_prometheus::Exposition;
    /// let mut metrics = Exposition::new().with_prefix("shop");
    /// metrics.register("open", "", windrow::export::from_fn(|| 2.0))?;
    /// assert!(metrics.to_string().ends_with("\nshop_open 2.0\n"));
    /// # Ok::<(), windrow_prometheus::RegisterError>(())
    /// ```
    #[must_use]
    pub fn with_prefix(self, prefix: &str) -> Exposition {
        Exposition { prefix: prefix.to_owned(), ..self }
    }

    /// Gives a label to all series of metrics that are registered afterwards, before their own.
    ///
    /// ```
    /// # use windrow_prometheus::Exposition;
    /// let mut metrics = Exposition::new().with_label("zone", "eu");
    /// metrics.register("open", "", windrow::export::from_fn(|| 2.0))?;
    /// assert!(metrics.to_string().ends_with("\nopen{zone=\"eu\"} 2.0\n"));
    /// # Ok::<(), windrow_prometheus::RegisterError>(())
    /// ```
    #[must_use]
    pub fn with_label(mut self, name: &str, value: &str) -> Exposition {
        self.labels.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Refuses names with other characters than Prometheus' own, from now on: then they are the
    /// same for every scraper. Metrics' names are made of ASCII letters, digits, `_` and `:`,
    /// labels' names of ASCII letters, digits and `_`; and none begins with a digit.
    ///
    /// ```
    /// # use windrow_prometheus::{Exposition, RegisterError};
    /// static HITS: windrow::Counter = windrow::Counter::new();
    ///
    /// let mut metrics = Exposition::new().with_plain_names();
    /// let error = metrics.register("http-hits", "", &HITS).unwrap_err();
    /// let name = "http-hits".to_owned();
    /// assert_eq!(error, RegisterError::Name { name, character: '-' });
    /// ```
    #[must_use]
    pub fn with_plain_names(self) -> Exposition {
        Exposition { characters: Characters::Plain, ..self }
    }

    /// Sets the time since which metrics that are registered afterwards have counted, if they do
    /// not know it themselves: those without labels, except windows. The default is the time of
    /// [`new`](Self::new).
    ///
    /// ```
    /// # use std::time::SystemTime;
    /// # use windrow_prometheus::Exposition;
    /// let at_the_start = SystemTime::now(); // first thing in `main`
    /// // ...
    /// let metrics = Exposition::new().since(at_the_start);
    /// ```
    #[must_use]
    pub fn since(self, since: SystemTime) -> Exposition {
        Exposition { since, ..self }
    }

    /// Registers a metric or a family under a name, after checking all names and labels that a
    /// scrape would show of it.
    ///
    /// See the [list](crate#what-a-scrape-shows) of these, and [`Source`](windrow::export::Source)
    /// for the types that can be registered. [`buckets`](crate::buckets()) shows histograms with
    /// other bounds. Names and labels may have any characters (see [`Escaping`](crate::Escaping)),
    /// unless they are to be [plain](Self::with_plain_names).
    ///
    /// # Errors
    ///
    /// Returns [`RegisterError`]. Then no scrape shows the metric.
    ///
    /// ```
    /// use windrow::Counter;
    /// use windrow_prometheus::{Exposition, RegisterError};
    ///
    /// static HITS: Counter = Counter::new();
    ///
    /// let mut metrics = Exposition::new();
    /// metrics.register("hits", "Hits since the start", &HITS)?;
    /// let error = metrics.register("hits", "The same again", &HITS).unwrap_err();
    /// assert_eq!(error, RegisterError::NameTaken { name: "hits".to_owned() });
    /// # Ok::<(), RegisterError>(())
    /// ```
    pub fn register(
        &mut self,
        name: &str,
        help: &str,
        source: impl Into<Bucketed>,
    ) -> Result<(), RegisterError> {
        self.register_in("", name, help, source)
    }

    /// Registers a metric or a family as [`register`](Self::register) does, with the unit of its
    /// values: `seconds`, `bytes`.
    ///
    /// An event of a window that [declares its unit](crate#units) keeps the declared one.
    ///
    /// The name of a metric in a unit ends in the unit's name, which is appended where it is
    /// missing. In `OpenMetrics` and protobuf, the unit is also a property of the metric.
    ///
    /// # Errors
    ///
    /// Returns [`RegisterError`]. Then no scrape shows the metric.
    ///
    /// ```
    /// use windrow::Histogram;
    /// use windrow_prometheus::{Buckets, Exposition, Format, buckets};
    ///
    /// static RT: Histogram = Histogram::new(); // nanoseconds
    ///
    /// let mut metrics = Exposition::new();
    /// let seconds = buckets(&RT, Buckets::octaves().per(1_000_000_000));
    /// metrics.register_in("seconds", "rt", "Response times", seconds)?;
    /// let text = String::from_utf8(metrics.encode(Format::OPENMETRICS))?;
    /// assert!(text.contains("# UNIT rt_seconds seconds\nrt_seconds_bucket{"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn register_in(
        &mut self,
        unit: &str,
        name: &str,
        help: &str,
        source: impl Into<Bucketed>,
    ) -> Result<(), RegisterError> {
        check_name(self.characters, name)?;
        let all = Described::all(self.characters, (&self.full(name), help, unit), source.into())?;
        let own = self.labels.iter().map(|(name, _)| name.as_str());
        for described in &all {
            if described.outline.overflows
                && own.clone().any(|label| label == Part::OVERFLOW.suffix)
            {
                return Err(RegisterError::ReservedLabel {
                    label: Part::OVERFLOW.suffix.to_owned(),
                });
            }
            check_labels(self.characters, own.clone().chain(label_names(&described.outline)))?;
        }
        take(&mut self.taken, all.iter().flat_map(Described::named))?;
        let since = self.since;
        for described in all {
            let (labels, starts) = (self.labels.clone(), StartTimes::since(since));
            let registered = Registered { described, labels, since, starts };
            self.metrics.push(Metric::Source(Box::new(registered)));
        }
        Ok(())
    }

    /// Registers each source of a catalog under its name, in its unit: `ns`, `s`, `By` and some
    /// others become `nanoseconds`, `seconds`, `bytes`. Unknown units are not shown.
    ///
    /// # Errors
    ///
    /// Returns the error of [`register`](Self::register) for the first source that is refused.
    /// Those before it are registered.
    ///
    /// ```
    /// use windrow::Histogram;
    /// use windrow::export::Catalog;
    /// use windrow_prometheus::Exposition;
    ///
    /// static RT: Histogram = Histogram::new();
    ///
    /// let mut catalog = Catalog::new();
    /// catalog.add("rt", "Response times", &RT)?.unit = "ns".into();
    /// let mut metrics = Exposition::new();
    /// metrics.register_all(&catalog)?;
    /// assert!(metrics.to_string().contains("\nrt_nanoseconds_count 0\n"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn register_all(&mut self, catalog: &Catalog) -> Result<(), RegisterError> {
        for listed in catalog {
            let unit = prometheus_unit(&listed.unit);
            self.register_in(unit, &listed.name, &listed.help, Arc::clone(&listed.source))?;
        }
        Ok(())
    }

    /// Registers texts that do not change, such as a version: a metric of `OpenMetrics`' type
    /// `info`, with these labels and the value 1. Its sample is named `NAME_info`.
    ///
    /// # Errors
    ///
    /// Returns [`RegisterError`]. Then no scrape shows the texts.
    ///
    /// ```
    /// use windrow_prometheus::Exposition;
    ///
    /// let mut metrics = Exposition::new();
    /// metrics.info("build", "What runs", &[("version", env!("CARGO_PKG_VERSION"))])?;
    /// assert!(metrics.to_string().contains("\nbuild_info{version=\"0.1.0\"} 1\n"));
    /// # Ok::<(), windrow_prometheus::RegisterError>(())
    /// ```
    pub fn info(
        &mut self,
        name: &str,
        help: &str,
        labels: &[(&str, &str)],
    ) -> Result<(), RegisterError> {
        check_name(self.characters, name)?;
        if name.ends_with("_info") {
            return Err(RegisterError::Info { name: name.to_owned() });
        }
        let own = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let labels: Vec<_> = self.labels.iter().cloned().chain(own).collect();
        check_labels(self.characters, labels.iter().map(|(name, _)| name.as_str()))?;
        let (name, help, unit) = (self.full(name), help.to_owned(), String::new());
        check_name(self.characters, &name)?;
        let named = Named { name, help, unit, kind: Type::Info };
        take(&mut self.taken, std::iter::once(&named))?;
        self.metrics.push(Metric::Info(named, labels));
        Ok(())
    }

    fn full(&self, name: &str) -> String {
        [self.prefix.as_str(), name].join(if self.prefix.is_empty() { "" } else { "_" })
    }

    /// Returns the body of a scrape. It reads each series once.
    ///
    /// # Panics
    ///
    /// Panics if a source or a clock of the program's own does.
    ///
    /// ```
    /// use windrow_prometheus::{Exposition, Format};
    ///
    /// let metrics = Exposition::new();
    /// assert_eq!(metrics.encode(Format::TEXT), b"");
    /// assert_eq!(metrics.encode(Format::OPENMETRICS), b"# EOF\n");
    /// ```
    pub fn encode(&self, format: Format) -> Vec<u8> {
        let escaping = format.escaping();
        match format.kind() {
            Kind::Text | Kind::Text1 => self.text(Dialect::Prometheus, escaping),
            Kind::OpenMetrics => self.text(Dialect::OpenMetrics, escaping),
            #[cfg(feature = "protobuf")]
            Kind::Protobuf => {
                let mut writer = Protobuf::new(escaping, self.length_of_protobuf.expected());
                self.write(&mut writer);
                self.length_of_protobuf.note(writer.finish())
            }
        }
    }

    fn text(&self, dialect: Dialect, escaping: Escaping) -> Vec<u8> {
        let length = &self.lengths_of_text[usize::from(dialect == Dialect::OpenMetrics)];
        let mut text = Vec::with_capacity(length.expected());
        let mut writer = Text::new(&mut text, dialect, escaping);
        self.write(&mut writer);
        writer.finish();
        length.note(text)
    }

    fn write(&self, writer: &mut impl Writer) {
        for metric in &self.metrics {
            match metric {
                Metric::Source(registered) => collect(registered, writer),
                Metric::Info(named, labels) => {
                    writer.begin(named, labels);
                    writer.info();
                }
            }
        }
    }
}

impl Default for Exposition {
    fn default() -> Exposition {
        Exposition::new()
    }
}

/// Shows the names.
impl Debug for Exposition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let names = self.metrics.iter().flat_map(|metric| match metric {
            Metric::Source(registered) => registered.described.named().collect(),
            Metric::Info(named, _) => vec![named],
        });
        f.debug_list().entries(names.map(|named| &named.name)).finish()
    }
}

/// Writes the text in version 0.0.4.
impl Display for Exposition {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let text = self.text(Dialect::Prometheus, Format::TEXT.escaping());
        f.write_str(str::from_utf8(&text).map_err(|_| fmt::Error)?) // it is made of texts
    }
}
