//! Lines of JSON: one object, whose only key names the kind of line.

use std::borrow::Cow;
use std::time::Duration;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use crate::entry::{Bucket, Dropped, Entry, Heavy, HeavyKey, Run};
use crate::format::line::{Decoded, Facts, Sums, VERSION};
use crate::order::LEAST_SLACK;
use crate::total::Total;
use crate::wall::Wall;

/// A line, with events as they are [written](Counted), or [read](Pairs).
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line<'a, E> {
    Run {
        windrow: u32,
        #[serde(borrow)]
        id: Cow<'a, str>,
        started: Time,
        /// The slack; `None` for the least one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        slack_ns: Option<u64>,
    },
    #[serde(borrow)]
    Bucket(Named<'a, E>),
    Dropped {
        lines: u64,
        from: Time,
        to: Time,
    },
    Heavy {
        #[serde(borrow)]
        resource: Cow<'a, str>,
        start: Time,
        length_ns: u64,
        at_ns: u64,
        total: u64,
        others_at_most: u64,
        #[serde(borrow)]
        keys: Vec<(Cow<'a, str>, u64, u64)>,
    },
}

/// A bucket with the names of its line.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Named<'a, E> {
    #[serde(borrow)]
    resource: Cow<'a, str>,
    start: Time,
    length_ns: u64,
    at_ns: u64,
    events: E,
}

/// A time in the format of RFC 3339, in UTC, with as few digits of the second as it needs, up to
/// nine.
#[derive(Debug)]
struct Time(Wall);

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Wall(nanos) = self.0;
        let time =
            jiff::Timestamp::from_nanosecond(nanos.into()).map_err(serde::ser::Error::custom)?;
        serializer.collect_str(&time)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Time, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let time: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
        let nanos = i64::try_from(time.as_nanosecond()).map_err(serde::de::Error::custom)?;
        Ok(Time(Wall(nanos)))
    }
}

/// The events of a bucket that have counts, to be written by name.
struct Counted<'a>(&'a Facts<'a>);

/// Events as they are read: by name, in the order of the line.
#[derive(Debug)]
pub(crate) struct Pairs<'a>(Vec<(Name<'a>, Numbers<'a>)>);

/// A name that borrows from the line, if no character in it is escaped.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// Counts and sums are negative only for a `Signed` event.
#[derive(Debug, Serialize, Deserialize)]
struct Numbers<'a> {
    #[serde(deserialize_with = "integer")]
    count: i128,
    #[serde(deserialize_with = "integer")]
    sum: i128,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    min: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    max: Option<u64>,
    /// A percentile of a `Histogram` event, for human readers and tools that know no distributions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p50: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p90: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    p99: Option<u64>,
    /// The distribution of a `Histogram` event, from which percentiles of many lines are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    distribution: Option<Cow<'a, Distribution>>,
}

/// Reads an integer of 64 bits, with or without a sign.
fn integer<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    let unsigned = number.as_u64().map(i128::from);
    let read = unsigned.or_else(|| number.as_i64().map(i128::from));
    read.ok_or_else(|| serde::de::Error::custom("a number is an integer of 64 bits"))
}

/// Returns the number that a statistic's bits are.
fn number(kind: Kind, bits: u64) -> i128 {
    match kind {
        Kind::Signed => bits.cast_signed().into(),
        _ => bits.into(),
    }
}

/// Returns the bits of a number.
fn bits(number: i128) -> u64 {
    u64::try_from(number).unwrap_or((number as i64).cast_unsigned())
}

impl Serialize for Counted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counted(facts) = self;
        let has_counts = |event: &&(_, _, Stats)| event.2 != Stats::default();
        serializer.collect_map(facts.events.iter().filter(has_counts).map(|(name, kind, stats)| {
            let (count, sum) = (number(*kind, stats.count), number(*kind, stats.sum));
            let mut found = facts.distributions.iter();
            let distribution = found.find(|(event, _)| event == name).map(|(_, of)| of);
            let [p50, p90, p99] = distribution
                .map_or([None; 3], |values| [0.5, 0.9, 0.99].map(|q| values.quantile(q)));
            let (min, max) = (stats.min, stats.max);
            let distribution = distribution.map(Cow::Borrowed);
            (name, Numbers { count, sum, min, max, p50, p90, p99, distribution })
        }))
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Pairs<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Map;

        impl<'de> Visitor<'de> for Map {
            type Value = Pairs<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("events by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    all.push(pair);
                }
                Ok(Pairs(all))
            }
        }

        deserializer.deserialize_map(Map)
    }
}

fn line(line: &Line<'_, Counted<'_>>) -> Vec<u8> {
    let text = serde_json::to_string(line).expect("each time is in jiff's range");
    escape_controls(text + "\n").into_bytes()
}

/// Escapes DELETE and the control characters above it, which JSON allows in a text. A line has no
/// control character except its newline.
fn escape_controls(line: String) -> String {
    let is_bare = |c: char| c.is_control() && c != '\n';
    if !line.contains(is_bare) {
        return line;
    }
    let written = |character: char| {
        if is_bare(character) {
            format!("\\u{:04x}", u32::from(character))
        } else {
            character.into()
        }
    };
    line.chars().map(written).collect()
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn bucket(facts: &Facts<'_>) -> Vec<u8> {
    line(&Line::Bucket(Named {
        resource: facts.resource.into(),
        start: Time(facts.start),
        length_ns: nanos(facts.length),
        at_ns: facts.at.as_nanos(),
        events: Counted(facts),
    }))
}

/// Returns the line of a bucket's heaviest keys, with its newline.
pub(crate) fn heavy(heavy: &Heavy) -> Vec<u8> {
    let key = |it: &'_ HeavyKey| (Cow::Owned(it.key.clone()), it.at_least, it.at_most);
    line(&Line::Heavy {
        resource: heavy.resource.as_str().into(),
        start: Time(heavy.start.into()),
        length_ns: nanos(heavy.length),
        at_ns: heavy.at.as_nanos(),
        total: heavy.total,
        others_at_most: heavy.others_at_most,
        keys: heavy.keys.iter().map(key).collect(),
    })
}

pub(super) fn run(run: &Run, slack: Duration) -> Vec<u8> {
    let started = Time(run.started.into());
    let slack_ns = (slack > LEAST_SLACK).then(|| nanos(slack));
    line(&Line::Run { windrow: VERSION, id: run.id.as_str().into(), started, slack_ns })
}

pub(super) fn dropped(dropped: &Dropped) -> Vec<u8> {
    let (from, to) = (Time(dropped.from.into()), Time(dropped.to.into()));
    line(&Line::Dropped { lines: dropped.lines, from, to })
}

/// The content of a line.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// A bucket whose names are not copied yet: sums need no copies.
    Bucket(Named<'a, Pairs<'a>>),
    Entry(Entry),
}

impl Content<'_> {
    pub(crate) fn into_entry(self) -> Entry {
        match self {
            Content::Bucket(bucket) => Entry::Bucket(bucket.into()),
            Content::Entry(entry) => entry,
        }
    }

    /// Returns the sums of a bucket; `None` for any other line.
    pub(crate) fn sums(&self) -> Option<Sums<'_>> {
        match self {
            Content::Bucket(bucket) => Some(bucket.sums()),
            Content::Entry(Entry::Second(second)) => Some(Sums::of(second)),
            Content::Entry(_) => None,
        }
    }
}

/// Decodes a line of this version whose bounds hold.
pub(super) fn decode(line: &str) -> Option<Decoded<Content<'_>>> {
    let entry = |entry, end, slack| Decoded { content: Content::Entry(entry), end, slack };
    match serde_json::from_str(line).ok()? {
        Line::Run { windrow, id, started: Time(started), slack_ns } => {
            let run = Run { id: id.into_owned(), started: started.into() };
            let slack = slack_ns.map_or(LEAST_SLACK, Duration::from_nanos);
            let is_known = windrow == VERSION;
            is_known.then(|| entry(Entry::Run(run), started, Some(slack)))
        }
        Line::Bucket(bucket) => {
            let end = bucket.start.0.plus(Duration::from_nanos(bucket.length_ns));
            Some(Decoded { content: Content::Bucket(bucket), end, slack: None })
        }
        Line::Dropped { lines, from: Time(from), to: Time(to) } => {
            let dropped = Dropped { lines, from: from.into(), to: to.into() };
            Some(entry(Entry::Dropped(dropped), to, None))
        }
        Line::Heavy {
            resource,
            start: Time(start),
            length_ns,
            at_ns,
            total,
            others_at_most,
            keys,
        } => {
            let key = |(key, at_least, at_most): (Cow<'_, str>, u64, u64)| {
                let key = HeavyKey { key: key.into_owned(), at_least, at_most };
                (at_least <= at_most && at_most <= total).then_some(key)
            };
            let heavy = Heavy {
                resource: resource.into_owned(),
                start: start.into(),
                length: Duration::from_nanos(length_ns),
                at: Timestamp::from_nanos(at_ns),
                total,
                others_at_most: Some(others_at_most).filter(|others| *others <= total)?,
                keys: keys.into_iter().map(key).collect::<Option<_>>()?,
            };
            let end = start.plus(heavy.length);
            Some(entry(Entry::Heavy(heavy), end, None))
        }
    }
}

impl From<Named<'_, Pairs<'_>>> for Bucket {
    fn from(bucket: Named<'_, Pairs<'_>>) -> Bucket {
        let (mut events, mut distributions) = (Vec::new(), Vec::new());
        for (Name(name), Numbers { count, sum, min, max, distribution, .. }) in bucket.events.0 {
            let name = name.into_owned();
            distributions.extend(distribution.map(|values| (name.clone(), values.into_owned())));
            events.push((name, Stats { count: bits(count), sum: bits(sum), min, max }));
        }
        Bucket {
            resource: bucket.resource.into_owned(),
            start: bucket.start.0.into(),
            length: Duration::from_nanos(bucket.length_ns),
            at: Timestamp::from_nanos(bucket.at_ns),
            events,
            distributions,
        }
    }
}

impl Named<'_, Pairs<'_>> {
    /// Returns the sums, with signs.
    fn sums(&self) -> Sums<'_> {
        let events = self.events.0.iter().map(|(Name(name), numbers)| {
            let Numbers { count, sum, min, max, .. } = *numbers;
            (&**name, Total { count, sum, min, max })
        });
        let length = Duration::from_nanos(self.length_ns);
        Sums { resource: &self.resource, length, events: events.collect() }
    }
}

#[cfg(test)]
mod tests;
