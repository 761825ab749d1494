//! Where metrics become instruments.

use std::collections::HashSet;
use std::fmt::{self, Debug, Formatter};
use std::sync::Arc;

use opentelemetry::metrics::{AsyncInstrument, Meter};

use crate::error::ObserveError;
use crate::show::{Instrument, Part, Value};
use crate::source::{Looking, Outline, Source};

/// How many sets of attributes the SDK takes of an instrument at a time, unless a View says otherwise.
const SDK_LIMIT: usize = 2_000;

/// The longest name of an instrument.
const LONGEST_NAME: usize = 255;

/// Makes instruments of a meter that observe windrow's metrics, and knows their names.
///
/// Have one for a meter: two know nothing of each other's names.
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
}

impl Observer {
    /// An observer for a meter that has no instruments yet.
    ///
    /// ```
    /// let observer = windrow_opentelemetry::Observer::new(opentelemetry::global::meter("shop"));
    /// ```
    pub fn new(meter: Meter) -> Observer {
        Observer { meter, names: HashSet::new() }
    }

    /// Makes the instruments of a metric or a family, each with a callback that observes it at every collection.
    ///
    /// See the [list](crate#what-is-exported) of what they are, and [`Source`] for what can be observed.
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

    /// As [`observe`](Self::observe), for instruments of which a View lets the SDK take more sets of attributes than 2000, or
    /// fewer.
    ///
    /// The View is the program's to add; `limit` is what it gives to `with_cardinality_limit`. If the SDK takes
    /// fewer sets than `limit`, counts are missing from what it exports, and it says so in no error.
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
        check_labels(&outline)?;
        if outline.sets > limit {
            let sets = outline.sets;
            return Err(ObserveError::TooManySets { name: name.to_owned(), sets, limit });
        }
        let parts = outline.parts.iter().chain(outline.overflows.then_some(&OVERFLOW));
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
            self.build(name, description, part.instrument, (index, Arc::clone(&looking)));
        }
        Ok(())
    }

    fn build(
        &self,
        name: String,
        description: String,
        instrument: Instrument,
        (part, looking): (usize, Looking),
    ) {
        macro_rules! build {
            ($instrument:ident, $measurement:ident($number:ty)) => {{
                let callback = move |to: &dyn AsyncInstrument<$number>| {
                    looking(part, &mut |value, attributes| {
                        if let Value::$measurement(number) = value {
                            to.observe(number, attributes);
                        }
                    });
                };
                let builder = self.meter.$instrument(name).with_description(description);
                let _ = builder.with_callback(callback).build(); // the callback stays
            }};
        }
        match instrument {
            Instrument::Counter => build!(u64_observable_counter, Unsigned(u64)),
            Instrument::UpDownCounter => build!(i64_observable_up_down_counter, Signed(i64)),
            Instrument::Gauge => build!(u64_observable_gauge, Unsigned(u64)),
            Instrument::RealGauge => build!(f64_observable_gauge, Real(f64)),
        }
    }
}

/// How often sets of labels found no room.
const OVERFLOW: Part = Part {
    suffix: "overflow",
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

fn check_labels(outline: &Outline) -> Result<(), ObserveError> {
    let ours = outline.more.iter().copied().chain(outline.overflows.then_some("overflow"));
    let mut seen = HashSet::new();
    let mut all = ours.chain(outline.labels.iter().copied());
    all.find(|label| !seen.insert(*label))
        .map_or(Ok(()), |label| Err(ObserveError::LabelTwice { label: label.to_owned() }))
}

/// Shows the names.
impl Debug for Observer {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(&self.names).finish()
    }
}
