//! Lines of JSON: one object, whose only key names the kind of line.

use std::borrow::Cow;
use std::fmt::Write;
use std::time::Duration;

use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use windrow::{Kind, Stats, Timestamp, histogram::Distribution};

use crate::entry::{Bucket, Dropped, Entry, Heavy, HeavyKey, Run};
use crate::format::line::{Decoded, Facts, VERSION};
use crate::order::LEAST_SLACK;
use crate::wall::Wall;

pub(super) mod sums;

/// A line, with events as they are written, read, or [summed](sums).
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

/// Events by name, without those that have no counts.
enum Events<'a> {
    Counted(&'a Facts<'a>),
    Read { stats: Vec<(String, Stats)>, distributions: Vec<(String, Distribution)> },
}

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
#[derive(Clone, Copy, Serialize)]
#[serde(untagged)]
enum Number {
    Unsigned(u64),
    Signed(i64),
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Number, D::Error> {
        struct Integer;

        impl Visitor<'_> for Integer {
            type Value = Number;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an integer of 64 bits")
            }

            fn visit_u64<E>(self, number: u64) -> Result<Number, E> {
                Ok(Number::Unsigned(number))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Number, E> {
                Ok(Number::Signed(number))
            }
        }

        deserializer.deserialize_u64(Integer)
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
}

impl Serialize for Events<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Events::Counted(facts) = self {
            for (name, kind, stats) in facts.events {
                if *stats != Stats::default() {
                    let (count, sum) =
                        (Number::of(*kind, stats.count), Number::of(*kind, stats.sum));
                    let mut found = facts.distributions.iter();
                    let distribution = found.find(|(event, _)| event == name).map(|(_, of)| of);
                    let [p50, p90, p99] =
                        distribution.map_or([None; 3], |values| values.quantiles([0.5, 0.9, 0.99]));
                    let (min, max) = (stats.min, stats.max);
                    let distribution = distribution.map(Cow::Borrowed);
                    let numbers = Numbers { count, sum, min, max, p50, p90, p99, distribution };
                    map.serialize_entry(name, &numbers)?;
                }
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Events<'_> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Events<'static>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("events by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let (mut all, mut distributions) = (Vec::new(), Vec::new());
                while let Some((name, numbers)) = map.next_entry::<String, Numbers<'_>>()? {
                    let (count, sum) = (numbers.count.bits(), numbers.sum.bits());
                    if let Some(distribution) = numbers.distribution {
                        distributions.push((name.clone(), distribution.into_owned()));
                    }
                    all.push((name, Stats { count, sum, min: numbers.min, max: numbers.max }));
                }
                Ok(Events::Read { stats: all, distributions })
            }
        }

        deserializer.deserialize_map(Pairs)
    }
}

fn line(line: &Line<'_, Events<'_>>) -> Vec<u8> {
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
        events: Events::Counted(facts),
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

/// Returns whether the weights of heavy keys can be those of one bucket.
fn is_sound(total: u64, others_at_most: u64, keys: &[(Cow<'_, str>, u64, u64)]) -> bool {
    let is_sound =
        |(_, at_least, at_most): &(_, u64, u64)| at_least <= at_most && *at_most <= total;
    others_at_most <= total && keys.iter().all(is_sound)
}

pub(super) fn decode(line: &str) -> Option<Decoded> {
    let decoded = match serde_json::from_str::<Line<'_, Events<'_>>>(line).ok()? {
        Line::Run { windrow, id, started: Time(started), slack_ns } => {
            let run = Run { id: id.into_owned(), started: started.into() };
            let slack = slack_ns.map_or(LEAST_SLACK, Duration::from_nanos);
            let entry = (windrow == VERSION).then_some(Entry::Run(run))?;
            Decoded { entry, end: started, slack: Some(slack) }
        }
        Line::Bucket { resource, start: Time(start), length_ns, at_ns, events } => {
            let Events::Read { stats, distributions } = events else { return None };
            let length = Duration::from_nanos(length_ns);
            let bucket = Bucket {
                resource: resource.into_owned(),
                start: start.into(),
                length,
                at: Timestamp::from_nanos(at_ns),
                events: stats,
                distributions,
            };
            Decoded { entry: Entry::Bucket(bucket), end: start.plus(length), slack: None }
        }
        Line::Dropped { lines, from: Time(from), to: Time(to) } => {
            let dropped = Dropped { lines, from: from.into(), to: to.into() };
            Decoded { entry: Entry::Dropped(dropped), end: to, slack: None }
        }
        Line::Heavy { resource, start, length_ns, at_ns, total, others_at_most, keys } => {
            let (Time(start), length) = (start, Duration::from_nanos(length_ns));
            if !is_sound(total, others_at_most, &keys) {
                return None;
            }
            let key = |(key, at_least, at_most): (Cow<'_, str>, u64, u64)| HeavyKey {
                key: key.into_owned(),
                at_least,
                at_most,
            };
            let heavy = Heavy {
                resource: resource.into_owned(),
                start: start.into(),
                length,
                at: Timestamp::from_nanos(at_ns),
                total,
                others_at_most,
                keys: keys.into_iter().map(key).collect(),
            };
            Decoded { entry: Entry::Heavy(heavy), end: start.plus(length), slack: None }
        }
    };
    Some(decoded)
}

#[cfg(test)]
mod tests;
