//! Prometheus' protobuf, by the encoding of protobuf and the tags in `metrics.proto`.

use std::collections::BTreeMap;

use super::{Exemplar, Family, Sample};

/// A native histogram, with its buckets by their numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Native {
    pub(crate) schema: i64,
    pub(crate) zero: (f64, u64),
    pub(crate) count: u64,
    pub(crate) buckets: BTreeMap<i64, i64>,
    pub(crate) exemplars: Vec<Exemplar>,
}

/// A metric with what the text formats have no place for, series by series.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) family: Family,
    pub(crate) natives: BTreeMap<BTreeMap<String, String>, Native>,
    /// The times of creation, in seconds and nanoseconds.
    pub(crate) created: BTreeMap<BTreeMap<String, String>, (u64, u64)>,
}

/// The value of a field.
#[derive(Clone, Copy, Debug)]
enum Field<'b> {
    Number(u64),
    Double(f64),
    Bytes(&'b [u8]),
}

impl<'b> Field<'b> {
    fn number(self) -> u64 {
        let Field::Number(number) = self else { panic!("{self:?}") };
        number
    }

    /// Returns a number in zigzag encoding.
    fn signed(self) -> i64 {
        let number = self.number();
        (number >> 1).cast_signed() ^ -(number & 1).cast_signed()
    }

    fn double(self) -> f64 {
        let Field::Double(number) = self else { panic!("{self:?}") };
        number
    }

    fn bytes(self) -> &'b [u8] {
        let Field::Bytes(bytes) = self else { panic!("{self:?}") };
        bytes
    }

    fn text(self) -> String {
        String::from_utf8(self.bytes().to_vec()).unwrap()
    }
}

/// Takes a number of variable length.
fn take_number(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (first, rest) = bytes.split_first().expect("a whole number");
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        shift += 7;
        if first & 0x80 == 0 {
            return number;
        }
    }
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> &'b [u8] {
    let (taken, rest) = bytes.split_at(length);
    *bytes = rest;
    taken
}

/// Returns the fields of a message with their tags.
fn fields(mut message: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !message.is_empty() {
        let key = take_number(&mut message);
        let field = match key & 7 {
            0 => Field::Number(take_number(&mut message)),
            1 => Field::Double(f64::from_le_bytes(take(&mut message, 8).try_into().unwrap())),
            2 => {
                let length = take_number(&mut message) as usize;
                Field::Bytes(take(&mut message, length))
            }
            other => panic!("wire type {other}"),
        };
        fields.push((key >> 3, field));
    }
    fields
}

fn all(message: &[u8], tag: u64) -> impl Iterator<Item = Field<'_>> {
    fields(message).into_iter().filter(move |(found, _)| *found == tag).map(|(_, field)| field)
}

fn one(message: &[u8], tag: u64) -> Option<Field<'_>> {
    all(message, tag).last()
}

/// Returns the metrics of a body.
pub(crate) fn parse(mut body: &[u8]) -> Vec<Found> {
    let mut found = Vec::new();
    while !body.is_empty() {
        let length = take_number(&mut body) as usize;
        found.push(family(take(&mut body, length)));
    }
    found
}

fn family(message: &[u8]) -> Found {
    let text = |tag| one(message, tag).map(Field::text).unwrap_or_default();
    let kind = one(message, 3).expect("a type").number();
    let kind =
        [(0, "counter"), (1, "gauge"), (4, "histogram")].into_iter().find(|(n, _)| *n == kind);
    let family = Family {
        name: text(1),
        help: text(2),
        kind: kind.expect("a type that is known").1.to_owned(),
        unit: text(5),
        ..Family::default()
    };
    let mut found = Found { family, ..Found::default() };
    all(message, 4).for_each(|metric| add(&mut found, metric.bytes()));
    found
}

fn labels(message: &[u8]) -> BTreeMap<String, String> {
    let label = |pair: Field<'_>| {
        let text = |tag| one(pair.bytes(), tag).map(Field::text).unwrap_or_default();
        (text(1), text(2))
    };
    all(message, 1).map(label).collect()
}

fn exemplar(message: Field<'_>) -> Exemplar {
    let message = message.bytes();
    let time = one(message, 3).expect("a time").bytes();
    let part = |tag| one(time, tag).map_or(0.0, |field| field.number() as f64);
    let value = one(message, 2).expect("a value").double();
    Exemplar { labels: labels(message), value, time: part(1) + part(2) / 1e9 }
}

/// Adds a series.
fn add(found: &mut Found, metric: &[u8]) {
    let labels = labels(metric);
    let name = found.family.name.clone();
    let (tag, created) = match found.family.kind.as_str() {
        "counter" => (3, 3),
        "gauge" => (2, 99),
        _ => (7, 15),
    };
    let mut put = |suffix: &str, labels: &BTreeMap<_, _>, value, exemplar: Option<Exemplar>| {
        let (name, labels) = (format!("{name}{suffix}"), labels.clone());
        let family = &mut found.family;
        family.exemplars.extend(exemplar.map(|exemplar| (family.samples.len(), exemplar)));
        family.samples.push(Sample { name, labels, value });
    };
    let value = one(metric, tag).expect("the value of its type").bytes();
    if let Some(time) = one(value, created) {
        let part = |tag| one(time.bytes(), tag).map_or(0, Field::number);
        found.created.insert(labels.clone(), (part(1), part(2)));
    }
    if tag != 7 {
        let exemplar = one(value, 2).filter(|_| tag == 3).map(exemplar);
        put("", &labels, one(value, 1).expect("a value").double(), exemplar);
        return;
    }
    let count = one(value, 1).expect("a count").number();
    for bucket in all(value, 3) {
        let bound = one(bucket.bytes(), 2).expect("a bound").double();
        let mut labels = labels.clone();
        labels.insert("le".to_owned(), bound.to_string());
        let count = one(bucket.bytes(), 1).expect("a count").number() as f64;
        put("_bucket", &labels, count, one(bucket.bytes(), 3).map(exemplar));
    }
    put("_sum", &labels, one(value, 2).expect("a sum").double(), None);
    put("_count", &labels, count as f64, None);
    if let Some(schema) = one(value, 5) {
        let zero =
            (one(value, 6).expect("a threshold").double(), one(value, 7).map_or(0, Field::number));
        let mut native = Native { schema: schema.signed(), zero, count, ..Native::default() };
        let mut deltas = all(value, 13);
        let (mut number, mut in_bucket) = (0, 0);
        for span in all(value, 12) {
            number += one(span.bytes(), 1).map_or(0, Field::signed);
            for _ in 0..one(span.bytes(), 2).map_or(0, Field::number) {
                in_bucket += deltas.next().expect("a delta for each bucket").signed();
                native.buckets.insert(number, in_bucket);
                number += 1;
            }
        }
        assert!(deltas.next().is_none());
        native.exemplars = all(value, 16).map(exemplar).collect();
        found.natives.insert(labels, native);
    }
}
