//! Lines of JSON: one object, whose only key names the kind of line.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use crate::entry::{Bucket, Dropped, Entry, Heavy, HeavyKey, Run};
use crate::format::line::{Decoded, Facts, Summed, VERSION, What};
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
    Bucket {
        #[serde(borrow)]
        resource: Cow<'a, str>,
        start: Time,
        length_ns: u64,
        at_ns: u64,
        events: E,
    },
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

/// A time in the format of RFC 3339, in UTC, with as few digits of the second as it needs, up to
/// nine.
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
struct Pairs<'a>(Vec<(Name<'a>, Numbers<'a>)>);

/// A name that borrows from the line, if no character in it is escaped.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

#[derive(Serialize, Deserialize)]
struct Numbers<'a> {
    count: Number,
    sum: Number,
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

/// A value of 64 bits, written with a sign for a `Signed` event.
#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(untagged, try_from = "serde_json::Number")]
enum Number {
    Unsigned(u64),
    Signed(i64),
}

impl TryFrom<serde_json::Number> for Number {
    type Error = &'static str;

    fn try_from(number: serde_json::Number) -> Result<Number, &'static str> {
        let unsigned = number.as_u64().map(Number::Unsigned);
        let signed = || number.as_i64().map(Number::Signed);
        unsigned.or_else(signed).ok_or("a number is an integer of 64 bits")
    }
}

impl Number {
    fn of(kind: Kind, bits: u64) -> Number {
        match kind {
            Kind::Signed => Number::Signed(bits.cast_signed()),
            _ => Number::Unsigned(bits),
        }
    }

    fn bits(self) -> u64 {
        match self {
            Number::Unsigned(bits) => bits,
            Number::Signed(number) => number.cast_unsigned(),
        }
    }

    fn value(self) -> i128 {
        match self {
            Number::Unsigned(number) => number.into(),
            Number::Signed(number) => number.into(),
        }
    }
}

impl Serialize for Counted<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Counted(facts) = self;
        let has_counts = |event: &&(_, _, Stats)| event.2 != Stats::default();
        serializer.collect_map(facts.events.iter().filter(has_counts).map(|(name, kind, stats)| {
            let (count, sum) = (Number::of(*kind, stats.count), Number::of(*kind, stats.sum));
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
    let mut text =
        serde_json::to_vec(line).expect("a `Vec` takes all, and each time is in jiff's range");
    text.push(b'\n');
    escape_controls(text)
}

/// Escapes DELETE and the control characters above it, which JSON allows in a text. A line has no
/// control character except its newline.
fn escape_controls(text: Vec<u8>) -> Vec<u8> {
    let line = String::from_utf8(text).expect("JSON is UTF-8");
    let is_bare = |c: char| c.is_control() && c != '\n';
    if !line.contains(is_bare) {
        return line.into_bytes();
    }
    let mut escaped = String::with_capacity(line.len() + 5);
    for character in line.chars() {
        if is_bare(character) {
            // Writing to a `String` cannot fail.
            let _ = write!(escaped, "\\u{:04x}", u32::from(character));
        } else {
            escaped.push(character);
        }
    }
    escaped.into_bytes()
}

fn nanos(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

pub(super) fn bucket(facts: &Facts<'_>) -> Vec<u8> {
    line(&Line::Bucket {
        resource: facts.resource.into(),
        start: Time(facts.start),
        length_ns: nanos(facts.length),
        at_ns: facts.at.as_nanos(),
        events: Counted(facts),
    })
}

pub(super) fn heavy(heavy: &Heavy) -> Vec<u8> {
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

/// Reads a line of this version whose bounds hold; with the end of what it tells of.
fn read(line: &str) -> Option<(Line<'_, Pairs<'_>>, Wall)> {
    let line = serde_json::from_str(line).ok()?;
    let end = match &line {
        Line::Run { windrow, started, .. } => (*windrow == VERSION).then_some(started.0)?,
        Line::Bucket { start, length_ns, .. } => start.0.plus(Duration::from_nanos(*length_ns)),
        Line::Dropped { to, .. } => to.0,
        Line::Heavy { start, length_ns, total, others_at_most, keys, .. } => {
            let is_sound =
                |(_, at_least, at_most): &(_, u64, u64)| at_least <= at_most && at_most <= total;
            let are_sound = others_at_most <= total && keys.iter().all(is_sound);
            are_sound.then(|| start.0.plus(Duration::from_nanos(*length_ns)))?
        }
    };
    Some((line, end))
}

/// Returns the run of a line, with the slack that it states.
fn run_of(id: Cow<'_, str>, started: &Time, slack_ns: Option<u64>) -> (Run, Duration) {
    let run = Run { id: id.into_owned(), started: started.0.into() };
    (run, slack_ns.map_or(LEAST_SLACK, Duration::from_nanos))
}

pub(super) fn decode(line: &str) -> Option<Decoded> {
    let (line, end) = read(line)?;
    let mut slack = None;
    let entry = match line {
        Line::Run { id, started, slack_ns, .. } => {
            let (run, stated) = run_of(id, &started, slack_ns);
            slack = Some(stated);
            Entry::Run(run)
        }
        Line::Bucket { resource, start, length_ns, at_ns, events: Pairs(pairs) } => {
            let (mut events, mut distributions) = (Vec::new(), Vec::new());
            for (Name(name), numbers) in pairs {
                let name = name.into_owned();
                let (count, sum) = (numbers.count.bits(), numbers.sum.bits());
                if let Some(distribution) = numbers.distribution {
                    distributions.push((name.clone(), distribution.into_owned()));
                }
                events.push((name, Stats { count, sum, min: numbers.min, max: numbers.max }));
            }
            Entry::Bucket(Bucket {
                resource: resource.into_owned(),
                start: start.0.into(),
                length: Duration::from_nanos(length_ns),
                at: Timestamp::from_nanos(at_ns),
                events,
                distributions,
            })
        }
        Line::Dropped { lines, from, to } => {
            Entry::Dropped(Dropped { lines, from: from.0.into(), to: to.0.into() })
        }
        Line::Heavy { resource, start, length_ns, at_ns, total, others_at_most, keys } => {
            let key = |(key, at_least, at_most): (Cow<'_, str>, u64, u64)| HeavyKey {
                key: key.into_owned(),
                at_least,
                at_most,
            };
            Entry::Heavy(Heavy {
                resource: resource.into_owned(),
                start: start.0.into(),
                length: Duration::from_nanos(length_ns),
                at: Timestamp::from_nanos(at_ns),
                total,
                others_at_most,
                keys: keys.into_iter().map(key).collect(),
            })
        }
    };
    Some(Decoded { entry, end, slack })
}

/// Reads a line for its sums only: without copies of names, and with signs. A distribution is read,
/// too: a line with a wrong one is unreadable as a whole, for all readers alike.
pub(super) fn sums(line: &str) -> Option<Summed<'_>> {
    let (line, end) = read(line)?;
    let what = match line {
        Line::Run { id, started, slack_ns, .. } => {
            let (run, slack) = run_of(id, &started, slack_ns);
            What::Run(run, slack)
        }
        Line::Bucket { resource, length_ns, events: Pairs(pairs), .. } => {
            let events =
                pairs.into_iter().map(|(Name(name), Numbers { count, sum, min, max, .. })| {
                    (name, Total { count: count.value(), sum: sum.value(), min, max })
                });
            let length = Duration::from_nanos(length_ns);
            What::Bucket { resource, length, events: events.collect() }
        }
        Line::Dropped { lines, from, to } => {
            What::Dropped(Dropped { lines, from: from.0.into(), to: to.0.into() })
        }
        Line::Heavy { .. } => What::Other,
    };
    Some(Summed { what, end })
}

#[cfg(test)]
mod tests;
