//! The answers of a fleet: JSON for the page and for programs, and text.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Map, Value, json};
use windrow::histogram::Distribution;

use super::courses::Courses;
use super::merge::{Row, Sums};
use super::part::{FAILED, Of, P50, P99, Part, REFUSED, Spread};
use super::says::{Says, Since};
use super::sparks;
use super::sum::Sum;
use super::view::{Process, View};
use crate::percentiles::{self, PERCENTILES};
use crate::text::{cut, shown_key};
use crate::unusual::{percent, short, span, time, utc};

/// The head of all answers.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) name: String,
    /// The time of the fleet's start, in milliseconds since 1970.
    pub(super) begun: u64,
    /// The faults of the list of addresses.
    pub(super) troubles: Vec<String>,
}

impl Head {
    /// Returns a time in milliseconds since 1970.
    pub(super) fn wall(&self, at: Duration) -> u64 {
        self.begun.saturating_add(millis(at))
    }

    fn since(&self, since: Since) -> Option<u64> {
        match since {
            Since::Unknown => None,
            Since::Fleet(at) => Some(self.wall(at)),
            Since::Wall(millis) => Some(millis),
        }
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

/// Returns all numbers of the fleet, without the [courses](with_courses).
pub(super) fn json(head: &Head, view: &View) -> String {
    let says = |says: &Says| {
        let names: Vec<&str> =
            says.processes.iter().map(|at| view.processes[*at].name.as_str()).collect();
        json!({
            "what": says.what,
            "key": says.key,
            "text": says.sentence(),
            "why": says.key.as_ref().map(|_| &says.text),
            "since_ms": head.since(says.since),
            "processes": names,
        })
    };
    let process = |process: &Process| {
        let reading = &process.reading;
        json!({
            "process": process.name,
            "instance": reading.instance,
            "epoch": reading.epoch,
            "service": reading.service,
            "version": reading.version,
            "addresses": process.addresses,
            "up_ms": reading.age_ms,
            "answered_ms": head.wall(process.answered),
            "differs": process.differs,
        })
    };
    let failing = view.failing.iter().map(|unread| {
        json!({
            "address": unread.address,
            "instance": unread.instance,
            "state": if unread.failing.is_refused { "refused" } else { "silent" },
            "since_ms": head.wall(unread.failing.since),
            "why": unread.failing.why,
        })
    });
    json!({
        "fleet": head.name,
        "time_ms": head.wall(view.now),
        "troubles": head.troubles,
        "says": view.says.iter().map(says).collect::<Vec<_>>(),
        "says_more": view.more,
        "calm_since_ms": view.calm_since_ms,
        "addresses": view.addresses,
        "unasked": view.unasked,
        "gone": view.gone,
        "processes": view.processes.iter().map(process).collect::<Vec<_>>(),
        "failing": failing.collect::<Vec<_>>(),
        "heavy": view.heavy.json(),
        "heavy_more": view.heavy.more,
        "metrics": view.merged.metrics.iter().map(|sums| metric(view, sums)).collect::<Vec<_>>(),
    })
    .to_string()
}

/// Returns all numbers of the fleet with the courses: of the last rounds, at most this number.
pub(super) fn with_courses(json: &str, head: &Head, courses: &Courses, most: usize) -> String {
    let open = json.strip_suffix('}').unwrap_or(json);
    format!("{open},\"courses\":{}}}", sparks::json(head, courses, most))
}

fn metric(view: &View, sums: &Sums) -> Value {
    let rows = sums.rows.iter().map(|(key, row)| {
        let mut shown = numbers(sums, row);
        shown["key"] = key.as_str().into();
        let spread = |spread: Option<Spread>| spread.map(|spread| spread_json(view, spread));
        shown["spread"] = json!({
            sums.number_name(): spread(Spread::of_rates(&row.parts)),
            "failed": spread(Spread::of_failures(&row.parts)),
            "p50": spread(Spread::of_percentiles(&row.parts, P50)),
            "p99": spread(Spread::of_percentiles(&row.parts, P99)),
        });
        shown
    });
    json!({
        "name": sums.name,
        "help": sums.help,
        "form": sums.form,
        "unit": sums.values_unit(),
        "rows": rows.collect::<Vec<_>>(),
    })
}

fn spread_json(view: &View, spread: Spread) -> Value {
    let of = |of: Of| json!({ "value": of.value, "process": view.processes[of.process].name });
    json!({ "low": of(spread.low), "median": of(spread.median), "high": of(spread.high) })
}

/// Returns one series in full: its sums with their cells, and the numbers of each process. `None`
/// if there is none of this key.
pub(super) fn series(head: &Head, view: &View, courses: &Courses, key: &str) -> Option<String> {
    let found = view.merged.metrics.iter().find_map(|sums| Some((sums, sums.rows.get(key)?)));
    let (sums, row) = found?;
    let cells = |of: &[Option<Sum>]| {
        let named = sums.events.iter().zip(of).filter_map(|(event, sum)| match sum {
            Some(Sum::Histogram { values: Some(values), .. }) => {
                Some((sums.name_of(event).to_owned(), percentiles::cells(values)))
            }
            _ => None,
        });
        Value::from(named.collect::<Map<_, _>>())
    };
    let mut shown = numbers(sums, row);
    shown["key"] = key.into();
    shown["metric"] = json!({
        "name": sums.name, "help": sums.help, "form": sums.form, "unit": sums.values_unit(),
    });
    shown["cells"] = json!({ "all": cells(&row.all), "last": cells(&row.last) });
    let part = |part: &Part| {
        let mut shown = json!({
            "process": view.processes[part.process].name,
            sums.number_name(): part.rate,
            "failed": part.share(FAILED),
            "refused": part.share(REFUSED),
        });
        for ((name, _), value) in PERCENTILES.iter().zip(part.percentiles) {
            shown[name] = value.into();
        }
        shown
    };
    shown["parts"] = row.parts.iter().map(part).collect();
    shown["course"] = sparks::one(head, courses, key).into();
    Some(json!({ "fleet": head.name, "time_ms": head.wall(view.now), "series": shown }).to_string())
}

/// Returns the numbers of a row: rates and shares of the last ones, and all sums.
fn numbers(sums: &Sums, row: &Row) -> Value {
    let by_event = |of: &[Option<Sum>]| {
        let named = sums.events.iter().zip(of).filter_map(|(event, sum)| {
            Some((sums.name_of(event).to_owned(), sum_json(sum.as_ref()?)))
        });
        Value::from(named.collect::<Map<_, _>>())
    };
    let totals = Totals::of(row);
    let number = if sums.form == "window" {
        totals.rate
    } else {
        row.all.first().and_then(|sum| sum.as_ref()?.number())
    };
    json!({
        "processes": row.parts.len(),
        sums.number_name(): number,
        "failed": totals.share(FAILED),
        "refused": totals.share(REFUSED),
        "values": values(row).map(percentiles::summary),
        "all": by_event(&row.all),
        "last": by_event(&row.last),
    })
}

/// The rates and counts of all processes in a row.
struct Totals {
    rate: Option<f64>,
    counts: [u128; 3],
}

impl Totals {
    fn of(row: &Row) -> Totals {
        let rates = row.parts.iter().filter_map(|part| part.rate);
        let rate = rates.fold(None, |all, rate| Some(all.unwrap_or(0.0) + rate));
        let sum = |which: usize| row.parts.iter().map(|part| u128::from(part.counts[which])).sum();
        Totals { rate, counts: std::array::from_fn(sum) }
    }

    fn share(&self, which: usize) -> Option<f64> {
        (self.counts[0] > 0).then(|| self.counts[which] as f64 / self.counts[0] as f64)
    }
}

fn sum_json(sum: &Sum) -> Value {
    match sum {
        Sum::Count(count) => json!({ "count": whole(*count) }),
        Sum::Signed(sum) => match i64::try_from(*sum) {
            Ok(sum) => json!({ "sum": sum }),
            Err(_) => json!({ "sum": sum.to_string() }),
        },
        Sum::Value { count, sum, min, max } => {
            let mean = (*count > 0).then(|| *sum as f64 / *count as f64);
            json!({ "count": whole(*count), "sum": sum, "min": min, "max": max, "mean": mean })
        }
        Sum::Histogram { count, values } => match values {
            Some(values) => percentiles::summary(values),
            None => json!({ "count": whole(*count) }),
        },
        Sum::Maximum(value) => json!({ "max": value }),
        Sum::Minimum(value) => json!({ "min": value }),
        Sum::Real(number) => json!({ "level": number }),
    }
}

/// Returns a count: as a text, where it has more than 64 bits.
fn whole(count: u128) -> Value {
    u64::try_from(count).map_or_else(|_| count.to_string().into(), Value::from)
}

/// Returns the last values of the first event with percentiles.
fn values(row: &Row) -> Option<&Distribution> {
    row.last.iter().flatten().find_map(|sum| match sum {
        Sum::Histogram { values, .. } => values.as_ref(),
        _ => None,
    })
}

/// Returns all numbers for a terminal.
pub(super) fn text(head: &Head, view: &View, courses: &Courses) -> String {
    let mut text = String::new();
    // Writing to a `String` cannot fail.
    let _ = writeln!(
        text,
        "{}: {} processes answer at {} addresses; {} gone",
        head.name.escape_debug(),
        view.processes.len(),
        view.addresses,
        view.gone
    );
    for trouble in &head.troubles {
        let _ = writeln!(text, "wrong: {}", trouble.escape_debug());
    }
    for says in &view.says {
        let since = head.since(says.since).map_or_else(String::new, |since| {
            let ago = head.wall(view.now).saturating_sub(since);
            format!(" since {} ({})", utc(since), span(ago))
        });
        let _ = writeln!(text, "wrong: {}{since}", shown_key(&says.sentence()));
    }
    if view.more > 0 {
        let _ = writeln!(text, "wrong: and {} more", view.more);
    }
    if view.says.is_empty() {
        let since = view.calm_since_ms;
        let since = since.map_or_else(String::new, |since| format!(" since {}", utc(since)));
        let _ = writeln!(text, "nothing unusual{since}");
    }
    for process in &view.processes {
        let reading = &process.reading;
        let (up, version) = (span(reading.age_ms), cut(&reading.version));
        let answered = span(millis(view.now.saturating_sub(process.answered)));
        let process = format!("{}  {}", process.name, process.addresses.join(", "));
        let (process, version) = (shown_key(&process), shown_key(&version));
        let _ = writeln!(text, "process: {process}  up {up}, answered {answered} ago  {version}");
    }
    text += &view.heavy.text();
    for sums in &view.merged.metrics {
        let (name, help) = (&sums.name, cut(&sums.help));
        let _ = writeln!(text, "\n# {}: {}", shown_key(name), shown_key(&help));
        for (key, row) in &sums.rows {
            let _ = write!(text, "{}  {}", shown_key(key), row_text(view, sums, row));
            let course =
                sparks::text(courses, key).map_or_else(String::new, |line| format!("  {line}"));
            let _ = writeln!(text, "{course}");
        }
    }
    text
}

/// Returns the numbers of a row, each with the lowest and the highest of the processes.
fn row_text(view: &View, sums: &Sums, row: &Row) -> String {
    let totals = Totals::of(row);
    let named = sums.events.iter().zip(&row.all).filter_map(|(event, sum)| {
        Some(format!("{} {}", sums.name_of(event), sum.as_ref()?.text()))
    });
    let mut parts: Vec<String> = named.collect();
    let mut spread = |name: &str, of: Option<String>, spread, show: &dyn Fn(f64) -> String| {
        let (Some(of), Some(Spread { low, high, .. })) = (of, spread) else { return };
        let name_of = |at: Of| shown_key(&cut(&view.processes[at.process].name));
        let (least, most) = (show(low.value), show(high.value));
        let spread = format!("{least} {} to {most} {}", name_of(low), name_of(high));
        parts.push(format!("{name} {of} [{spread}]"));
    };
    if sums.form == "window" {
        let rate = totals.rate.map(|rate| format!("{}/s", short(rate)));
        spread("rate", rate, Spread::of_rates(&row.parts), &short);
        let failed = totals.share(FAILED).map(percent);
        spread("failed", failed, Spread::of_failures(&row.parts), &percent);
    }
    let is_time = sums.values_unit() == Some("ns");
    let value = |value: f64| if is_time { time(value) } else { short(value) };
    let merged = values(row).map(percentiles::percentiles).unwrap_or_default();
    for (name, at) in [("p50", P50), ("p99", P99)] {
        let of = merged[at].map(|of| value(of as f64));
        spread(name, of, Spread::of_percentiles(&row.parts, at), &value);
    }
    parts.join("  ")
}
