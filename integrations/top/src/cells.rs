//! The numbers of a row, from the events of its metric: as the console's page has them.

use crate::format::Unit;
use crate::frame::{NewMetric, Numbers};
use crate::legible::Legible;

/// A metric: the positions of its numbers in a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Metric {
    pub(crate) name: Legible,
    form: Form,
    /// The first event whose count only grows.
    primary: Option<usize>,
    /// The first event with percentiles, or otherwise with a mean.
    value: Option<usize>,
    has_percentiles: bool,
    pub(crate) unit: Unit,
    maximum: Option<usize>,
    all: Option<usize>,
    pass: Option<usize>,
    success: Option<usize>,
    pub(crate) block: Option<usize>,
    exception: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Form {
    Window,
    Gauge,
    /// A counter or a histogram without a window.
    Total,
    Maximum,
    /// A minimum, or a form of a later console.
    #[default]
    Other,
}

/// The numbers of a row that are shown; `None` where there is none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Cells {
    /// Per second, in the closed buckets.
    pub(crate) rate: Option<f64>,
    /// In the closed buckets.
    pub(crate) refused: Option<f64>,
    /// The share of failed operations.
    pub(crate) failing: Option<f64>,
    pub(crate) p50: Option<f64>,
    pub(crate) p99: Option<f64>,
    pub(crate) max: Option<f64>,
    pub(crate) total: Option<f64>,
    /// Operations, and those of them that failed or were refused, for sums over rows.
    pub(crate) operations: f64,
    pub(crate) failed: f64,
    pub(crate) blocked: f64,
}

/// The names of events that count failures.
const FAILURES: [&str; 8] =
    ["exception", "exceptions", "failure", "failures", "failed", "fail", "error", "errors"];

impl Metric {
    /// Returns a metric. The first event of a kind, or of a name, has the position.
    pub(crate) fn of(new: NewMetric) -> Metric {
        let form = match new.form.as_str() {
            "window" => Form::Window,
            "gauge" => Form::Gauge,
            "counter" | "histogram" => Form::Total,
            "maximum" => Form::Maximum,
            _ => Form::Other,
        };
        let mut next = 0;
        let placed = new.events.iter().map(|event| {
            next += width(&event.1);
            (event, next - width(&event.1))
        });
        let placed: Vec<_> = placed.collect();
        let first =
            |kinds: &[&str]| placed.iter().find(|((_, kind, _), _)| kinds.contains(&&**kind));
        let named = |names: &[&str]| {
            let is_it = |name: &str| names.iter().any(|known| known.eq_ignore_ascii_case(name));
            let mut counts = placed.iter().filter(|((_, kind, _), _)| kind == "Count");
            counts.find(|((name, ..), _)| is_it(name)).map(|(_, at)| *at)
        };
        let histogram = first(&["Histogram"]);
        let (value, maximum) = (histogram.or(first(&["Value"])), first(&["Maximum"]));
        let is_histogram = new.form == "histogram";
        let unit = value.or(maximum).map_or(&new.unit, |((.., unit), _)| unit);
        Metric {
            form,
            primary: match form {
                Form::Total => Some(0),
                _ => first(&["Count", "Value", "Histogram"]).map(|(_, at)| *at),
            },
            value: if is_histogram { Some(0) } else { value.map(|(_, at)| *at) },
            has_percentiles: is_histogram || histogram.is_some(),
            unit: if unit == "ns" { Unit::Nanoseconds } else { Unit::None },
            maximum: maximum.map(|(_, at)| *at),
            all: named(&["request", "requests", "call", "calls", "operation", "operations"]),
            pass: named(&["pass", "passed"]),
            success: named(&["success", "successes", "succeeded", "ok"]),
            block: named(&["block", "blocked", "reject", "rejected", "refused", "limited"]),
            exception: named(&FAILURES),
            name: new.name,
        }
    }

    /// Returns the all-time count by which a rate is known; of a gauge, the level.
    pub(crate) fn ever(&self, numbers: &Numbers) -> Option<f64> {
        match self.form {
            Form::Gauge => number(numbers, Some(0)),
            _ => number(numbers, self.primary),
        }
    }

    pub(crate) fn is_gauge(&self) -> bool {
        self.form == Form::Gauge
    }

    /// Returns what is shown of a row's numbers. `span` is in nanoseconds.
    pub(crate) fn cells(&self, numbers: &Numbers, span: f64) -> Cells {
        let mut cells = Cells::default();
        if let Some(value) = self.value
            && number(numbers, Some(value + 1)).is_some_and(|count| count > 0.0)
        {
            cells.max = number(numbers, Some(value + 4));
            if self.has_percentiles {
                cells.p50 = number(numbers, Some(value + 5));
                cells.p99 = number(numbers, Some(value + 7));
            }
        } else if self.value.is_none() {
            cells.max = number(numbers, self.maximum);
        }
        if self.form != Form::Window {
            cells.total = number(numbers, Some(0));
            if self.form == Form::Maximum {
                cells.max = cells.total;
            }
            return cells;
        }
        let closed = |at: Option<usize>| number(numbers, at.map(|at| at + 1));
        // A window whose first bucket has not ended has no rate yet.
        let seconds = (span > 0.0).then_some(span / 1e9);
        cells.rate = closed(self.primary).zip(seconds).map(|(count, seconds)| count / seconds);
        cells.total = number(numbers, self.primary);
        cells.refused = closed(self.block);
        let failed = closed(self.exception);
        if cells.refused.is_some() || failed.is_some() {
            // All operations include those that were refused, and passed ones those that failed
            // later; successes include neither.
            let refused = cells.refused.unwrap_or(0.0);
            let all = match (self.pass, self.all) {
                (Some(pass), _) => closed(Some(pass)).unwrap_or(0.0) + refused,
                (None, Some(all)) => closed(Some(all)).unwrap_or(0.0),
                (None, None) => {
                    closed(self.success).unwrap_or(0.0) + failed.unwrap_or(0.0) + refused
                }
            };
            cells.operations = all;
            cells.failed = failed.unwrap_or(0.0).min(all);
            cells.blocked = refused.min(all);
            cells.failing = (all > 0.0).then(|| cells.failed / all);
        }
        cells
    }
}

/// Returns the number of numbers of an event of this kind in a row.
fn width(kind: &str) -> usize {
    match kind {
        "Count" | "Signed" => 2,
        "Value" => 5,
        "Histogram" => 8,
        "Maximum" | "Minimum" => 1,
        _ => 0,
    }
}

fn number(numbers: &Numbers, at: Option<usize>) -> Option<f64> {
    numbers.get(at?).copied().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(form: &str, events: &[(&str, &str)]) -> Metric {
        let event = |(name, kind): &(&str, &str)| ((*name).into(), (*kind).into(), "ns".into());
        Metric::of(NewMetric {
            name: Legible::of("requests", 10),
            form: form.into(),
            events: events.iter().map(event).collect(),
            unit: String::new(),
        })
    }

    fn numbers(all: &[f64]) -> Numbers {
        all.iter().copied().map(Some).collect()
    }

    #[test]
    fn forty_refused_of_a_hundred_are_forty_percent_in_either_count() {
        let sentinel = metric("window", &[("Pass", "Count"), ("Block", "Count"), ("Rt", "Value")]);
        let tower =
            metric("window", &[("Request", "Count"), ("Block", "Count"), ("Error", "Count")]);
        let of = sentinel.cells(&numbers(&[9.0, 60.0, 9.0, 40.0, 9.0, 60.0, 1.0, 2.0, 3.0]), 60e9);
        assert_eq!((of.operations, of.blocked, of.failing), (100.0, 40.0, Some(0.0)));
        assert_eq!((of.rate, of.max, of.p99), (Some(1.0), Some(3.0), None));
        let of = tower.cells(&numbers(&[9.0, 100.0, 9.0, 40.0, 9.0, 20.0]), 10e9);
        assert_eq!((of.operations, of.refused, of.failing), (100.0, Some(40.0), Some(0.2)));
        let ok = metric("window", &[("Ok", "Count"), ("Failed", "Count")]);
        assert_eq!(ok.cells(&numbers(&[9.0, 30.0, 9.0, 10.0]), 0.0).failing, Some(0.25));
    }

    #[test]
    fn percentiles_are_those_of_the_histogram() {
        let metric = metric("window", &[("Rt", "Histogram"), ("Pass", "Count")]);
        let of =
            metric.cells(&numbers(&[9.0, 8.0, 7.0, 1.0, 99.0, 50.0, 90.0, 98.0, 5.0, 4.0]), 1e9);
        assert_eq!(
            (of.p50, of.p99, of.max, of.rate),
            (Some(50.0), Some(98.0), Some(99.0), Some(8.0))
        );
        assert_eq!((of.total, of.failing), (Some(9.0), None));
        // A server may send anything.
        assert_eq!(metric.cells(&numbers(&[1.0]), 1e9).rate, None);
        assert_eq!(metric.cells(&Vec::new(), f64::MAX), Cells::default());
    }
}
