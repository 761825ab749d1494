//! Names of the types of metrics and events.

use windrow::Kind;
use windrow::export::Form;

/// Returns a kind's name, whatever its scale.
pub(crate) fn kind_name(kind: Kind) -> String {
    format!("{kind:?}").split('(').next().unwrap_or_default().to_owned()
}

/// Returns a form's name. A level in flight, or a number of the program's own, is shown as a gauge.
pub(crate) fn form_name(form: Form) -> &'static str {
    match form {
        Form::Counter => "counter",
        Form::Gauge | Form::InFlight | Form::Real | Form::RealTotal => "gauge",
        Form::Maximum => "maximum",
        Form::Minimum => "minimum",
        Form::Histogram(_) => "histogram",
        Form::Window(..) => "window",
        Form::Fields => "fields",
    }
}

/// Returns the names of a window's events with values, and their units.
pub(crate) fn units_of(form: Form) -> impl Iterator<Item = (&'static str, &'static str)> {
    let (events, units) = match form {
        Form::Window(events, units) => (events, units),
        _ => (&[][..], &[][..]),
    };
    let units = units.iter().copied().chain(std::iter::repeat(""));
    let all = events.iter().zip(units);
    all.filter(|((_, kind), _)| *kind != Kind::Count).map(|((name, _), unit)| (*name, unit))
}

/// Returns the events of a window; none of any other form.
pub(crate) fn events_of(form: Form) -> &'static [(&'static str, Kind)] {
    match form {
        Form::Window(events, _) => events,
        _ => &[],
    }
}
