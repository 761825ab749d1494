//! Reading lines of JSON for their sums only: without copies of names, and with signs.

use std::borrow::Cow;
use std::fmt::{self, Formatter};
use std::time::Duration;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::entry::{Dropped, Run};
use crate::format::json::{Line, Number, Numbers, Time, is_sound};
use crate::format::line::{Summed, VERSION, What};
use crate::order::LEAST_SLACK;
use crate::total::Total;

/// The events of a line, in its order.
struct Totals<'a>(Vec<(Cow<'a, str>, Total)>);

/// A name that borrows from the line, if no character in it is escaped.
#[derive(Deserialize)]
#[serde(transparent)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

impl From<Number> for i128 {
    fn from(number: Number) -> i128 {
        match number {
            Number::Unsigned(number) => number.into(),
            Number::Signed(number) => number.into(),
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Totals<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Pairs;

        impl<'de> Visitor<'de> for Pairs {
            type Value = Vec<(Cow<'de, str>, Total)>;

            fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
                f.write_str("events by name")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                // Its distribution is read, too: a line with a wrong one is unreadable as a whole,
                // for all readers alike.
                while let Some((Name(name), numbers)) = map.next_entry::<_, Numbers<'_>>()? {
                    let (count, sum) = (numbers.count.into(), numbers.sum.into());
                    all.push((name, Total { count, sum, min: numbers.min, max: numbers.max }));
                }
                Ok(all)
            }
        }

        deserializer.deserialize_map(Pairs).map(Totals)
    }
}

pub(in crate::format) fn decode(line: &str) -> Option<Summed<'_>> {
    let summed = match serde_json::from_str::<Line<'_, Totals<'_>>>(line).ok()? {
        Line::Run { windrow, id, started: Time(started), slack_ns } => {
            let run = Run { id: id.into_owned(), started: started.into() };
            let slack = slack_ns.map_or(LEAST_SLACK, Duration::from_nanos);
            let what = (windrow == VERSION).then_some(What::Run(run, slack))?;
            Summed { what, end: started }
        }
        Line::Bucket {
            resource, start: Time(start), length_ns, events: Totals(events), ..
        } => {
            let length = Duration::from_nanos(length_ns);
            Summed { what: What::Bucket { resource, length, events }, end: start.plus(length) }
        }
        Line::Dropped { lines, from: Time(from), to: Time(to) } => {
            let dropped = Dropped { lines, from: from.into(), to: to.into() };
            Summed { what: What::Dropped(dropped), end: to }
        }
        Line::Heavy { start: Time(start), length_ns, total, others_at_most, keys, .. } => {
            if !is_sound(total, others_at_most, &keys) {
                return None;
            }
            Summed { what: What::Other, end: start.plus(Duration::from_nanos(length_ns)) }
        }
    };
    Some(summed)
}
