//! Where metrics become instruments.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, Mutex, PoisonError};

use opentelemetry::metrics::{AsyncInstrument, Meter};

use crate::error::ObserveError;
use crate::show::{Instrument, Part, Value};
use crate::source::{Looking, Outline, Source};
use crate::sums::{OVERFLOW, Sum, Sums};

/// How many sets of attributes the SDK takes of an instrument at a time, unless a View says
/// otherwise.
const SDK_LIMIT: usize = 2_000;

/// The longest name of an instrument.
const LONGEST_NAME: usize = 255;

/// The gauge that is never observed: at each collection, the SDK calls its callback, which adds up
/// sums.
const TRIGGER: &str = "windrow.observer";

/// Makes instruments of a meter that observe windrow's metrics, and knows their names.
///
/// Have one for a meter: two know nothing of each other's names. Besides, it makes an instrument
/// `windrow.observer`, at whose callback counters are added up, and which exports nothing; no View
/// may drop it.
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
/// observer.observe("http.open", "Requests that are being answered", &open)?;
/// open.increment();
/// drop(open); // and from here on, nothing of it is exported
/// # Ok::<(), windrow_opentelemetry::ObserveError>(())
/// ```
pub struct Observer {
    meter: Meter,
    /// In lower case.
    names: HashSet<String>,
    /// What is added up at each collection.
    sums: Arc<Mutex<Vec<Arc<Sums>>>>,
}

impl Observer {
    /// An observer for a meter that has no instruments yet.
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
        let _ = meter.u64_observable_gauge(TRIGGER).with_callback(collect).build(); // the callback stays
        Observer { meter, names: HashSet::from([TRIGGER.to_owned()]), sums }
    }

    /// Makes the instruments of a metric or a family, each with a callback that observes it at
    /// every collection.
    ///
    /// See the [list](crate#what-is-exported) of what they are, and [`Source`] for what can be
    /// observed.
    ///
    /// # Errors
    ///
    /// [`ObserveError`], which says what is wrong. Then nothing of it is exported.
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
        source: impl Source,
    ) -> Result<(), ObserveError> {
        self.observe_up_to(SDK_LIMIT, name, description, source)
    }

    /// As [`observe`](Self::observe), for instruments of which a View lets the SDK take more sets
    /// of attributes than 2000, or fewer.
    ///
    /// The View is the program's to add; `limit` is what it gives to `with_cardinality_limit`. If
    /// the SDK takes fewer sets than `limit`, it adds up the others under an attribute of its own,
    /// `otel.metric.overflow`.
    ///
    /// # Errors
    ///
    /// As `observe`.
    ///
    /// ```
    /// use opentelemetry::metrics::MeterProvider;
    /// use opentelemetry_sdk::metrics::{Instrument, SdkMeterProvider, Stream};
    /// use windrow::{Counter, Family, labels};
    /// use windrow_opentelemetry::Observer;
    ///
    /// labels! { pub struct User { user: u64 } }
    ///
    /// static REQUESTS: Family<User, Counter> = Family::new().limit(9_999);
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
        source: impl Source,
    ) -> Result<(), ObserveError> {
        let outline = source.outline();
        check_name(name)?;
        let rooms = rooms(&outline, limit).map_err(|sets| ObserveError::TooManySets {
            name: name.to_owned(),
            sets,
            limit,
        })?;
        check_labels(&outline, rooms.overflows)?;
        let parts = outline.parts.iter().chain(outline.overflows.then_some(&OVERFLOWED));
        let join = |one: &str, between: &str, other: &str| {
            [one, other].join(if one.is_empty() || other.is_empty() { "" } else { between })
        };
        let named: Vec<(String, &Part)> =
            parts.map(|part| (join(name, ".", part.suffix), part)).collect();
        for (name, _) in &named {
            if name.len() > LONGEST_NAME {
                return Err(ObserveError::NameTooLong { name: name.clone() });
            }
            if self.names.contains(&name.to_lowercase()) {
                return Err(ObserveError::NameTaken { name: name.clone() });
            }
        }
        let looking = source.look();
        for (index, (name, part)) in named.into_iter().enumerate() {
            self.names.insert(name.to_lowercase());
            let description = join(description, ": ", part.about);
            let of_part = (index, Arc::clone(&looking));
            match part.instrument {
                Instrument::Counter => {
                    let counter = self.meter.u64_counter(name).with_description(description);
                    self.add_up(Sum::Counter(counter.build()), of_part, rooms.own, &outline);
                }
                Instrument::UpDownCounter => {
                    let counter = self.meter.i64_up_down_counter(name);
                    let counter = counter.with_description(description).build();
                    self.add_up(Sum::UpDown(counter), of_part, rooms.own, &outline);
                }
                Instrument::Gauge => self.gauge(name, description, of_part),
                Instrument::RealGauge => self.real_gauge(name, description, of_part),
            }
        }
        Ok(())
    }

    fn add_up(&self, sum: Sum, (part, looking): (usize, Looking), room: usize, outline: &Outline) {
        let sums = Sums::new(sum, part, looking, room, outline.returns);
        self.sums.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(sums));
    }

    fn gauge(&self, name: String, description: String, of_part: (usize, Looking)) {
        let value = |value| if let Value::Unsigned(number) = value { Some(number) } else { None };
        let gauge = self.meter.u64_observable_gauge(name).with_description(description);
        let _ = gauge.with_callback(observed(of_part, value)).build(); // the callback stays
    }

    fn real_gauge(&self, name: String, description: String, of_part: (usize, Looking)) {
        let value = |value| if let Value::Real(number) = value { Some(number) } else { None };
        let gauge = self.meter.f64_observable_gauge(name).with_description(description);
        let _ = gauge.with_callback(observed(of_part, value)).build(); // the callback stays
    }
}

/// Observes all measurements of a part.
fn observed<N>(
    (part, looking): (usize, Looking),
    number: impl Fn(Value) -> Option<N>,
) -> impl Fn(&dyn AsyncInstrument<N>) {
    move |to| {
        looking(part, &mut |reading| {
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

/// Where sets of attributes go, of which the SDK takes so many.
struct Rooms {
    /// How many sets the series have that are shown by themselves.
    own: usize,
    /// Whether there may be an overflow series beside them.
    overflows: bool,
}

/// Err: how many sets there would have to be room for.
fn rooms(outline: &Outline, limit: usize) -> Result<Rooms, usize> {
    let (most, most_gauges) = outline.most;
    let series = outline.series.saturating_add(usize::from(outline.overflows));
    let gauges = series.saturating_mul(most_gauges); // a gauge has no sum
    if gauges > limit {
        return Err(gauges);
    }
    if outline.series.saturating_mul(most) <= limit && !outline.overflows {
        return Ok(Rooms { own: limit, overflows: false });
    }
    let least = if outline.labels.is_empty() { most } else { most.saturating_mul(2) };
    let own = limit.checked_sub(most).filter(|_| least <= limit).ok_or(least)?;
    Ok(Rooms { own, overflows: true })
}

/// How often sets of labels found no room.
const OVERFLOWED: Part = Part {
    suffix: OVERFLOW,
    about: "uses of labels that found no room, counted under the attribute overflow",
    instrument: Instrument::Counter,
};

fn check_name(name: &str) -> Result<(), ObserveError> {
    if name.is_empty() {
        return Err(ObserveError::NoName);
    }
    let right = |(index, character): (usize, char)| {
        character.is_ascii_alphabetic()
            || (index > 0 && (character.is_ascii_digit() || "_.-/".contains(character)))
    };
    let wrong = name.char_indices().find(|at| !right(*at));
    wrong.map_or(Ok(()), |(_, character)| {
        Err(ObserveError::Name { name: name.to_owned(), character })
    })
}

fn check_labels(outline: &Outline, overflows: bool) -> Result<(), ObserveError> {
    let ours = outline.more.iter().copied().chain(overflows.then_some(OVERFLOW));
    let mut seen = HashSet::new();
    let mut all = ours.chain(outline.labels.iter().map(String::as_str));
    all.find(|label| !seen.insert(*label))
        .map_or(Ok(()), |label| Err(ObserveError::LabelTwice { label: label.to_owned() }))
}

/// Shows the names.
impl Debug for Observer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.names).finish()
    }
}
