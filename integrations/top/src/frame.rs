//! Frames, as a console sends them: see `frame.rs` of `windrow-console` for their form.
//!
//! All that is missing, of another type, or too much is left out. Members that a later console adds
//! are not read.

use serde_json::Value;

use crate::error::Error;
use crate::events::Event;
use crate::legible::Legible;

/// The greatest numbers of these in a frame.
pub(crate) const MOST_METRICS: usize = 1_000;
const MOST_EVENTS: usize = 32;
const MOST_NUMBERS: usize = 8 * MOST_EVENTS; // an event has at most eight
const MOST_CHANGES: usize = 100;
const MOST_HEAVY: usize = 16;
const MOST_SPANS: usize = 8;
const MOST_KEYS: usize = 10;

/// The greatest numbers of characters.
pub(crate) const LONGEST_NAME: usize = 200;
pub(crate) const LONGEST_KEY: usize = 1_000;

/// A frame.
#[derive(Clone, Debug, Default)]
pub(crate) struct Frame {
    pub(crate) epoch: String,
    pub(crate) number: u64,
    /// The age of the console, in milliseconds.
    pub(crate) age: f64,
    /// The time of its machine, in milliseconds since 1970.
    pub(crate) time: f64,
    /// Present if the frame contains everything.
    pub(crate) whole: Option<Whole>,
    /// All rows of a whole frame, or the new ones.
    pub(crate) rows: Vec<NewRow>,
    /// The numbers of rows that have changed.
    pub(crate) changed: Vec<(u64, Numbers)>,
    /// The spans of rows that have changed, in nanoseconds.
    pub(crate) spans: Vec<(u64, f64)>,
    pub(crate) gone: Vec<u64>,
    /// The differences between readings of the series whose audits fail.
    pub(crate) failing: Vec<(u64, f64)>,
    pub(crate) unusual: Unusual,
    pub(crate) heavy: Vec<Heavy>,
    /// The time for which nothing was added to files, in milliseconds.
    pub(crate) still: f64,
    pub(crate) owners: Owners,
}

/// The processes that have a slot in the files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owners {
    pub(crate) live: usize,
    /// The number of those that have ended, and whose slots no other process has taken.
    pub(crate) ended: usize,
}

/// A row's numbers; `None` where there is none yet.
pub(crate) type Numbers = Vec<Option<f64>>;

/// The parts of a frame that only a whole one has.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    pub(crate) service: Legible,
    pub(crate) instance: Legible,
    pub(crate) version: Legible,
    /// Says that the numbers are those of files, which this program watches, and not a console's.
    pub(crate) is_of_files: bool,
    pub(crate) metrics: Vec<NewMetric>,
}

/// A metric, with its events: their names, kinds and units.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewMetric {
    pub(crate) name: Legible,
    pub(crate) form: String,
    pub(crate) events: Vec<(String, String, String)>,
    pub(crate) unit: String,
}

/// A row that is not known yet.
#[derive(Clone, Debug)]
pub(crate) struct NewRow {
    pub(crate) id: u64,
    pub(crate) metric: usize,
    pub(crate) key: String,
    pub(crate) span: f64,
    pub(crate) numbers: Numbers,
    /// The last minute: the age of the end of its newest slice and the length of a slice, both in
    /// milliseconds, and the count of each slice.
    pub(crate) past: Vec<f64>,
}

/// The changes that go on.
#[derive(Clone, Debug, Default)]
pub(crate) struct Unusual {
    pub(crate) list: Vec<Change>,
    /// The number of changes, if not all are listed.
    pub(crate) changes: u64,
    /// The time since which nothing else is unusual.
    pub(crate) calm: Option<f64>,
    pub(crate) windows: u64,
    pub(crate) compared: u64,
}

/// A change of a row.
#[derive(Clone, Debug)]
pub(crate) struct Change {
    pub(crate) row: u64,
    pub(crate) what: String,
    pub(crate) weight: f64,
    /// In milliseconds since 1970.
    pub(crate) since: f64,
    pub(crate) says: Legible,
    pub(crate) course: String,
}

/// The heavy keys of a name, by span.
#[derive(Clone, Debug)]
pub(crate) struct Heavy {
    pub(crate) name: Legible,
    pub(crate) spans: Vec<HeavySpan>,
}

#[derive(Clone, Debug)]
pub(crate) struct HeavySpan {
    pub(crate) millis: f64,
    pub(crate) total: f64,
    /// The keys, with the bounds of their weights.
    pub(crate) keys: Vec<(Legible, f64, f64)>,
}

impl Frame {
    pub(crate) fn read(event: &Event) -> Result<Frame, Error> {
        let parsed: Result<Value, _> = serde_json::from_slice(&event.data);
        let json = parsed.map_err(|_| Error::NotAConsole { why: "a frame is not JSON" })?;
        let missing = Error::NotAConsole { why: "a frame has no number" };
        let number = json["frame"].as_u64().ok_or(missing)?;
        let whole = || Whole {
            service: name(&json["service"]),
            instance: name(&json["instance"]),
            version: name(&json["version"]),
            is_of_files: false,
            metrics: list(&json["metrics"]).iter().take(MOST_METRICS).map(metric).collect(),
        };
        let (rows, changed) = if event.is_all { ("rows", "") } else { ("new", "rows") };
        Ok(Frame {
            epoch: plain(&json["epoch"]),
            number,
            age: real(&json["age"]).unwrap_or(0.0),
            time: real(&json["time"]).unwrap_or(0.0),
            whole: event.is_all.then(whole),
            rows: list(&json[rows]).iter().filter_map(row).collect(),
            changed: list(&json[changed]).iter().filter_map(numbers_of).collect(),
            spans: pairs(&json["spans"]),
            gone: list(&json["gone"]).iter().filter_map(Value::as_u64).collect(),
            failing: pairs(&json["check"]["failing"]),
            unusual: unusual(&json["unusual"]),
            heavy: list(&json["heavy"]).iter().take(MOST_HEAVY).map(heavy).collect(),
            ..Frame::default()
        })
    }
}

fn list(json: &Value) -> &[Value] {
    json.as_array().map_or(&[], Vec::as_slice)
}

/// Returns a number; one that a script would round is in a text.
fn real(json: &Value) -> Option<f64> {
    let number = json.as_f64().or_else(|| json.as_str()?.parse().ok());
    number.filter(|number| number.is_finite())
}

/// Returns a short text that is compared and not shown.
fn plain(json: &Value) -> String {
    json.as_str().unwrap_or_default().chars().take(LONGEST_NAME).collect()
}

fn name(json: &Value) -> Legible {
    Legible::of(json.as_str().unwrap_or_default(), LONGEST_NAME)
}

fn numbers(json: &[Value]) -> Numbers {
    json.iter().take(MOST_NUMBERS).map(real).collect()
}

fn pairs(json: &Value) -> Vec<(u64, f64)> {
    let pair = |json: &Value| Some((json[0].as_u64()?, real(&json[1])?));
    list(json).iter().filter_map(pair).collect()
}

fn metric(json: &Value) -> NewMetric {
    let event = |json: &Value| (plain(&json[0]), plain(&json[1]), plain(&json[2]));
    NewMetric {
        name: name(&json[0]),
        form: plain(&json[2]),
        events: list(&json[3]).iter().take(MOST_EVENTS).map(event).collect(),
        unit: plain(&json[4]),
    }
}

fn row(json: &Value) -> Option<NewRow> {
    Some(NewRow {
        id: json[0].as_u64()?,
        metric: usize::try_from(json[1].as_u64()?).ok()?,
        key: json[2].as_str()?.chars().take(LONGEST_KEY).collect(),
        span: real(&json[3])?,
        numbers: numbers(list(&json[4])),
        past: list(&json[5]).iter().take(MOST_NUMBERS).filter_map(real).collect(),
    })
}

fn numbers_of(json: &Value) -> Option<(u64, Numbers)> {
    let (id, rest) = list(json).split_first()?;
    Some((id.as_u64()?, numbers(rest)))
}

fn unusual(json: &Value) -> Unusual {
    let change = |json: &Value| {
        Some(Change {
            row: json[0].as_u64()?,
            what: plain(&json[1]),
            weight: real(&json[2]).unwrap_or(0.0),
            since: real(&json[3])?,
            says: name(&json[4]),
            course: plain(&json[5]),
        })
    };
    Unusual {
        list: list(&json["list"]).iter().take(MOST_CHANGES).filter_map(change).collect(),
        changes: json["changes"].as_u64().unwrap_or(0),
        calm: real(&json["calm"]),
        windows: json["windows"].as_u64().unwrap_or(0),
        compared: json["compared"].as_u64().unwrap_or(0),
    }
}

fn heavy(json: &Value) -> Heavy {
    let key = |json: &Value| Some((name(&json[0]), real(&json[1])?, real(&json[2])?));
    let span = |json: &Value| {
        let keys = list(&json[2]).iter().take(MOST_KEYS).filter_map(key).collect();
        Some(HeavySpan { millis: real(&json[0])?, total: real(&json[1])?, keys })
    };
    let spans = list(&json[2]);
    Heavy { name: name(&json[0]), spans: spans.iter().take(MOST_SPANS).filter_map(span).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_and_a_metric_have_bounds() {
        let list = |part: &str, count: usize| vec![part; count].join(",");
        let (numbers, events) = (list("1", 1_000), list(r#"["Rt","Histogram","ns"]"#, 100));
        let json = format!(
            r#"{{"frame":1,"metrics":[["requests","","window",[{events}],""]],
            "rows":[[1,0,"requests",1,[{numbers}],[{numbers}]]]}}"#
        );
        let frame = Frame::read(&Event { is_all: true, data: json.into_bytes() }).unwrap();
        assert_eq!(frame.whole.unwrap().metrics[0].events.len(), 32);
        assert_eq!((frame.rows[0].numbers.len(), frame.rows[0].past.len()), (256, 256));
        let json = format!(r#"{{"frame":2,"rows":[[1,{numbers}]]}}"#);
        let frame = Frame::read(&Event { is_all: false, data: json.into_bytes() }).unwrap();
        assert_eq!(frame.changed[0].1.len(), 256);
    }
}
