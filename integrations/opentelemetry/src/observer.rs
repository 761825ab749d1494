//! The observer, which makes instruments of metrics.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::metrics::{AsyncInstrument, Meter};
use windrow::export::{Catalog, Form, Outline, Part, PartKind, Source, fields};

use crate::error::ObserveError;
use crate::instrument::{Value, attributes, instruments, join, most};
use crate::look::{Look, OVERFLOW};
use crate::sums::{Sum, Sums};

/// The number of sets of attributes that the SDK takes of an instrument at a time, unless a View
/// sets another limit.
const SDK_LIMIT: usize = 2_000;

/// The longest name of an instrument.
const LONGEST_NAME: usize = 255;

/// The gauge that is never observed: at each collection, the SDK calls its callback, which adds up
/// sums.
const TRIGGER: &str = "windrow.observer";

/// Makes instruments of a meter that observe windrow's metrics, and knows their names.
///
/// Use one observer for a meter: two do not know each other's names. The observer also makes an
/// instrument `windrow.observer`, whose callback adds up the counters and which exports nothing; no
/// View may drop it.
///
/// ```
/// use std::sync::Arc;
///
/// use opentelemetry::global::meter;
/// use windrow::{Counter, Family, Gauge, labels};
/// use windrow_opentelemetry::Observer;
///
/// labels! { pub struct Request { route: str, status: u16 } }
///
/// static REQUESTS: Family<Request, Counter> = Family::new();
///
/// let mut observer = Observer::new(meter("shop"));
/// observer.observe("http.requests", "Requests by route and status", &REQUESTS)?;
///
/// let open = Arc::new(Gauge::new());
/// observer.observe("http.open", "Requests that are being answered", Arc::downgrade(&open))?;
/// open.increment();
/// drop(open); // and from here on, nothing of it is exported
/// # Ok::<(), windrow_opentelemetry::ObserveError>(())
/// ```
#[must_use = "it exports nothing before it observes a source"]
pub struct Observer {
    meter: Meter,
    /// The names in use, in lower case.
    names: HashSet<String>,
    /// The sums that are added up at each collection.
    sums: Arc<Mutex<Vec<Arc<Sums>>>>,
}

impl Observer {
    /// Returns an observer for a meter that has no instruments yet.
    ///
    /// ```
    /// let observer = windrow_opentelemetry::Observer::new(opentelemetry::global::meter("shop"));
    /// ```
    pub fn new(meter: Meter) -> Observer {
        let sums = Arc::new(Mutex::new(Vec::<Arc<Sums>>::new()));
        let all = Arc::clone(&sums);
        let collect = move |_: &dyn AsyncInstrument<u64>| {
            let all = all.lock().unwrap_or_else(PoisonError::into_inner).clone();
            for sums in all {
                sums.collect();
            }
        };
        // The callback stays.
        let _ = meter.u64_observable_gauge(TRIGGER).with_callback(collect).build();
        Observer { meter, names: HashSet::from([TRIGGER.to_owned()]), sums }
    }

    /// Makes the instruments of a metric or a family, each with a callback that observes it at
    /// every collection.
    ///
    /// See the [list](crate#what-is-exported) of instruments, and [`export::Source`](Source) for
    /// the types that can be observed.
    ///
    /// # Errors
    ///
    /// Returns [`ObserveError`]. Then nothing of the metric is exported. (Of the fields of a family
    /// of [`metrics!`](windrow::metrics!), those before the refused one are.)
    ///
    /// ```
    /// # use opentelemetry::global::meter;
    /// static HITS: windrow::Counter = windrow::Counter::new();
    ///
    /// let mut observer = windrow_opentelemetry::Observer::new(meter("shop"));
    /// observer.observe("hits", "Hits", &HITS)?;
    /// assert!(observer.observe("Hits", "Hits", &HITS).is_err());
    /// # Ok::<(), windrow_opentelemetry::ObserveError>(())
    /// ```
    pub fn observe(
        &mut self,
        name: &str,
        description: &str,
        source: impl Source + 'static,
    ) -> Result<(), ObserveError> {
        self.observe_up_to(SDK_LIMIT, name, description, source)
    }

    /// Observes each source of a catalog under its name, with its unit.
    ///
    /// # Errors
    ///
    /// Returns the error of [`observe`](Self::observe) for the first source that is refused. Those
    /// before it are observed.
    ///
    /// ```
    /// use windrow::Counter;
    /// use windrow::export::Catalog;
    ///
    /// static HITS: Counter = Counter::new();
    ///
    /// let mut catalog = Catalog::new();
    /// catalog.add("hits", "Hits since the start", &HITS)?;
    /// let meter = opentelemetry::global::meter("shop");
    /// let mut observer = windrow_opentelemetry::Observer::new(meter);
    /// observer.observe_all(&catalog)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn observe_all(&mut self, catalog: &Catalog) -> Result<(), ObserveError> {
        catalog.iter().try_for_each(|listed| {
            self.make(SDK_LIMIT, &listed.name, &listed.help, &listed.unit, &listed.source)
        })
    }

    /// Observes a metric as [`observe`](Self::observe) does, for instruments of which a View lets
    /// the SDK take more or fewer than 2000 sets of attributes.
    ///
    /// The program adds the View; `limit` is the number given to its `with_cardinality_limit`. If
    /// the SDK takes fewer sets than `limit`, it adds up the others under an attribute of its own,
    /// `otel.metric.overflow`.
    ///
    /// # Errors
    ///
    /// Returns the errors of `observe`.
    ///
    /// ```
    /// use opentelemetry::metrics::MeterProvider;
    /// use opentelemetry_sdk::metrics::{Instrument, SdkMeterProvider, Stream};
    /// use windrow::{Counter, Family, labels};
    /// use windrow_opentelemetry::Observer;
    ///
    /// labels! { pub struct User { user: u64 } }
    ///
    /// static REQUESTS: Family<User, Counter> = Family::new().with_max_series(9_999);
    ///
    /// let more = |instrument: &Instrument| {
    ///     let stream = Stream::builder().with_cardinality_limit(10_000);
    ///     (instrument.name() == "requests").then(|| stream.build().ok()).flatten()
    /// };
    /// let provider = SdkMeterProvider::builder().with_view(more).build();
    /// let mut observer = Observer::new(provider.meter("shop"));
    /// observer.observe_up_to(10_000, "requests", "Requests by user", &REQUESTS)?;
    /// # Ok::<(), windrow_opentelemetry::ObserveError>(())
    /// ```
    pub fn observe_up_to(
        &mut self,
        limit: usize,
        name: &str,
        description: &str,
        source: impl Source + 'static,
    ) -> Result<(), ObserveError> {
        let source: Arc<dyn Source> = Arc::new(source);
        self.make(limit, name, description, "", &source)
    }

    /// Makes the instruments of each field of a source; of a source without fields, its own.
    fn make(
        &mut self,
        limit: usize,
        family: &str,
        description: &str,
        unit: &str,
        source: &Arc<dyn Source>,
    ) -> Result<(), ObserveError> {
        for (position, field) in fields(Arc::clone(source)).iter().enumerate() {
            let (name, source) = (field.full_name(family, "."), &field.source);
            let unit = if field.is_in_unit { unit } else { "" };
            let outline = source.outline();
            check_name(&name)?;
            let too_many = |sets| ObserveError::TooManySets { name: name.clone(), sets, limit };
            let rooms = rooms(&outline, limit).map_err(too_many)?;
            check_labels(&outline, rooms.overflows)?;
            let mut all = Vec::new();
            for it in instruments(outline.form) {
                let unit =
                    if it.is_in_unit() { in_common(it.part, outline.form, unit) } else { "" };
                let (suffix, about) = it.suffix_and_about();
                let look = Look::new(source, &outline.labels, Some(it));
                all.push((join(&name, ".", &suffix), about, unit, it.part.kind, look));
            }
            // All fields have one overflow series.
            if position == 0 && outline.overflows {
                let Part { suffix, about, .. } = Part::OVERFLOW;
                let name = join(family, ".", suffix);
                all.push((name, about, "", PartKind::Counter, Look::new(source, &[], None)));
            }
            for (name, ..) in &all {
                if name.len() > LONGEST_NAME {
                    let problem = format!("has {} characters, of 255 at most", name.len());
                    return Err(wrong(name, problem));
                }
                if self.names.contains(&name.to_lowercase()) {
                    return Err(wrong(name, "is taken; case makes no difference"));
                }
            }
            for (name, about, unit, kind, look) in all {
                self.names.insert(name.to_lowercase());
                let (about, unit) = (join(description, ": ", about), unit.to_owned());
                match kind {
                    // A histogram's instruments are counters.
                    PartKind::Counter | PartKind::Histogram => {
                        let counter = self.meter.u64_counter(name).with_description(about);
                        let sum = Sum::Counter(counter.with_unit(unit).build());
                        self.add_up(sum, look, rooms.own, &outline);
                    }
                    PartKind::Level => {
                        let counter = self.meter.i64_up_down_counter(name).with_description(about);
                        let sum = Sum::UpDown(counter.with_unit(unit).build());
                        self.add_up(sum, look, rooms.own, &outline);
                    }
                    // The callback stays.
                    PartKind::Gauge => {
                        let gauge = self.meter.u64_observable_gauge(name).with_description(about);
                        let callback = observed(look, Value::whole);
                        let _ = gauge.with_unit(unit).with_callback(callback).build();
                    }
                    PartKind::RealGauge => {
                        let gauge = self.meter.f64_observable_gauge(name).with_description(about);
                        let callback = observed(look, Value::real);
                        let _ = gauge.with_unit(unit).with_callback(callback).build();
                    }
                    // It has no series that could be merged or come back.
                    PartKind::RealCounter => {
                        let total = self.meter.f64_observable_counter(name).with_description(about);
                        let callback = observed(look, Value::real);
                        let _ = total.with_unit(unit).with_callback(callback).build();
                    }
                }
            }
        }
        Ok(())
    }

    fn add_up(&self, sum: Sum, look: Look, room: usize, outline: &Outline) {
        let sums = Sums::new(sum, look, room, outline.series_return);
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(sums));
    }
}

/// Observes all measurements of a part.
fn observed<N>(
    look: Look,
    number: impl Fn(Value) -> Option<N>,
) -> impl Fn(&dyn AsyncInstrument<N>) {
    move |to| {
        look.read(&mut |reading| {
            let mut attributes = reading.attributes.to_vec();
            for (more, value) in reading.values {
                attributes.truncate(reading.attributes.len());
                attributes.extend(more.into_iter().flatten());
                if let Some(number) = number(value) {
                    to.observe(number, &attributes);
                }
            }
        });
    }
}

/// The division of an instrument's sets of attributes.
struct Rooms {
    /// The number of sets for series that are shown by themselves.
    own: usize,
    /// True if an overflow series may exist beside them.
    overflows: bool,
}

/// Divides `limit` sets. Returns the least sufficient limit as an error.
fn rooms(outline: &Outline, limit: usize) -> Result<Rooms, usize> {
    let (most, most_gauges) = most(outline.form);
    let series = outline.max_series.saturating_add(usize::from(outline.overflows));
    let gauges = series.saturating_mul(most_gauges); // a gauge has no sum
    if gauges > limit {
        return Err(gauges);
    }
    if outline.max_series.saturating_mul(most) <= limit && !outline.overflows {
        return Ok(Rooms { own: limit, overflows: false });
    }
    let least = if outline.labels.is_empty() { most } else { most.saturating_mul(2) };
    let own = limit.checked_sub(most).filter(|_| least <= limit).ok_or(least)?;
    Ok(Rooms { own, overflows: true })
}

/// Returns the unit of all samples of a part, if they have one in common.
fn in_common<'u>(part: &Part, form: Form, given: &'u str) -> &'u str {
    match form.units(part, given)[..] {
        [unit] => unit,
        _ => "",
    }
}

fn check_name(name: &str) -> Result<(), ObserveError> {
    if name.is_empty() {
        return Err(wrong(name, "is empty"));
    }
    let right = |(index, character): (usize, char)| {
        character.is_ascii_alphabetic()
            || (index > 0 && (character.is_ascii_digit() || "_.-/".contains(character)))
    };
    let Some((_, character)) = name.char_indices().find(|at| !right(*at)) else { return Ok(()) };
    let problem = format!(
        "has {character:?}; a name is made of ASCII letters, digits, `_`, `.`, `-` and `/`, \
         and begins with a letter"
    );
    Err(wrong(name, problem))
}

fn wrong(name: &str, problem: impl Into<String>) -> ObserveError {
    ObserveError::Name { name: name.to_owned(), problem: problem.into() }
}

fn check_labels(outline: &Outline, overflows: bool) -> Result<(), ObserveError> {
    let mut seen = HashSet::new();
    let mut check = |label: &str| {
        let is_new = seen.insert(label.to_owned());
        is_new.then_some(()).ok_or_else(|| ObserveError::LabelTwice { label: label.to_owned() })
    };
    attributes(outline.form).try_for_each(&mut check)?;
    overflows.then_some(OVERFLOW).into_iter().try_for_each(&mut check)?;
    outline.labels.iter().try_for_each(|label| check(label))
}
