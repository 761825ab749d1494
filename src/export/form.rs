//! The type of a metric.

use crate::event::Kind;
use crate::histogram::Scale;

/// The type of a metric, with its scale or its events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A [`Counter`](crate::Counter), or a count of the program's own: from
    /// [`field_count_fn`](super::field_count_fn).
    Counter,
    /// A [`Gauge`](crate::Gauge).
    Gauge,
    /// An [`InFlight`](crate::InFlight).
    InFlight,
    /// A [`Maximum`](crate::Maximum).
    Maximum,
    /// A [`Minimum`](crate::Minimum).
    Minimum,
    /// A number of the program's own: from [`from_fn`](super::from_fn()) or
    /// [`field_fn`](super::field_fn).
    Real,
    /// An all-time total of the program's own: from [`total_fn`](super::total_fn).
    RealTotal,
    /// A [`Histogram`](crate::Histogram) of this scale, or a distribution of the program's own.
    Histogram(Scale),
    /// A [`SlidingWindow`](crate::SlidingWindow) of these events, whose values have these units:
    /// see [`Events::UNITS`](crate::Events::UNITS).
    Window(&'static [(&'static str, Kind)], &'static [&'static str]),
    /// Several metrics: a struct that [`metrics!`](crate::metrics!) declares. It has no parts, but
    /// its [fields](super::fields()) have.
    Fields,
}

impl Form {
    /// Returns the names of the labels that samples have in addition to those of the series.
    #[inline]
    pub fn sample_labels(self) -> &'static [&'static str] {
        match self {
            Form::Window(events, _) if events.iter().any(|(_, kind)| is_histogram(*kind)) => {
                &["event", "q"]
            }
            Form::Window(..) => &["event"],
            _ => &[],
        }
    }

    /// Returns the scales of all histograms in a metric of this form.
    #[inline]
    pub fn scales(self) -> impl Iterator<Item = Scale> {
        let (own, events) = match self {
            Form::Histogram(scale) => (Some(scale), &[][..]),
            Form::Window(events, _) => (None, events),
            _ => (None, &[][..]),
        };
        let scale_of = |(_, kind): &(&str, Kind)| match kind {
            Kind::Histogram(scale) => Some(*scale),
            _ => None,
        };
        own.into_iter().chain(events.iter().filter_map(scale_of))
    }
}

/// Returns the declared unit of an event; empty if there is none.
pub(super) fn unit_of(units: &[&'static str], event: usize) -> &'static str {
    units.get(event).copied().unwrap_or_default()
}

fn is_histogram(kind: Kind) -> bool {
    matches!(kind, Kind::Histogram(_))
}
