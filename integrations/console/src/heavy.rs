//! Heavy keys for the console: the keys with the most weight, each with its share and the bounds of
//! both.
//!
//! Keys come from strangers. At most [`SHOWN`] of a span are shown, and of each [the
//! beginning](cut).

use std::fmt::{Display, Write};
use std::ops::Deref;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windrow::heavy::{HeavyKeys, HeavySnapshot, Key};
use windrow::{Clock, snapshot::SpanError};

use crate::number::Json;
use crate::text::{cut, shown_key};
use crate::unusual::percent;

/// The greatest number of keys of a span.
const SHOWN: usize = 10;

const MINUTE: Duration = Duration::from_secs(60);

const HOUR: Duration = Duration::from_secs(3_600);

/// The longest bucket of which some make a minute. The current one has only begun.
const FINE: Duration = Duration::from_secs(15);

/// A frame reads the keys anew after this many times the time that the last reading took.
const REST: u32 = 9;

/// Heavy keys under a name.
pub(crate) struct Heavy {
    name: String,
    help: String,
    keys: Box<dyn AnyKeys>,
}

/// Heavy keys of any type.
trait AnyKeys: Send + Sync {
    /// Returns the length of a bucket, the interval, and the longest span of a tier or of it.
    fn lengths(&self) -> [Duration; 3];

    fn read(&self, span: Duration) -> Result<Reading, SpanError>;
}

/// The heaviest keys under a name.
pub(crate) struct List<'l> {
    pub(crate) name: &'l str,
    pub(crate) help: &'l str,
    pub(crate) spans: Vec<Reading>,
}

/// The heaviest keys of a span.
#[derive(Debug, PartialEq)]
pub(crate) struct Reading {
    span: Duration,
    total: u64,
    keys: Vec<Weight>,
}

impl Reading {
    pub(crate) fn of<K>(span: Duration, snapshot: &HeavySnapshot<K>) -> Reading
    where
        K: Key<Owned: Display> + ?Sized,
    {
        let keys = snapshot.top(SHOWN).into_iter().map(|heavy| Weight {
            key: cut(&heavy.key),
            at_least: heavy.at_least,
            at_most: heavy.at_most,
        });
        Reading { span, total: snapshot.total(), keys: keys.collect() }
    }
}

/// A key, and the bounds of its weight.
#[derive(Debug, PartialEq)]
struct Weight {
    key: String,
    at_least: u64,
    at_most: u64,
}

impl Weight {
    /// Returns the bounds of the key's share of a total.
    fn shares(&self, total: u64) -> [f64; 2] {
        let part = |weight: u64| if total > 0 { weight as f64 / total as f64 } else { 0.0 };
        [part(self.at_least), part(self.at_most.min(total))]
    }
}

impl<H, K, C> AnyKeys for H
where
    H: Deref<Target = HeavyKeys<K, C>> + Send + Sync,
    K: Key<Owned: Display> + ?Sized + 'static,
    C: Clock + 'static,
{
    fn lengths(&self) -> [Duration; 3] {
        let buckets = u32::try_from(self.buckets()).unwrap_or(u32::MAX);
        [self.interval() / buckets, self.interval(), self.longest_span()]
    }

    fn read(&self, span: Duration) -> Result<Reading, SpanError> {
        Ok(Reading::of(span, &self.snapshot_over(span)?))
    }
}

impl Heavy {
    pub(crate) fn new<H, K, C>(name: &str, help: &str, keys: H) -> Heavy
    where
        H: Deref<Target = HeavyKeys<K, C>> + Send + Sync + 'static,
        K: Key<Owned: Display> + ?Sized + 'static,
        C: Clock + 'static,
    {
        Heavy { name: name.to_owned(), help: help.to_owned(), keys: Box::new(keys) }
    }

    /// Reads the keys of each span.
    pub(crate) fn list(&self) -> List<'_> {
        List { name: &self.name, help: &self.help, spans: self.read() }
    }

    fn read(&self) -> Vec<Reading> {
        self.spans().filter_map(|span| self.keys.read(span).ok()).collect()
    }

    /// Returns the last minute, if the buckets are fine enough, the interval, the last hour and the
    /// longest span, as far as tiers reach.
    fn spans(&self) -> impl Iterator<Item = Duration> {
        let [bucket, interval, longest] = self.keys.lengths();
        let minute = (interval > MINUTE && bucket <= FINE).then_some(MINUTE);
        let hour = (interval < HOUR && longest > HOUR).then_some(HOUR);
        let longest = (longest > interval).then_some(longest);
        minute.into_iter().chain([interval]).chain(hour).chain(longest)
    }
}

/// The heavy keys of the last frames.
#[derive(Default)]
pub(crate) struct Frames {
    /// The time of the last reading, and the time that it took.
    read: Option<(Instant, Duration)>,
    written: String,
}

impl Frames {
    /// Returns all for a frame: a name, a help, and for each span its milliseconds, the total
    /// weight, and the keys with their bounds.
    pub(crate) fn write(&mut self, all: &[Heavy]) -> &str {
        if self.read.is_none_or(|(at, took)| at.elapsed() >= took * REST) {
            let begun = Instant::now();
            let mut json = Json::default();
            json.list(|json| all.iter().for_each(|heavy| heavy.write(json)));
            self.written = json.finish();
            self.read = Some((Instant::now(), begun.elapsed()));
        }
        &self.written
    }
}

impl Heavy {
    fn write(&self, json: &mut Json) {
        json.list(|json| {
            json.text(&self.name);
            json.text(&self.help);
            json.list(|json| {
                for reading in self.read() {
                    json.list(|json| {
                        json.number(u64::try_from(reading.span.as_millis()).unwrap_or(u64::MAX));
                        json.number(reading.total);
                        json.list(|json| {
                            for weight in &reading.keys {
                                json.list(|json| {
                                    json.text(&weight.key);
                                    json.number(weight.at_least);
                                    json.number(weight.at_most);
                                });
                            }
                        });
                    });
                }
            });
        });
    }
}

/// Returns all for `/snapshot.json`.
pub(crate) fn json<'l>(all: impl Iterator<Item = List<'l>>) -> Value {
    let weight = |weight: &Weight, total| {
        json!({
            "key": weight.key,
            "at_least": weight.at_least,
            "at_most": weight.at_most,
            "shares": weight.shares(total),
        })
    };
    let span = |reading: &Reading| {
        let keys = reading.keys.iter().map(|key| weight(key, reading.total));
        json!({
            "span_ms": u64::try_from(reading.span.as_millis()).unwrap_or(u64::MAX),
            "total": reading.total,
            "keys": keys.collect::<Vec<_>>(),
        })
    };
    let one = |list: List<'_>| {
        let spans: Vec<Value> = list.spans.iter().map(span).collect();
        json!({ "name": list.name, "help": list.help, "spans": spans })
    };
    all.map(one).collect()
}

/// Returns all for a terminal: a line for each key.
pub(crate) fn text<'l>(all: impl Iterator<Item = List<'l>>) -> String {
    let mut text = String::new();
    for List { name, help, spans } in all {
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "\n# {}: {}", shown_key(name), shown_key(help));
        for Reading { span, total, keys } in spans {
            let _ = writeln!(text, "the last {} s: {total} in all", span.as_secs_f64());
            for weight in keys {
                let key = shown_key(&weight.key);
                let [at_least, at_most] = weight.shares(total).map(percent);
                let shares = range(&at_least, &at_most);
                let weights = range(&weight.at_least.to_string(), &weight.at_most.to_string());
                let _ = writeln!(text, "{key}  {weights} ({shares})");
            }
        }
    }
    text
}

/// Returns a range in words, or one bound if both are the same.
fn range(at_least: &str, at_most: &str) -> String {
    if at_least == at_most { at_least.to_owned() } else { format!("{at_least} to {at_most}") }
}
